#include "check.h"
#include "windgrove/noise.h"

// Pairs printed by public copies of Perlin's reference implementation.
static void the_reference_pairs_are_exact(void)
{
    wg_permutation p;
    wg_permutation_init(&p, 0);
    CHECK(wg_perlin_point(&p, 3.14, 42, 7) == 0.13691995878400012);
    CHECK(wg_perlin_point(&p, -4.20, 10, 6) == 0.14208000000000043);
    CHECK(wg_perlin_point(&p, 0.5, 0.5, 0.5) == -0.25);
    CHECK(wg_perlin_point(&p, 0.1, 0.1, 0.1) == 0.1861607143544832);
    CHECK(wg_perlin_point(&p, 12, -7, 300) == 0.0);
    CHECK(isnan(wg_perlin_point(&p, NAN, 0, 0)));
}

static void every_seed_gives_a_permutation(void)
{
    for (uint64_t seed = 0; seed < 50; ++seed) {
        wg_permutation p;
        wg_permutation_init(&p, seed);
        int seen[256] = { 0 };
        for (int i = 0; i < 256; ++i)
            ++seen[p.value[i]];
        int once = 1;
        for (int i = 0; i < 256; ++i)
            once &= seen[i] == 1 && p.value[i] == p.value[i + 256];
        CHECK(once);
    }
}

int main(void)
{
    the_reference_pairs_are_exact();
    every_seed_gives_a_permutation();
    return check_report();
}
