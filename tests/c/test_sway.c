// Forests against a walk-up in double precision; sizes beside whole vectors, threads, packed motion.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "windgrove/forest.h"

enum { MOST = 64, STEPS = 30 };

typedef struct tree_case {
    int32_t count, parent[MOST];
    double position[MOST][3], direction[MOST][3], length[MOST];
    double mass[MOST], stiffness[MOST], damping[MOST], drag[MOST];
} tree_case;

static const double dt = 1.0 / 30, wind[3] = { 5.0, 1.0, 0.5 };
static uint32_t seed;

static double number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) / 16777216.0;
}

static tree_case make_tree(int32_t count)
{
    tree_case t = { .count = count };
    seed = 7;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t up = i == 0 ? -1 : (int32_t)(number() * (i < 9 ? i : 9));
        double norm = 0.0;
        t.parent[i] = up;
        t.length[i] = i == 0 ? 6.0 : 0.5 + number();
        for (int axis = 0; axis < 3; ++axis) {
            t.direction[i][axis] = i == 0 ? axis == 2 : number() - 0.5 + 0.3 * (axis == 2);
            norm += t.direction[i][axis] * t.direction[i][axis];
        }
        for (int axis = 0; axis < 3; ++axis) {
            t.direction[i][axis] /= sqrt(norm);
            t.position[i][axis] =
                up < 0 ? 0.0 : t.position[up][axis] + 0.7 * t.length[up] * t.direction[up][axis];
        }
        const double w = i == 0 ? 3.0 : 8.0 + 6.0 * number();
        t.mass[i] = i == 0 ? 100.0 : 1.0 + number();
        t.stiffness[i] = t.mass[i] * w * w;
        t.damping[i] = 0.3 * t.mass[i] * w;
        t.drag[i] = 0.03 * t.stiffness[i];
    }
    return t;
}

// -- the walk-up: rotation matrices, every branch from its root on -------------------------------

typedef struct matrix {
    double m[3][3];
} matrix;

static matrix identity(void)
{
    return (matrix){ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
}

static matrix multiply(matrix a, matrix b)
{
    matrix c = { 0 };
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k)
                c.m[i][j] += a.m[i][k] * b.m[k][j];
    return c;
}

