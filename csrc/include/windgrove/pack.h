// windgrove/pack.h - what a recorder runs outside HDF5: its filters shuffle, deflate, Fletcher32.
#pragma once

#include "windgrove/base.h"

/// Byte shuffle of 4-byte items: all first bytes, then all second, third and fourth bytes.
///
/// Source: the HDF5 shuffle filter, number 2. Cost: one pass.
/// @param in   [4 count] bytes
/// @param out  [4 count] bytes; must not overlap `in`
WG_API void wg_shuffle4(const void* in, size_t count, uint8_t* out);

/// Fletcher's checksum over 16-bit big-endian words, sums modulo 65535, an odd last byte counted as
/// the high byte of a word.
///
/// Source: the HDF5 Fletcher32 filter, number 3; Fletcher 1982. Cost: one pass.
WG_API uint32_t wg_fletcher32(const void* data, size_t bytes);

/// Adler's checksum of a zlib stream. Source: RFC 1950, section 8.2. Cost: one pass.
WG_API uint32_t wg_adler32(const void* data, size_t bytes);

/// Bytes that wg_deflate_literals writes at most for `bytes` bytes.
WG_API size_t wg_deflate_room(size_t bytes);

/// One deflate stream without matches: `stored` bytes as they are, then the rest as literals of one
/// Huffman code of its own, or as they are where that is not longer.
///
/// Source: RFC 1951. The code's lengths are limited to 15. Cost: three passes over the coded bytes.
/// The same input gives the same output everywhere.
/// @param in      [stored + coded] bytes
/// @param out     [wg_deflate_room(stored + coded)] bytes
/// @return bytes written
WG_API size_t wg_deflate_literals(const uint8_t* in, size_t stored, size_t coded, uint8_t* out);

/// Where a chunk of a recording lies in a block of frames.
typedef struct wg_chunk {
    const float* items;  ///< first item of the chunk
    size_t frames;       ///< frames that there are
    size_t stride;       ///< items from one frame to the next
    size_t run;          ///< items of the chunk in one frame that there are
    size_t chunk_frames; ///< frames of a whole chunk
    size_t chunk_run;    ///< items of a whole chunk in one frame
} wg_chunk;

/// Bytes that wg_pack_chunk writes at most: 4 for the planes and the rest of each item.
WG_API size_t wg_pack_room(size_t count);

/// A chunk of float32 as HDF5 stores it behind shuffle, deflate and Fletcher32; missing items NaN.
///
/// Deflate gains nothing on the lower bytes of floats; only the plane of the bytes that hold sign
/// and exponent is coded. Cost: about four passes.
/// @param chunk   frames <= chunk_frames, run <= chunk_run
/// @param coded   whether the upper plane is coded, or stored like the others
/// @param planes  [4 chunk_frames chunk_run] bytes of scratch
/// @param out     [wg_pack_room(chunk_frames chunk_run)] bytes; overlaps nothing
/// @return bytes written
WG_API size_t wg_pack_chunk(const wg_chunk* chunk, bool coded, uint8_t* planes, uint8_t* out);
