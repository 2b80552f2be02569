// windgrove/noise.h - Perlin's improved gradient noise.
#pragma once

#include "windgrove/base.h"

/// A permutation of 0..255, written twice so that no index wraps.
typedef struct wg_permutation {
    uint8_t value[512];
} wg_permutation;

/// Fills `out` with the permutation of a seed. Seed 0 is the table printed in Perlin's reference
/// implementation; any other seed is a Fisher-Yates shuffle of 0..255 driven by splitmix64.
/// Deterministic on every machine.
WG_API void wg_permutation_init(wg_permutation* out, uint64_t seed);

/// Improved noise in double precision at `count` points.
///
/// Source: Perlin, "Improving Noise", SIGGRAPH 2002: quintic fade 6t^5 - 15t^4 + 10t^3 and the
/// twelve edge gradients. Period 256 along each axis, zero at integer points, range [-1, 1].
/// Cost: about 60 flop a point, no allocation.
///
/// @param permutation  from wg_permutation_init
/// @param points       [count][3], any finite value below 2^52 in magnitude
/// @param out          [count]; may not overlap points
/// NaN or infinity in a point gives NaN for that point alone.
WG_API void
wg_perlin(const wg_permutation* permutation, const double* points, size_t count, double* out);

/// The same noise at one point.
WG_API double wg_perlin_point(const wg_permutation* permutation, double x, double y, double z);
