// Quaternions (w, x, y, z) in double precision, one at a time.
#pragma once

#include <math.h>

static inline void wgi_quatd_from_vector(const double* v, double q[4])
{
    const double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double s = angle < 1e-8 ? 0.5 : sin(0.5 * angle) / angle;
    q[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; ++i)
        q[1 + i] = s * v[i];
}

static inline void wgi_quatd_multiply(const double a[4], const double b[4], double out[4])
{
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + b[0] * a[1] + (a[2] * b[3] - a[3] * b[2]);
    out[2] = a[0] * b[2] + b[0] * a[2] + (a[3] * b[1] - a[1] * b[3]);
    out[3] = a[0] * b[3] + b[0] * a[3] + (a[1] * b[2] - a[2] * b[1]);
}

static inline void wgi_quatd_rotate(const double q[4], const double v[3], double out[3])
{
    const double c[3] = { q[2] * v[2] - q[3] * v[1], q[3] * v[0] - q[1] * v[2],
                          q[1] * v[1] - q[2] * v[0] };
    const double d[3] = { q[2] * c[2] - q[3] * c[1], q[3] * c[0] - q[1] * c[2],
                          q[1] * c[1] - q[2] * c[0] };
    for (int i = 0; i < 3; ++i)
        out[i] = v[i] + 2.0 * (q[0] * c[i] + d[i]);
}