static void turn(matrix a, const double v[3], double out[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = a.m[i][0] * v[0] + a.m[i][1] * v[1] + a.m[i][2] * v[2];
}

static void turn_back(matrix a, const double v[3], double out[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = a.m[0][i] * v[0] + a.m[1][i] * v[1] + a.m[2][i] * v[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Rodrigues.
static matrix rotation_of(const double v[3])
{
    const double angle = sqrt(dot(v, v));
    const double s = angle > 1e-9 ? sin(angle) / angle : 1.0;
    const double c = angle > 1e-5 ? (1.0 - cos(angle)) / (angle * angle) : 0.5;
    const matrix k = { { { 0, -v[2], v[1] }, { v[2], 0, -v[0] }, { -v[1], v[0], 0 } } };
    const matrix kk = multiply(k, k);
    matrix r = identity();
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            r.m[i][j] += s * k.m[i][j] + c * kk.m[i][j];
    return r;
}

static void vector_of(matrix r, double out[3])
{
    const double axis[3] = { r.m[2][1] - r.m[1][2], r.m[0][2] - r.m[2][0], r.m[1][0] - r.m[0][1] };
    const double sine = 0.5 * sqrt(dot(axis, axis));
    const double cosine = 0.5 * (r.m[0][0] + r.m[1][1] + r.m[2][2] - 1.0);
    const double f = sine > 1e-12 ? atan2(sine, cosine) / (2.0 * sine) : 0.5;
    for (int i = 0; i < 3; ++i)
        out[i] = f * axis[i];
}

// What the ancestors make of a pivot (at position) and of directions, for rotations `theta`.
static matrix ancestors(const tree_case* t, double (*theta)[3], int32_t branch, double pivot[3])
{
    matrix p = identity();
    memcpy(pivot, t->position[branch], 3 * sizeof *pivot);
    for (int32_t a = t->parent[branch]; a >= 0; a = t->parent[a]) {
        const matrix r = rotation_of(theta[a]);
        double from[3], to[3];
        for (int i = 0; i < 3; ++i)
            from[i] = pivot[i] - t->position[a][i];
        turn(r, from, to);
        for (int i = 0; i < 3; ++i)
            pivot[i] = t->position[a][i] + to[i];
        p = multiply(r, p);
    }
    return p;
}

typedef struct double_state {
    double theta[MOST][3], before[MOST][3], omega[MOST][3];
} double_state;

static void step_branch(const tree_case* t, double_state* s, int32_t i, double (*next)[3])
{
    double pivot[3], earlier[3], arm[3], axis[3], back[3], C[3], local[3], carried[3], tau[3];
    const matrix p = ancestors(t, s->theta, i, pivot),
                 p_before = ancestors(t, s->before, i, earlier);
    const matrix own = rotation_of(s->theta[i]);
    turn(own, t->direction[i], arm);
    const double reach = 0.75 * t->length[i];
    turn(p_before, arm, carried);
    for (int k = 0; k < 3; ++k)
        carried[k] = earlier[k] + reach * carried[k] - pivot[k];
    turn_back(p, carried, back);
    cross(arm, back, axis);
    const double sine = sqrt(dot(axis, axis)), angle = atan2(sine, dot(arm, back));
    turn_back(p, wind, local);
    cross(arm, local, tau);
    const double k = fmin(t->stiffness[i], t->mass[i] / (dt * dt));
    const double c = fmin(t->damping[i], t->mass[i] / dt);
    double step[3];
    for (int n = 0; n < 3; ++n) {
        C[n] = sine > 0.0 ? angle / sine * axis[n] : 0.0;
        const double rate = s->omega[i][n] + C[n] / dt;
        s->omega[i][n] += dt / t->mass[i] * (t->drag[i] * tau[n] - k * s->theta[i][n] - c * rate);
        step[n] = dt * s->omega[i][n];
    }
    vector_of(multiply(rotation_of(step), multiply(rotation_of(C), own)), next[i]);
}

static void step_double(const tree_case* t, double_state* s)
{
    double next[MOST][3];
    for (int32_t i = 0; i < t->count; ++i)
        step_branch(t, s, i, next);
    memcpy(s->before, s->theta, sizeof s->before);
    memcpy(s->theta, next, (size_t)t->count * sizeof next[0]);
}

// -- forests -------------------------------------------------------------------------------------

static void* room(size_t bytes)
{
    void* memory = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    return memset(memory, 0, (bytes + 63) / 64 * 64);
}

typedef struct grove {
    wg_forest forest;
    wg_packed packed;
    size_t padded, swing_bytes;
    void* memory[16];
    int used;
} grove;

static void* take(grove* g, size_t bytes)
{
    return g->memory[g->used++] = room(bytes);
}

static void add_state(grove* g, size_t trees, bool packed)
{
    const size_t p = g->padded, row = 3 * p * trees;
    if (packed) {
        const size_t inner = ((size_t)wg_specimen_inner_count(g->forest.specimen) + 7) / 8 * 8;
        g->swing_bytes = 2 * row;
        g->packed = (wg_packed){ take(g, 2 * row), take(g, 6 * inner * trees), take(g, 3 * row) };
        g->forest.packed = &g->packed;
        return;
    }
    g->forest.rotation = take(g, row * sizeof(float));
    g->forest.previous = take(g, row * sizeof(float));
    g->forest.angular_velocity = take(g, row * sizeof(float));
}

static void
run_grove(grove* g, const tree_case* t, int32_t trees, int32_t threads, bool packed, int32_t calls)
{
    memset(g, 0, sizeof *g);
    const size_t m = (size_t)trees, p = ((size_t)t->count + 7) / 8 * 8;
    const wg_branches branches = { t->count, t->position[0], t->direction[0], t->length,
                                   t->parent };
    const wg_springs springs = { t->mass, t->stiffness, t->damping, t->drag };
    const wg_forest_options options = { .spring = { .dt = dt,
                                                    .inertia = true,
                                                    .relative_damping = true,
                                                    .torsion = !packed,
                                                    .limit_turn = true },
                                        .reference_speed = 10.0f };
    void* specimen = take(g, wg_specimen_size(t->count));
    float *rows = take(g, 3 * p * sizeof(float)), *turns = take(g, 4 * m * sizeof(float));
    float* scale = take(g, m * sizeof(float));
    uint8_t *kind = take(g, p), *kinds = take(g, m);
    CHECK(wg_specimen_init(&branches, specimen) == WG_OK);
    CHECK(wg_forest_springs(t->count, &springs, &options.spring, rows) == WG_OK);
    for (size_t n = 0; n < m; ++n) {
        turns[4 * n] = scale[n] = 1.0f;
        kinds[n] = 3;
    }
    g->padded = p;
    g->forest = (wg_forest){ .specimen = specimen,
                             .instance_count = trees,
                             .spring_sets = 1,
                             .springs = rows,
                             .frequency = take(g, p * sizeof(float)),
                             .place = take(g, 3 * m * sizeof(double)),
                             .turn = turns,
                             .scale = scale,
                             .kind = kind,
                             .kinds = kinds,
                             .key = take(g, m * sizeof(uint32_t)) };
    add_state(g, m, packed);
    wg_wind_view view = { .outside.velocity = { wind[0], wind[1], wind[2] } };
    const wg_forest_wind blowing = { .kind = WG_WIND_VIEW, .view = &view };
    const wg_exec exec = { .threads = threads };
    void* scratch = take(g, wg_forest_scratch(t->count, &exec));
    for (int32_t call = 0; call < calls; ++call)
        CHECK(
            wg_forest_run(
                &g->forest, &options, &blowing, STEPS / calls, NULL, NULL, scratch, NULL, &exec) ==
            WG_OK);
}

static void drop(grove* g)
{
    while (g->used > 0)
        free(g->memory[--g->used]);
}

// float32 beside double over 30 steps: rounding of 6e-8 a step, magnified by arms up to a
// factor of ten.
static void forests_follow_the_walk_up(void)
{
    static const int32_t sizes[] = { 1, 7, 8, 9, 24, 25, 41 };
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
        const tree_case t = make_tree(sizes[n]);
        double_state s = { 0 };
        for (int step = 0; step < STEPS; ++step)
            step_double(&t, &s);
        for (int32_t trees = 1; trees <= 9; trees += 4) { // alone, some lanes, more than a vector
            grove g;
            run_grove(&g, &t, trees, 1, false, 1);
            double worst = 0.0, largest = 0.0;
            for (int32_t i = 0; i < t.count; ++i)
                for (int axis = 0; axis < 3; ++axis) {
                    const size_t at =
                        (3 * (size_t)(trees - 1) + (size_t)axis) * g.padded + (size_t)i;
                    worst = fmax(worst, fabs((double)g.forest.rotation[at] - s.theta[i][axis]));
                    largest = fmax(largest, fabs(s.theta[i][axis]));
                }
            CHECK(largest > 0.05);
            CHECK_CLOSE(worst, 0.0, 1e-5);
            drop(&g);
        }
    }
}

// As many trees as it takes for a call of six steps to be shared among threads at all.
static void threads_and_calls_change_no_bit(void)
{
    enum { TREES = 77 };
    const tree_case t = make_tree(25);
    for (int packed = 0; packed < 2; ++packed) {
        grove one, other;
        run_grove(&one, &t, TREES, 1, packed, 1);
        run_grove(&other, &t, TREES, 3, packed, 5);
        const void* a = packed ? (void*)one.packed.swing : (void*)one.forest.rotation;
        const void* b = packed ? (void*)other.packed.swing : (void*)other.forest.rotation;
        const size_t bytes = packed ? one.swing_bytes : 3 * one.padded * TREES * sizeof(float);
        CHECK(memcmp(a, b, bytes) == 0);
        drop(&one);
        drop(&other);
    }
}

static void packed_motion_goes_round(void)
{
    const tree_case t = make_tree(25);
    grove g;
    run_grove(&g, &t, 3, 1, true, 1);
    const size_t row = 3 * g.padded * 3;
    float *theta = room(4 * row), *before = room(4 * row), *omega = room(4 * row);
    uint8_t *swing = room(2 * row), *rate = room(3 * row);
    wg_forest_unpack(&g.forest, theta, before, omega);
    memcpy(swing, g.packed.swing, 2 * row);
    memcpy(rate, g.packed.rate, 3 * row);
    memset(g.packed.swing, 0, 2 * row);
    memset(g.packed.rate, 0, 3 * row);
    wg_forest_pack(&g.forest, theta, before, omega);
    CHECK(memcmp(swing, g.packed.swing, 2 * row) == 0);
    CHECK(memcmp(rate, g.packed.rate, 3 * row) == 0);
    double_state s = { 0 };
    for (int step = 0; step < STEPS; ++step)
        step_double(&t, &s);
    // The root has no torsion in a wind across it, whatever the state holds: 7.5e-7 a step of codes.
    CHECK_CLOSE((double)theta[0], s.theta[0][0], 2e-4);
    CHECK_CLOSE((double)theta[g.padded], s.theta[0][1], 2e-4);
    free(theta);
    free(before);
    free(omega);
    free(swing);
    free(rate);
    drop(&g);
}

int main(void)
{
    forests_follow_the_walk_up();
    threads_and_calls_change_no_bit();
    packed_motion_goes_round();
    return check_report();
}
