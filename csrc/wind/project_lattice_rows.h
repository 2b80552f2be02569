// What the per-instruction-set kernels of the lattices share; project_lattice.h has the layout.
#pragma once

#include "wind/project_lattice.h"
#include "wind/project_stencil.h"

typedef enum wgi_edge_kind { WGI_PLAIN, WGI_COUNTED, WGI_WEIGHTED } wgi_edge_kind;

/// One body for each kind, so that what a kind does not need costs nothing.
#define WGI_BY_KIND(l, body, ...)                                                                  \
    {                                                                                              \
        if ((l)->plain)                                                                            \
            body(__VA_ARGS__, WGI_PLAIN);                                                          \
        else if ((l)->counted)                                                                     \
            body(__VA_ARGS__, WGI_COUNTED);                                                        \
        else                                                                                       \
            body(__VA_ARGS__, WGI_WEIGHTED);                                                       \
    }

/// Of sixteen cells in natural order: those at odd places, counted from 1, and those at even ones.
WGI_INLINE wgf8 wgi_odd_places(wgf8 first, wgf8 second)
{
    return wgf8_shuffle(first, second, 0, 2, 4, 6, 8, 10, 12, 14);
}

WGI_INLINE wgf8 wgi_even_places(wgf8 first, wgf8 second)
{
    return wgf8_shuffle(first, second, 1, 3, 5, 7, 9, 11, 13, 15);
}

/// One colour of a lattice, and the other one, where all its neighbours are. In local variables: for
/// all the compiler knows a store could change what is read through a pointer.
typedef struct wgi_side {
    int32_t colour;
    size_t pitch, slab;
    const float *other, *b, *reciprocal, *diagonal;
    float* x;
    const uint8_t* open;
    const float *low[3], *high[3]; // weights of colour 0, along x, y, z
} wgi_side;

WGI_INLINE wgi_side wgi_lattice_side(const wgi_lattice* l, int32_t colour)
{
    return (wgi_side){ .colour = colour,
                       .pitch = l->half.pitch,
                       .slab = l->half.slab,
                       .other = l->x[1 - colour],
                       .b = l->b[colour],
                       .reciprocal = l->reciprocal[colour],
                       .diagonal = l->diagonal[colour],
                       .x = l->x[colour],
                       .open = l->open[colour],
                       .low = { l->weight[0], l->weight[2], l->weight[4] },
                       .high = { l->weight[1], l->weight[3], l->weight[5] } };
}

WGI_INLINE wgf8 wgi_lattice_reciprocals(wgi_side s, size_t at, const wgi_edge_kind kind)
{
    if (kind == WGI_PLAIN)
        return wgf8_set(1.0f / 6.0f);
    return kind == WGI_COUNTED ? wgi_reciprocals(s.open + at) : wgf8_load(s.reciprocal + at);
}

/// All ones in the lanes that are unknowns; not for the plain kind, which has no others.
WGI_INLINE wgi8 wgi_lattice_unknowns(wgi_side s, size_t at, const wgi_edge_kind kind)
{
    if (kind == WGI_COUNTED)
        return wgi_counts(s.open + at) != wgi8_set(0);
    return wgf8_load(s.reciprocal + at) != wgf8_set(0.0f);
}

/// `sum` - diagonal x, 0 where there is no unknown.
WGI_INLINE wgf8
wgi_lattice_masked(wgi_side s, size_t at, wgf8 sum, wgf8 x, const wgi_edge_kind kind)
{
    if (kind == WGI_PLAIN)
        return sum - wgf8_set(6.0f) * x;
    const wgf8 diagonal =
        kind == WGI_COUNTED ? wgf8_from_int(wgi_counts(s.open + at)) : wgf8_load(s.diagonal + at);
    const wgf8 zero = wgf8_set(0.0f);
    return wgf8_select(diagonal == zero, zero, sum - diagonal * x);
}

/// Weighted sum over the six neighbours of eight cells, each axis' pair first.
///
/// @param parity  of j + k: the row's cells of the colour are at odd places where this equals it
/// @param below,here,above  `other` at the same place of the rows k - 1, k, k + 1
WGI_INLINE wgf8 wgi_lattice_sum(
    wgi_side s, int32_t parity, size_t at, wgf8 below, wgf8 here, wgf8 above,
    const wgi_edge_kind kind)
{
    const bool odd = parity == s.colour;
    const size_t beside = odd ? at - 1 : at + 1;
    const wgf8 side = wgf8_load(s.other + beside);
    const wgf8 front = wgf8_load(s.other + at - s.slab), back = wgf8_load(s.other + at + s.slab);
    if (kind != WGI_WEIGHTED)
        return ((side + here) + (front + back)) + (below + above);
    // Edges are kept by the cell of colour 0; seen from the other end, low and high are exchanged.
    if (s.colour == 0) {
        const float *to_side = odd ? s.low[0] : s.high[0], *to_here = odd ? s.high[0] : s.low[0];
        return ((wgf8_load(to_side + at) * side + wgf8_load(to_here + at) * here) +
                (wgf8_load(s.low[1] + at) * front + wgf8_load(s.high[1] + at) * back)) +
               (wgf8_load(s.low[2] + at) * below + wgf8_load(s.high[2] + at) * above);
    }
    const float *to_side = odd ? s.high[0] : s.low[0], *to_here = odd ? s.low[0] : s.high[0];
    const size_t slab = s.slab, pitch = s.pitch;
    return ((wgf8_load(to_side + beside) * side + wgf8_load(to_here + at) * here) +
            (wgf8_load(s.high[1] + at - slab) * front + wgf8_load(s.low[1] + at + slab) * back)) +
           (wgf8_load(s.high[2] + at - pitch) * below + wgf8_load(s.low[2] + at + pitch) * above);
}

/// The same, all loaded.
WGI_INLINE wgf8 wgi_lattice_around(wgi_side s, int32_t parity, size_t at, const wgi_edge_kind kind)
{
    return wgi_lattice_sum(
        s, parity, at, wgf8_load(s.other + at - s.pitch), wgf8_load(s.other + at),
        wgf8_load(s.other + at + s.pitch), kind);
}

/// A sum of products over one slab, in eight lanes of floats that are added up in doubles: fewer than
/// a thousand terms a lane on any grid of some hundred cells a side, so right to some 1e-6.
typedef struct wgi_slab_sum {
    wgf8 lanes;
} wgi_slab_sum;

WGI_INLINE wgi_slab_sum wgi_no_sum(void)
{
    return (wgi_slab_sum){ wgf8_set(0.0f) };
}

WGI_INLINE void wgi_sum_product(wgi_slab_sum* sum, wgf8 a, wgf8 b)
{
    sum->lanes += a * b;
}

WGI_INLINE double wgi_slab_total(const wgi_slab_sum* sum)
{
    wgi_product_sum total = { { 0 }, { 0 } };
    wgi_add_product(&total, sum->lanes, wgf8_set(1.0f));
    return wgi_total(&total);
}
