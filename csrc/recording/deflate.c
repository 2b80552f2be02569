#include <string.h>

#include "windgrove/pack.h"

enum {
    LITERALS = 256,
    SYMBOLS = LITERALS + 1, // and the end of the block
    LONGEST = 15,
    STORED_MOST = 65535,
    STORED_HEAD = 5,
    HEAD_MOST = 160, // bytes of the header of a coded block
};

// Bits into bytes, lowest first.
typedef struct bit_sink {
    uint8_t* at;
    uint64_t bits;
    unsigned count;
} bit_sink;

static inline void put(bit_sink* sink, uint32_t bits, unsigned count)
{
    sink->bits |= (uint64_t)bits << sink->count;
    sink->count += count;
}

// Leaves fewer than 8 bits behind; writes up to 8 bytes beyond.
static inline void drain(bit_sink* sink)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(sink->at, &sink->bits, 8);
    const unsigned whole = sink->count / 8;
    sink->at += whole;
    sink->bits = whole == 8 ? 0 : sink->bits >> (8 * whole);
    sink->count %= 8;
#else
    for (; sink->count >= 8; sink->count -= 8, sink->bits >>= 8)
        *sink->at++ = (uint8_t)sink->bits;
#endif
}

static size_t stored_size(size_t bytes)
{
    return bytes + STORED_HEAD * ((bytes + STORED_MOST - 1) / STORED_MOST);
}

static uint8_t* put_stored(const uint8_t* in, size_t bytes, bool last, uint8_t* out)
{
    while (bytes > 0) {
        const size_t size = bytes < STORED_MOST ? bytes : STORED_MOST;
        *out++ = last && size == bytes;
        *out++ = (uint8_t)size;
        *out++ = (uint8_t)(size >> 8);
        *out++ = (uint8_t)~size;
        *out++ = (uint8_t)(~size >> 8);
        memcpy(out, in, size);
        in += size;
        out += size;
        bytes -= size;
    }
    return out;
}

static void histogram(const uint8_t* in, size_t count, uint32_t frequency[SYMBOLS])
{
    // Four tables, so that runs of one byte do not wait for their own counter.
    uint32_t table[4][LITERALS] = { { 0 } };
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; ++k)
            ++table[k][in[i + (size_t)k]];
    for (; i < count; ++i)
        ++table[0][in[i]];
    for (int s = 0; s < LITERALS; ++s)
        frequency[s] = table[0][s] + table[1][s] + table[2][s] + table[3][s];
    frequency[LITERALS] = 1;
}

// Symbols that occur, rarest first, ties by symbol; how many.
static int by_frequency(const uint32_t frequency[SYMBOLS], uint16_t order[SYMBOLS])
{
    int used = 0;
    for (int s = 0; s < SYMBOLS; ++s) {
        if (!frequency[s])
            continue;
        int at = used++;
        for (; at > 0 && frequency[order[at - 1]] > frequency[s]; --at)
            order[at] = order[at - 1];
        order[at] = (uint16_t)s;
    }
    return used;
}

// Depths of the leaves of Huffman's tree over weights in rising order: the rarest lie deepest.
static void leaf_depths(const uint32_t* weight, int leaves, uint8_t* depth)
{
    uint64_t sum[SYMBOLS]; // of inner nodes, which come out in rising order too
    uint16_t parent_of_leaf[SYMBOLS], parent[SYMBOLS], deep[SYMBOLS];
    int leaf = 0, inner = 0;
    for (int node = 0; node < leaves - 1; ++node) {
        sum[node] = 0;
        for (int pick = 0; pick < 2; ++pick) {
            const bool is_leaf = leaf < leaves && (inner >= node || weight[leaf] <= sum[inner]);
            sum[node] += is_leaf ? weight[leaf] : sum[inner];
            if (is_leaf)
                parent_of_leaf[leaf++] = (uint16_t)node;
            else
                parent[inner++] = (uint16_t)node;
        }
    }
    deep[leaves - 2] = 0;
    for (int node = leaves - 3; node >= 0; --node)
        deep[node] = (uint16_t)(deep[parent[node]] + 1);
    for (int i = 0; i < leaves; ++i)
        depth[i] = (uint8_t)(deep[parent_of_leaf[i]] + 1);
}

// Cuts depths to LONGEST and deepens the next ones until the code is complete again.
static void limit_depths(int leaves, uint8_t* depth)
{
    int count[LONGEST + 1] = { 0 };
    for (int i = 0; i < leaves; ++i)
        ++count[depth[i] < LONGEST ? depth[i] : LONGEST];
    int64_t space = 0;
    for (int bits = 1; bits <= LONGEST; ++bits)
        space += (int64_t)count[bits] << (LONGEST - bits);
    for (; space > INT64_C(1) << LONGEST; --space) {
        int bits = LONGEST - 1;
        while (!count[bits])
            --bits;
        --count[bits];
        count[bits + 1] += 2;
        --count[LONGEST];
    }
    int leaf = 0;
    for (int bits = LONGEST; bits >= 1; --bits)
        for (int k = 0; k < count[bits]; ++k)
            depth[leaf++] = (uint8_t)bits;
}

