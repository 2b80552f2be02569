#include "textbook_sway.h"

#include <math.h>

typedef struct quat {
    float w, x, y, z;
} quat;

typedef struct vec {
    float x, y, z;
} vec;

static vec at(const float* a, size_t i)
{
    return (vec){ a[3 * i], a[3 * i + 1], a[3 * i + 2] };
}

static vec add(vec a, vec b)
{
    return (vec){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static vec scale(float s, vec a)
{
    return (vec){ s * a.x, s * a.y, s * a.z };
}

static float dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec cross(vec a, vec b)
{
    return (vec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static quat multiply(quat a, quat b)
{
    return (quat){ a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                   a.w * b.x + b.w * a.x + a.y * b.z - a.z * b.y,
                   a.w * b.y + b.w * a.y + a.z * b.x - a.x * b.z,
                   a.w * b.z + b.w * a.z + a.x * b.y - a.y * b.x };
}

static vec rotate(quat q, vec a)
{
    const vec v = { q.x, q.y, q.z }, c = cross(v, a);
    return add(a, scale(2.0f, add(scale(q.w, c), cross(v, c))));
}

static quat conjugate(quat q)
{
    return (quat){ q.w, -q.x, -q.y, -q.z };
}

static quat from_vector(vec v)
{
    const float angle = sqrtf(dot(v, v));
    const float s = angle < 1e-6f ? 0.5f : sinf(0.5f * angle) / angle;
    return (quat){ cosf(0.5f * angle), s * v.x, s * v.y, s * v.z };
}

static vec to_vector(quat q)
{
    const float sine = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z);
    const float f = sine < 1e-6f ? 2.0f : 2.0f * atan2f(sine, q.w) / sine;
    return (vec){ f * q.x, f * q.y, f * q.z };
}

static quat between(vec a, vec b)
{
    const vec c = cross(a, b);
    const float w = sqrtf(dot(a, a) * dot(b, b)) + dot(a, b);
    const float inverse = 1.0f / sqrtf(w * w + dot(c, c));
    return (quat){ w * inverse, c.x * inverse, c.y * inverse, c.z * inverse };
}

// World rotation of the ancestors and world pivot, by walking up from branch i.
static void
walk_up(const textbook_forest* f, const float* rotation, size_t i, quat* above, vec* pivot)
{
    *above = (quat){ 1, 0, 0, 0 };
    *pivot = at(f->position, i);
    for (int32_t j = f->parent[i]; j >= 0; j = f->parent[j]) {
        const quat own = from_vector(at(rotation, (size_t)j));
        const vec root = at(f->position, (size_t)j);
        *above = multiply(own, *above);
        *pivot = add(root, rotate(own, add(*pivot, scale(-1.0f, root))));
    }
}

static void step_branch(textbook_forest* f, size_t tree, size_t i)
{
    const size_t base = 3 * tree * (size_t)f->count;
    const float* now = f->now + base;
    quat P, P_before;
    vec pivot, pivot_before;
    walk_up(f, now, i, &P, &pivot);
    walk_up(f, f->before + base, i, &P_before, &pivot_before);
    const vec theta = at(now, i), omega = at(f->omega + base, i);
    const quat R = from_vector(theta);
    const vec arm = rotate(R, scale(0.75f * f->length[i], at(f->direction, i)));
    const vec centre = add(pivot_before, rotate(P_before, arm));
    const vec was = rotate(conjugate(P), add(centre, scale(-1.0f, pivot)));
    const quat C = f->parent[i] < 0 ? (quat){ 1, 0, 0, 0 } : between(arm, was);
    const vec wind = { f->wind[0], f->wind[1], f->wind[2] };
    const vec tau = cross(rotate(R, at(f->direction, i)), rotate(conjugate(P), wind));
    const float m = f->mass[i], dt = f->dt;
    const float k = fminf(f->stiffness[i], m / (dt * dt)), c = fminf(f->damping[i], m / dt);
    const vec rate = add(omega, scale(1.0f / dt, to_vector(C)));
    const vec force = add(scale(f->drag[i], tau), add(scale(-k, theta), scale(-c, rate)));
    const vec faster = add(omega, scale(dt / m, force));
    const vec turned = to_vector(multiply(from_vector(scale(dt, faster)), multiply(C, R)));
    float* out[2] = { f->next + base + 3 * i, f->omega + base + 3 * i };
    const vec values[2] = { turned, faster };
    for (int n = 0; n < 2; ++n) {
        out[n][0] = values[n].x;
        out[n][1] = values[n].y;
        out[n][2] = values[n].z;
    }
}

void TEXTBOOK_STEP(TEXTBOOK_LEVEL)(textbook_forest* f);

void TEXTBOOK_STEP(TEXTBOOK_LEVEL)(textbook_forest* f)
{
    for (size_t tree = 0; tree < f->trees; ++tree)
        for (size_t i = 0; i < (size_t)f->count; ++i)
            step_branch(f, tree, i);
    float* spare = f->before;
    f->before = f->now;
    f->now = f->next;
    f->next = spare;
}
