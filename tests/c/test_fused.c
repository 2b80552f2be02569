// wgf8_fma of the baseline against the C library's fmaf, bit for bit. The programs of this folder are
// built without -mfma, so that on x86-64 it is the emulation that runs here.
#include <string.h>

#include "check.h"
#include "support/fused.h"
#include "support/splitmix.h"

enum { KINDS = 6, ROUNDS = 60000 };
static uint64_t state = 5;

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Floats of six kinds: any bits; like sizes; few digits, where sums end half-way between two floats;
// tiny, where results are subnormal; small integers times powers of two; single digits far apart.
static float number(int kind)
{
    const uint64_t random = wgi_splitmix64(&state);
    const uint32_t bits = (uint32_t)random, extra = (uint32_t)(random >> 32);
    switch (kind) {
    case 0:
        return of_bits(bits);
    case 1:
        return of_bits((bits & 0x807fffffu) | (120 + extra % 14) << 23);
    case 2:
        return of_bits((bits & 0x807ff000u) | (120 + extra % 14) << 23);
    case 3:
        return of_bits((bits & 0x807fffffu) | (extra % 70) << 23);
    case 4:
        return ldexpf((float)(bits % 33) - 16.0f, (int)(extra % 60) - 30);
    default:
        return of_bits((bits & 0x80700001u) | (110 + extra % 30) << 23);
    }
}

static int same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void every_kind_of_operand_is_rounded_once(void)
{
    for (int kind = 0; kind < KINDS * KINDS; ++kind) {
        int wrong = 0;
        for (int n = 0; n < ROUNDS / KINDS; ++n) {
            wgf8 a, b, c;
            for (int i = 0; i < 8; ++i) {
                a[i] = number(kind % KINDS);
                b[i] = number(kind % KINDS);
                c[i] = number(kind / KINDS);
            }
            const wgf8 seen = wgf8_fma(a, b, c);
            for (int i = 0; i < 8; ++i)
                wrong += !same_bits(seen[i], fmaf(a[i], b[i], c[i]));
        }
        CHECK(wrong == 0);
    }
}

// 1 + 2^-24 lies half-way between two floats; the rest of the exact sum, far below the last place of
// a double, says which way it goes.
static void a_sum_just_beside_the_middle_goes_to_its_side(void)
{
    const float x = ldexpf(1.0f, -12), tiny = ldexpf(1.0f, -60), next = 1.0f + ldexpf(1.0f, -23);
    const wgf8 a = { x, x + ldexpf(x, -23), x, 1.0f, 1.0f, -1.0f, -1.0f, next };
    const wgf8 b = { x, x, x - ldexpf(x, -24), tiny, -tiny, tiny, -tiny, tiny };
    const wgf8 c = { 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, -1.0f };
    const wgf8 seen = wgf8_fma(a, b, c);
    const float expected[8] = { 1.0f, next, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, -1.0f };
    for (int i = 0; i < 8; ++i)
        CHECK(seen[i] == expected[i]);
}

// The same among subnormal results, whose middles lie elsewhere: 2^-150 beside multiples of 2^-149.
// The products are 2^-150 less 2^-196, and 2^-150 with a little less than a double's last place on it.
static void a_subnormal_sum_beside_the_middle_goes_to_its_side(void)
{
    const float half = ldexpf(1.0f, -75), place = ldexpf(1.0f, -23), least = ldexpf(1.0f, -149);
    const float odd = ldexpf(1.0f, -127) + least, even = ldexpf(1.0f, -127);
    const wgf8 a = { half * (1.0f + place), half * (1.0f + 2875 * place) };
    const wgf8 b = { half * (1.0f - place), half * (1.0f - 2874 * place) };
    const wgf8 c = { odd, even };
    const wgf8 seen = wgf8_fma(a, b, c);
    CHECK(seen[0] == odd);
    CHECK(seen[1] == even + least);
}

static void zeros_infinities_and_nan_follow_the_standard(void)
{
    const float big = 3e38f, inf = INFINITY;
    const wgf8 a = { 0.0f, -0.0f, big, inf, inf, NAN, 1.0f, big };
    const wgf8 b = { 5.0f, 5.0f, big, 1.0f, 0.0f, 1.0f, 1.0f, 1.0f };
    const wgf8 c = { -0.0f, -0.0f, -inf, 1.0f, 1.0f, 1.0f, -1.0f, big };
    const wgf8 seen = wgf8_fma(a, b, c);
    for (int i = 0; i < 8; ++i)
        CHECK(same_bits(seen[i], fmaf(a[i], b[i], c[i])));
}

int main(void)
{
    every_kind_of_operand_is_rounded_once();
    a_sum_just_beside_the_middle_goes_to_its_side();
    a_subnormal_sum_beside_the_middle_goes_to_its_side();
    zeros_infinities_and_nan_follow_the_standard();
    return check_report();
}
