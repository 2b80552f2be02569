// Improved noise: Perlin, "Improving Noise", SIGGRAPH 2002.
#include "windgrove/noise.h"

#include <math.h>

#include "support/splitmix.h"

static const uint8_t perlin_table[256] = {
    151, 160, 137, 91,  90,  15,  131, 13,  201, 95,  96,  53,  194, 233, 7,   225, 140, 36,  103,
    30,  69,  142, 8,   99,  37,  240, 21,  10,  23,  190, 6,   148, 247, 120, 234, 75,  0,   26,
    197, 62,  94,  252, 219, 203, 117, 35,  11,  32,  57,  177, 33,  88,  237, 149, 56,  87,  174,
    20,  125, 136, 171, 168, 68,  175, 74,  165, 71,  134, 139, 48,  27,  166, 77,  146, 158, 231,
    83,  111, 229, 122, 60,  211, 133, 230, 220, 105, 92,  41,  55,  46,  245, 40,  244, 102, 143,
    54,  65,  25,  63,  161, 1,   216, 80,  73,  209, 76,  132, 187, 208, 89,  18,  169, 200, 196,
    135, 130, 116, 188, 159, 86,  164, 100, 109, 198, 173, 186, 3,   64,  52,  217, 226, 250, 124,
    123, 5,   202, 38,  147, 118, 126, 255, 82,  85,  212, 207, 206, 59,  227, 47,  16,  58,  17,
    182, 189, 28,  42,  223, 183, 170, 213, 119, 248, 152, 2,   44,  154, 163, 70,  221, 153, 101,
    155, 167, 43,  172, 9,   129, 22,  39,  253, 19,  98,  108, 110, 79,  113, 224, 232, 178, 185,
    112, 104, 218, 246, 97,  228, 251, 34,  242, 193, 238, 210, 144, 12,  191, 179, 162, 241, 81,
    51,  145, 235, 249, 14,  239, 107, 49,  192, 214, 31,  181, 199, 106, 157, 184, 84,  204, 176,
    115, 121, 50,  45,  127, 4,   150, 254, 138, 236, 205, 93,  222, 114, 67,  29,  24,  72,  243,
    141, 128, 195, 78,  66,  215, 61,  156, 180,
};

void wg_permutation_init(wg_permutation* out, uint64_t seed)
{
    for (int i = 0; i < 256; ++i)
        out->value[i] = seed == 0 ? perlin_table[i] : (uint8_t)i;
    if (seed != 0) {
        uint64_t state = seed;
        for (uint32_t i = 255; i > 0; --i) {
            const uint32_t j = (uint32_t)(((wgi_splitmix64(&state) >> 32) * (i + 1)) >> 32);
            const uint8_t swapped = out->value[i];
            out->value[i] = out->value[j];
            out->value[j] = swapped;
        }
    }
    for (int i = 0; i < 256; ++i)
        out->value[256 + i] = out->value[i];
}

static double fade(double t)
{
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
}

static double mix(double t, double a, double b)
{
    return a + t * (b - a);
}

static double gradient(int hash, double x, double y, double z)
{
    const int h = hash & 15;
    const double u = h < 8 ? x : y;
    const double v = h < 4 ? y : (h == 12 || h == 14) ? x : z;
    return ((h & 1) == 0 ? u : -u) + ((h & 2) == 0 ? v : -v);
}

// The cell index modulo 256 without a conversion that overflows for large coordinates.
static int lattice(double floored)
{
    return (int)(floored - 256.0 * floor(floored / 256.0)) & 255;
}

double wg_perlin_point(const wg_permutation* permutation, double x, double y, double z)
{
    if (!(isfinite(x) && isfinite(y) && isfinite(z)))
        return (double)NAN;

    const uint8_t* p = permutation->value;
    const double fx = floor(x), fy = floor(y), fz = floor(z);
    const int i = lattice(fx), j = lattice(fy), k = lattice(fz);
    x -= fx;
    y -= fy;
    z -= fz;
    const double u = fade(x), v = fade(y), w = fade(z);
    const int a = p[i] + j, aa = p[a] + k, ab = p[a + 1] + k;
    const int b = p[i + 1] + j, ba = p[b] + k, bb = p[b + 1] + k;

    const double low =
        mix(v, mix(u, gradient(p[aa], x, y, z), gradient(p[ba], x - 1, y, z)),
            mix(u, gradient(p[ab], x, y - 1, z), gradient(p[bb], x - 1, y - 1, z)));
    const double high =
        mix(v, mix(u, gradient(p[aa + 1], x, y, z - 1), gradient(p[ba + 1], x - 1, y, z - 1)),
            mix(u, gradient(p[ab + 1], x, y - 1, z - 1), gradient(p[bb + 1], x - 1, y - 1, z - 1)));
    return mix(w, low, high);
}

void wg_perlin(const wg_permutation* permutation, const double* points, size_t count, double* out)
{
    for (size_t n = 0; n < count; ++n)
        out[n] = wg_perlin_point(permutation, points[3 * n], points[3 * n + 1], points[3 * n + 2]);
}
