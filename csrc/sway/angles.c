// Rotations as two 16-bit angles: the published storage, in double precision.
#include <math.h>

#include "windgrove/sway.h"

static const double pi = 3.14159265358979323846;

static void turned(const double* rotation, const double* direction, double out[3])
{
    const double *v = rotation, *d = direction;
    const double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double half = sin(0.5 * angle);
    const double s = angle < 1e-8 ? 1.0 : sin(angle) / angle;
    const double c = angle < 1e-8 ? 0.5 : 2.0 * half * half / (angle * angle);
    const double across[3] = { v[1] * d[2] - v[2] * d[1], v[2] * d[0] - v[0] * d[2],
                               v[0] * d[1] - v[1] * d[0] };
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = d[i] + s * across[i] + c * (v[j] * across[k] - v[k] * across[j]);
    }
}

void wg_pack_rotation(
    const double* rotation, const double* direction, size_t count, uint16_t* packed)
{
    for (size_t n = 0; n < count; ++n) {
        double t[3];
        turned(rotation + 3 * n, direction + 3 * n, t);
        const double azimuth = atan2(t[1], t[0]), polar = atan2(hypot(t[0], t[1]), t[2]);
        const double turns = azimuth < 0.0 ? azimuth / (2.0 * pi) + 1.0 : azimuth / (2.0 * pi);
        packed[2 * n] = (uint16_t)((uint32_t)(turns * 65536.0 + 0.5) & 0xffffu);
        packed[2 * n + 1] = (uint16_t)(polar / pi * 65535.0 + 0.5);
    }
}

// Any unit vector across d.
static void across(const double d[3], double out[3])
{
    int least = fabs(d[0]) <= fabs(d[1]) ? 0 : 1;
    least = fabs(d[2]) < fabs(d[least]) ? 2 : least;
    const int a = (least + 1) % 3, c = (least + 2) % 3;
    const double norm = sqrt(d[a] * d[a] + d[c] * d[c]);
    out[least] = 0.0;
    out[a] = -d[c] / norm;
    out[c] = d[a] / norm;
}

void wg_unpack_rotation(
    const uint16_t* packed, const double* direction, size_t count, double* rotation)
{
    for (size_t n = 0; n < count; ++n) {
        const double azimuth = packed[2 * n] * (2.0 * pi / 65536.0);
        const double polar = packed[2 * n + 1] * (pi / 65535.0);
        const double* d = direction + 3 * n;
        double* v = rotation + 3 * n;
        const double t[3] = { sin(polar) * cos(azimuth), sin(polar) * sin(azimuth), cos(polar) };
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            v[i] = d[j] * t[k] - d[k] * t[j];
        }
        const double sine = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        const double cosine = d[0] * t[0] + d[1] * t[1] + d[2] * t[2];
        const double angle = atan2(sine, cosine);
        if (sine < 1e-12 && cosine < 0.0)
            across(d, v);
        const double scale = sine >= 1e-12 ? angle / sine : cosine < 0.0 ? pi : 1.0;
        for (int i = 0; i < 3; ++i)
            v[i] *= scale;
    }
}
