// Eight rotations at a time: vectors, quaternions, and the maps between quaternions and rotation
// vectors, as polynomials of stated error.
//
// A quaternion (w, v) stands for the rotation x -> x + 2 w (v x x) + 2 v x (v x x). Products read
// from right to left: the right factor acts first. Every function is the same text for every
// instruction set and works lane by lane, so a lane's bits do not depend on its neighbours.
#pragma once

#include "support/simd.h"

typedef struct wgi_vec3 {
    wgf8 x, y, z;
} wgi_vec3;

typedef struct wgi_quat {
    wgf8 w, x, y, z;
} wgi_quat;

WGI_INLINE wgi_vec3 wgi_vec3_set(float x, float y, float z)
{
    return (wgi_vec3){ wgf8_set(x), wgf8_set(y), wgf8_set(z) };
}

WGI_INLINE wgi_vec3 wgi_vec3_add(wgi_vec3 a, wgi_vec3 b)
{
    return (wgi_vec3){ a.x + b.x, a.y + b.y, a.z + b.z };
}

WGI_INLINE wgi_vec3 wgi_vec3_sub(wgi_vec3 a, wgi_vec3 b)
{
    return (wgi_vec3){ a.x - b.x, a.y - b.y, a.z - b.z };
}

WGI_INLINE wgi_vec3 wgi_vec3_scale(wgf8 s, wgi_vec3 a)
{
    return (wgi_vec3){ s * a.x, s * a.y, s * a.z };
}

