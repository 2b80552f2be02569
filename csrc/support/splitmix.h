// splitmix64: a small, well-mixed generator for seeds and hashes.
// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
#pragma once

#include <stdint.h>

static inline uint64_t wgi_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t wgi_splitmix64(uint64_t* state)
{
    *state += 0x9e3779b97f4a7c15u;
    return wgi_mix64(*state);
}