static void code_lengths(const uint32_t frequency[SYMBOLS], uint8_t length[SYMBOLS])
{
    uint16_t order[SYMBOLS];
    uint32_t weight[SYMBOLS];
    uint8_t depth[SYMBOLS];
    const int used = by_frequency(frequency, order);
    memset(length, 0, SYMBOLS);
    for (int i = 0; i < used; ++i)
        weight[i] = frequency[order[i]];
    leaf_depths(weight, used, depth);
    limit_depths(used, depth);
    for (int i = 0; i < used; ++i)
        length[order[i]] = depth[i];
}

// Canonical codes, bits reversed because deflate sends the highest first.
static void canonical_codes(const uint8_t length[SYMBOLS], uint16_t code[SYMBOLS])
{
    uint32_t next[LONGEST + 2] = { 0 }, count[LONGEST + 1] = { 0 };
    for (int s = 0; s < SYMBOLS; ++s)
        ++count[length[s]];
    count[0] = 0;
    for (int bits = 1; bits <= LONGEST; ++bits)
        next[bits + 1] = (next[bits] + count[bits]) << 1;
    for (int s = 0; s < SYMBOLS; ++s) {
        uint32_t forward = length[s] ? next[length[s]]++ : 0, reversed = 0;
        for (int k = 0; k < length[s]; ++k, forward >>= 1)
            reversed = reversed << 1 | (forward & 1);
        code[s] = (uint16_t)reversed;
    }
}

// The header: sixteen length codes of four bits each, so that a length is its own code.
static void put_header(bit_sink* sink, const uint8_t length[SYMBOLS])
{
    static const uint8_t mirrored[16] = { 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15 };
    put(sink, 1 | 2 << 1, 3);    // the last block, with codes of its own
    put(sink, SYMBOLS - 257, 5); // literals and the end, no matches
    put(sink, 1, 5);             // two distance codes that are never used: some readers want two
    put(sink, 19 - 4, 4);
    drain(sink);
    for (int k = 0; k < 19; ++k) { // order 16, 17, 18, then 0 to 15 mixed
        put(sink, k < 3 ? 0 : 4, 3);
        drain(sink);
    }
    for (int s = 0; s < SYMBOLS; ++s) {
        put(sink, mirrored[length[s]], 4);
        drain(sink);
    }
    put(sink, mirrored[1], 4);
    put(sink, mirrored[1], 4);
    drain(sink);
}

static uint8_t*
put_coded(const uint8_t* in, size_t count, const uint8_t length[SYMBOLS], uint8_t* out)
{
    uint16_t code[SYMBOLS];
    uint32_t entry[LITERALS]; // code, and its length above
    canonical_codes(length, code);
    for (int s = 0; s < LITERALS; ++s)
        entry[s] = code[s] | (uint32_t)length[s] << 16;
    bit_sink sink = { .at = out };
    put_header(&sink, length);
    size_t i = 0;
    for (; i + 3 <= count; i += 3) { // 7 bits left and 3 x 15 more fit
        for (size_t k = 0; k < 3; ++k)
            put(&sink, entry[in[i + k]] & 0xffff, entry[in[i + k]] >> 16);
        drain(&sink);
    }
    for (; i < count; ++i) {
        put(&sink, entry[in[i]] & 0xffff, entry[in[i]] >> 16);
        drain(&sink);
    }
    put(&sink, code[LITERALS], length[LITERALS]);
    drain(&sink);
    if (sink.count)
        *sink.at++ = (uint8_t)sink.bits;
    return sink.at;
}

size_t wg_deflate_room(size_t bytes)
{
    return stored_size(bytes) + 2 * STORED_HEAD + HEAD_MOST + 16;
}

size_t wg_deflate_literals(const uint8_t* in, size_t stored, size_t coded, uint8_t* out)
{
    uint8_t* end = put_stored(in, stored, coded == 0, out);
    if (!coded)
        return (size_t)(end - out);
    in += stored;
    uint32_t frequency[SYMBOLS];
    uint8_t length[SYMBOLS];
    histogram(in, coded, frequency);
    code_lengths(frequency, length);
    uint64_t bits = 8 * HEAD_MOST;
    for (int s = 0; s < SYMBOLS; ++s)
        bits += (uint64_t)frequency[s] * length[s];
    end = bits / 8 < stored_size(coded) ? put_coded(in, coded, length, end)
                                        : put_stored(in, coded, true, end);
    return (size_t)(end - out);
}