WGI_INLINE wgf8 wgi_vec3_dot(wgi_vec3 a, wgi_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

WGI_INLINE wgi_vec3 wgi_vec3_cross(wgi_vec3 a, wgi_vec3 b)
{
    return (wgi_vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

WGI_INLINE wgi_vec3 wgi_vec3_select(wgi8 mask, wgi_vec3 a, wgi_vec3 b)
{
    return (wgi_vec3){ wgf8_select(mask, a.x, b.x), wgf8_select(mask, a.y, b.y),
                       wgf8_select(mask, a.z, b.z) };
}

WGI_INLINE wgi_quat wgi_quat_identity(void)
{
    return (wgi_quat){ wgf8_set(1.0f), wgf8_set(0.0f), wgf8_set(0.0f), wgf8_set(0.0f) };
}

WGI_INLINE wgi_quat wgi_quat_conjugate(wgi_quat q)
{
    return (wgi_quat){ q.w, -q.x, -q.y, -q.z };
}

/// a b: b acts first.
WGI_INLINE wgi_quat wgi_quat_multiply(wgi_quat a, wgi_quat b)
{
    return (wgi_quat){ a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                       a.w * b.x + b.w * a.x + (a.y * b.z - a.z * b.y),
                       a.w * b.y + b.w * a.y + (a.z * b.x - a.x * b.z),
                       a.w * b.z + b.w * a.z + (a.x * b.y - a.y * b.x) };
}

/// conj(a) b. Exactly (|a|^2, 0) where a and b have the same bits.
WGI_INLINE wgi_quat wgi_quat_divide(wgi_quat a, wgi_quat b)
{
    return (wgi_quat){ a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z,
                       (a.w * b.x - b.w * a.x) - (a.y * b.z - a.z * b.y),
                       (a.w * b.y - b.w * a.y) - (a.z * b.x - a.x * b.z),
                       (a.w * b.z - b.w * a.z) - (a.x * b.y - a.y * b.x) };
}

/// What the rotation adds to a vector, without the cancellation of rotated - original.
WGI_INLINE wgi_vec3 wgi_quat_displace(wgi_quat q, wgi_vec3 a)
{
    const wgi_vec3 v = { q.x, q.y, q.z };
    const wgi_vec3 c = wgi_vec3_cross(v, a);
    const wgi_vec3 d = wgi_vec3_cross(v, c);
    const wgf8 w = q.w + q.w;
    return (wgi_vec3){ w * c.x + (d.x + d.x), w * c.y + (d.y + d.y), w * c.z + (d.z + d.z) };
}

WGI_INLINE wgi_vec3 wgi_quat_rotate(wgi_quat q, wgi_vec3 a)
{
    return wgi_vec3_add(a, wgi_quat_displace(q, a));
}

WGI_INLINE wgi_vec3 wgi_quat_rotate_back(wgi_quat q, wgi_vec3 a)
{
    return wgi_quat_rotate(wgi_quat_conjugate(q), a);
}

/// Unit length. Exactly the identity where the vector part is 0.
WGI_INLINE wgi_quat wgi_quat_normalise(wgi_quat q)
{
    const wgf8 norm = wgf8_sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    const wgf8 inverse = wgf8_set(1.0f) / norm;
    return (wgi_quat){ q.w / norm, inverse * q.x, inverse * q.y, inverse * q.z };
}

/// The same rotation with an angle of at most pi. Lanes already there keep their bits.
WGI_INLINE wgi_vec3 wgi_rotation_principal(wgi_vec3 v)
{
    const wgf8 pi = wgf8_set(3.14159265f), two_pi = wgf8_set(6.28318531f);
    const wgf8 angle = wgf8_sqrt(wgi_vec3_dot(v, v));
    const wgf8 turns = wgf8_floor(angle / two_pi + wgf8_set(0.5f));
    const wgf8 scale = (angle - turns * two_pi) / angle;
    return wgi_vec3_select(angle > pi, wgi_vec3_scale(scale, v), v);
}

/// Unit quaternion of a rotation vector of any finite length.
/// Polynomials in t = |v|^2 for cos(sqrt(t)/2) and sin(sqrt(t)/2)/sqrt(t) on [0, pi^2], least
/// maximum error with the constant term fixed: 2.4e-10 and 2.4e-9, 9e-8 and 5e-8 in float32.
WGI_INLINE wgi_quat wgi_quat_from_vector(wgi_vec3 v)
{
    wgf8 t = wgi_vec3_dot(v, v);
    if (wgi8_any(t > wgf8_set(9.8696f))) {
        v = wgi_rotation_principal(v);
        t = wgi_vec3_dot(v, v);
    }
    wgf8 c = wgf8_set(-2.546577613e-10f);
    c = c * t + wgf8_set(9.672608610e-08f);
    c = c * t + wgf8_set(-2.170063024e-05f);
    c = c * t + wgf8_set(2.604165045e-03f);
    c = c * t + wgf8_set(-1.249999989e-01f);
    c = c * t + wgf8_set(1.0f);
    wgf8 s = wgf8_set(5.095542068e-09f);
    s = s * t + wgf8_set(-1.547742688e-06f);
    s = s * t + wgf8_set(2.604090028e-04f);
    s = s * t + wgf8_set(-2.083332557e-02f);
    s = s * t + wgf8_set(5.0e-01f);
    return (wgi_quat){ c, s * v.x, s * v.y, s * v.z };
}

/// angle / sin(angle/2) of a rotation by at most pi from 1 - cos(angle/2), a polynomial on [0, 1]:
/// error 3.1e-8 of values 2 to pi.
WGI_INLINE wgf8 wgi_angle_by_sine(wgf8 s)
{
    wgf8 f = wgf8_set(2.315373591e-02f);
    f = f * s + wgf8_set(-6.876861893e-02f);
    f = f * s + wgf8_set(1.083474587e-01f);
    f = f * s + wgf8_set(-7.315398393e-02f);
    f = f * s + wgf8_set(6.335645014e-02f);
    f = f * s + wgf8_set(3.936321283e-02f);
    f = f * s + wgf8_set(1.160969361e-01f);
    f = f * s + wgf8_set(2.665270765e-01f);
    f = f * s + wgf8_set(6.666703555e-01f);
    return f * s + wgf8_set(2.0f);
}

/// Rotation vector of a unit quaternion, its angle in [0, pi]; q and -q give the same vector.
/// A norm off by e makes the vector wrong by at most 1.7 e of itself.
WGI_INLINE wgi_vec3 wgi_vector_from_quat(wgi_quat q)
{
    wgf8 f = wgi_angle_by_sine(wgf8_set(1.0f) - wgf8_abs(q.w));
    f = wgf8_from_bits(wgf8_bits(f) ^ (wgf8_bits(q.w) & wgi8_set(INT32_MIN)));
    return (wgi_vec3){ f * q.x, f * q.y, f * q.z };
}

/// A half turn about some axis across `a`.
WGI_INLINE wgi_quat wgi_quat_half_turn_across(wgi_vec3 a)
{
    const wgi8 flat = wgf8_abs(a.x) < wgf8_abs(a.z);
    const wgf8 zero = wgf8_set(0.0f);
    const wgi_vec3 first = { zero, -a.z, a.y }, second = { -a.y, a.x, zero };
    const wgi_vec3 axis = wgi_vec3_select(flat, first, second);
    const wgf8 inverse = wgf8_set(1.0f) / wgf8_sqrt(wgi_vec3_dot(axis, axis));
    const wgi_vec3 unit = wgi_vec3_scale(inverse, axis);
    return (wgi_quat){ zero, unit.x, unit.y, unit.z };
}

/// Unit quaternion of the shortest rotation from `a` to the direction of a + d. Exactly the
/// identity where d is 0 or along a; a half turn about an axis across `a` where a + d points the
/// other way, which leaves the axis open; the identity where a + d is 0.
WGI_INLINE wgi_quat wgi_quat_between(wgi_vec3 a, wgi_vec3 d)
{
    const wgi_vec3 b = wgi_vec3_add(a, d), v = wgi_vec3_cross(a, d);
    const wgf8 aa = wgi_vec3_dot(a, a), bb = wgi_vec3_dot(b, b);
    const wgf8 w = wgf8_sqrt(aa * bb) + wgi_vec3_dot(a, b);
    const wgf8 norm = w * w + wgi_vec3_dot(v, v);
    const wgf8 inverse = wgf8_set(1.0f) / wgf8_sqrt(norm);
    wgi_quat q = { inverse * w, inverse * v.x, inverse * v.y, inverse * v.z };
    const wgi8 lost = norm <= wgf8_set(1e-14f) * aa * bb;
    if (wgi8_any(lost)) {
        const wgi_quat turn = wgi_quat_half_turn_across(a), stay = wgi_quat_identity();
        const wgi8 gone = lost & (bb <= wgf8_set(0.0f)), back = lost & ~gone;
        q.w = wgf8_select(gone, stay.w, wgf8_select(back, turn.w, q.w));
        q.x = wgf8_select(gone, stay.x, wgf8_select(back, turn.x, q.x));
        q.y = wgf8_select(gone, stay.y, wgf8_select(back, turn.y, q.y));
        q.z = wgf8_select(gone, stay.z, wgf8_select(back, turn.z, q.z));
    }
    return q;
}

/// The rotation without its twist about `direction`: the shortest one with the same image of it.
WGI_INLINE wgi_quat wgi_quat_swing(wgi_quat q, wgi_vec3 direction)
{
    const wgi_vec3 d = wgi_quat_displace(q, direction);
    return wgi_quat_between(direction, d);
}

/// Unit vectors across each other that a swing is told in: second = direction x first.
typedef struct wgi_basis {
    wgi_vec3 direction, first, second;
} wgi_basis;

/// A swing's two components, rad.
typedef struct wgi_swing {
    wgf8 first, second;
} wgi_swing;

WGI_INLINE wgi_vec3 wgi_swing_vector(wgi_swing s, const wgi_basis* basis)
{
    return wgi_vec3_add(
        wgi_vec3_scale(s.first, basis->first), wgi_vec3_scale(s.second, basis->second));
}

/// The swing of a unit quaternion, which is wgi_quat_swing as a rotation vector: q times the inverse
/// of its twist (w, p direction) / n. Where there is no twist to tell, after half a turn, it is q.
WGI_INLINE wgi_swing wgi_swing_from_quat(wgi_quat q, const wgi_basis* basis)
{
    const wgi_vec3 v = { q.x, q.y, q.z };
    const wgf8 p = wgi_vec3_dot(v, basis->direction);
    const wgf8 f = wgi_vec3_dot(v, basis->first), s = wgi_vec3_dot(v, basis->second);
    const wgf8 square = q.w * q.w + p * p, n = wgf8_sqrt(square);
    const wgf8 inverse = wgf8_set(1.0f) / n;
    wgi_swing sine = { inverse * (q.w * f - p * s), inverse * (q.w * s + p * f) };
    const wgi8 half = (wgi8)(square <= wgf8_set(1e-14f));
    if (wgi8_any(half)) {
        sine.first = wgf8_select(half, f, sine.first);
        sine.second = wgf8_select(half, s, sine.second);
    }
    const wgf8 angle = wgi_angle_by_sine(wgf8_set(1.0f) - n);
    return (wgi_swing){ angle * sine.first, angle * sine.second };
}
