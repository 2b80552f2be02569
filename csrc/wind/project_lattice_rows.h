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

WGI_INLINE wgf8
wgi_lattice_reciprocals(const wgi_lattice* l, int32_t colour, size_t at, const wgi_edge_kind kind)
{
    if (kind == WGI_PLAIN)
        return wgf8_set(1.0f / 6.0f);
    if (kind == WGI_COUNTED)
        return wgi_reciprocals(l->open[colour] + at);
    return wgf8_load(l->reciprocal[colour] + at);
}

/// All ones in the lanes that are unknowns; not for the plain kind, which has no others.
WGI_INLINE wgi8
wgi_lattice_unknowns(const wgi_lattice* l, int32_t colour, size_t at, const wgi_edge_kind kind)
{
    if (kind == WGI_COUNTED)
        return wgi_counts(l->open[colour] + at) != wgi8_set(0);
    return wgf8_load(l->reciprocal[colour] + at) != wgf8_set(0.0f);
}

/// `sum` - diagonal x, 0 where there is no unknown.
WGI_INLINE wgf8 wgi_lattice_masked(
    const wgi_lattice* l, int32_t colour, size_t at, wgf8 sum, wgf8 x, const wgi_edge_kind kind)
{
    if (kind == WGI_PLAIN)
        return sum - wgf8_set(6.0f) * x;
    const wgf8 diagonal = kind == WGI_COUNTED ? wgf8_from_int(wgi_counts(l->open[colour] + at))
                                              : wgf8_load(l->diagonal[colour] + at);
    const wgf8 zero = wgf8_set(0.0f);
    return wgf8_select(diagonal == zero, zero, sum - diagonal * x);
}

/// Weighted sum over the six neighbours of eight cells of a colour, each axis' pair first.
///
/// @param other   the array of the other colour, where all neighbours are
/// @param parity  of j + k: the row's cells of `colour` are at odd places where this equals it
/// @param below,here,above  `other` at the same place of the rows k - 1, k, k + 1
WGI_INLINE wgf8 wgi_lattice_sum(
    const wgi_lattice* l, const float* other, int32_t colour, int32_t parity, size_t at, wgf8 below,
    wgf8 here, wgf8 above, const wgi_edge_kind kind)
{
    const size_t slab = l->half.slab, pitch = l->half.pitch;
    const bool odd = parity == colour;
    const size_t beside = odd ? at - 1 : at + 1;
    const wgf8 side = wgf8_load(other + beside);
    const wgf8 front = wgf8_load(other + at - slab), back = wgf8_load(other + at + slab);
    if (kind != WGI_WEIGHTED)
        return ((side + here) + (front + back)) + (below + above);
    // Edges are kept by the cell of colour 0; seen from the other end, low and high are exchanged.
    float* const* w = l->weight;
    if (colour == 0) {
        const size_t near = odd ? 1 : 0;
        return ((wgf8_load(w[1 - near] + at) * side + wgf8_load(w[near] + at) * here) +
                (wgf8_load(w[2] + at) * front + wgf8_load(w[3] + at) * back)) +
               (wgf8_load(w[4] + at) * below + wgf8_load(w[5] + at) * above);
    }
    const size_t near = odd ? 0 : 1;
    return ((wgf8_load(w[1 - near] + beside) * side + wgf8_load(w[near] + at) * here) +
            (wgf8_load(w[3] + at - slab) * front + wgf8_load(w[2] + at + slab) * back)) +
           (wgf8_load(w[5] + at - pitch) * below + wgf8_load(w[4] + at + pitch) * above);
}
