"""step_springs: the twin, closed forms of the discrete spring, the promises of its docstring."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from trees_for_tests import one_branch, random_branches, random_state, zero_state
from windgrove import _kernels, kernels, reference

CLAMPS = ("source", "compensated", "exponential", "none")


def free_decay(branches, theta, dt, steps, **options):
    """Angle about x of a released branch, one value a step, the first the released one."""
    state = zero_state(1)
    state[0][0, 0] = theta
    state[1][:] = state[0]
    angle = [state[0][0, 0]]
    for _ in range(steps):
        kernels.step_springs(*state, **branches, wind=np.zeros((1, 3)), dt=dt, **options)
        angle.append(state[0][0, 0])
    return np.array(angle, dtype=float)


def fitted_map(angle):
    """Trace and determinant of theta[n+2] = trace theta[n+1] - det theta[n], least squares."""
    columns = np.stack([angle[1:-1], -angle[:-2]], axis=1)
    return np.linalg.lstsq(columns, angle[2:], rcond=None)[0]


# -- the twin ----------------------------------------------------------------------------------


@pytest.mark.parametrize("clamp", CLAMPS)
@pytest.mark.parametrize("inertia", [True, False])
@pytest.mark.parametrize("damping_rate", ["relative", "source"])
@pytest.mark.parametrize("torsion", [True, False])
def test_the_kernel_equals_its_twin(clamp, inertia, damping_rate, torsion):
    """Float32 against double. 2e-7 rad is what the state itself is rounded to; the inertia
    multiplies it by the lever over the arm, up to 40 in these trees: 5e-5 (2e-5 seen)."""
    n = 37
    branches = random_branches(n, seed=3)
    if clamp == "none":
        branches["stiffness"] *= 0.01  # within the explicit limit, so that one step stays small
    wind = (np.random.default_rng(5).normal(size=(n, 3)) * 5).astype(np.float32)
    state = random_state(n, seed=4)
    twin = [array.astype(float) for array in state]
    options = {"clamp": clamp, "inertia": inertia}
    options |= {"damping_rate": damping_rate, "torsion": torsion}
    kernels.step_springs(*state, **branches, wind=wind, dt=1 / 30, **options)
    reference.step_springs(*twin, **branches, wind=wind, dt=1 / 30, **options)
    bound = 5e-5 if inertia else 2e-6
    for seen, expected in zip(state, twin, strict=True):
        assert_allclose(seen, expected, rtol=1e-6, atol=bound)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 64, 301])
def test_twenty_steps_of_any_size_of_tree_follow_the_twin(n):
    """Errors of single steps add up along the chain of ancestors: 2e-4 rad after 20 steps with
    angles up to a radian."""
    branches = random_branches(n, seed=n, arity=max(6, n // 2))
    branches["damping"] += 0.3 * np.sqrt(branches["mass"] * branches["stiffness"])
    state = random_state(n, seed=n + 1, angle=0.1, step=0.002, rate=0.1)
    twin = [array.astype(float) for array in state]
    rng = np.random.default_rng(n)
    for _ in range(20 if n < 100 else 3):
        wind = (rng.normal(size=(n, 3)) * 2).astype(np.float32)
        kernels.step_springs(*state, **branches, wind=wind, dt=1 / 30)
        reference.step_springs(*twin, **branches, wind=wind, dt=1 / 30)
    assert_allclose(state[0], twin[0], atol=2e-4)


def test_every_instruction_set_gives_the_same_bits(instruction_sets):
    n, results = 83, []
    branches = random_branches(n, seed=1)
    wind = np.random.default_rng(2).normal(size=(n, 3)) * 20
    for isa in instruction_sets:
        _kernels.force_isa(isa)
        state = random_state(n, seed=3, angle=1.5)
        for clamp in CLAMPS[:3]:
            kernels.step_springs(*state, **branches, wind=wind, dt=1 / 30, clamp=clamp)
        results.append(state)
    for other in results[1:]:
        for scalar, vector in zip(results[0], other, strict=True):
            assert_array_equal(scalar, vector)


@pytest.mark.parametrize("threads", [2, 3, 64])
def test_the_thread_count_changes_no_bit(threads):
    n = 1500
    branches = random_branches(n, seed=1)
    wind = np.random.default_rng(2).normal(size=(n, 3)) * 5
    one, many = random_state(n, seed=3), random_state(n, seed=3)
    for _ in range(4):
        kernels.step_springs(*one, **branches, wind=wind, dt=1 / 30)
        kernels.step_springs(*many, **branches, wind=wind, dt=1 / 30, threads=threads)
    for a, b in zip(one, many, strict=True):
        assert_array_equal(a, b)


# -- closed forms of one spring ----------------------------------------------------------------

# f0 (Hz), zeta, and what the eigenvalues of the clamped step predict at dt = 1/30: kappa, gamma,
# damped frequency (Hz), damping ratio. Computed from trace 2 - kappa - gamma, det 1 - gamma.
TABLE = [
    (0.3, 0.05, 0.00395, 0.00628, 0.3001, 0.0501),
    (1.0, 0.05, 0.04386, 0.02094, 1.0059, 0.0502),
    (2.0, 0.10, 0.17546, 0.08378, 2.0492, 0.1014),
    (4.0, 0.05, 0.70184, 0.08378, 4.2190, 0.0494),
    (8.0, 0.05, 1.0, 0.16755, 5.2382, 0.0833),
    (15.0, 0.05, 1.0, 0.31416, 5.4616, 0.1626),
]


@pytest.mark.parametrize(("f0", "zeta", "kappa", "gamma", "f", "ratio"), TABLE)
def test_a_free_spring_follows_the_eigenvalues_of_the_clamped_step(
    f0, zeta, kappa, gamma, f, ratio
):
    dt = 1 / 30
    angle = free_decay(one_branch(f0, zeta), 0.1, dt, steps=60)
    trace, det = fitted_map(angle)
    k = min(1.0, (2 * np.pi * f0 * dt) ** 2)
    g = min(1.0, 2 * zeta * 2 * np.pi * f0 * dt)
    assert_allclose([k, g], [kappa, gamma], atol=5e-6)
    # 60 rounded angles decide two numbers: 1e-5 (3e-7 seen).
    assert_allclose([trace, det], [2 - k - g, 1 - g], atol=1e-5)
    sigma = -np.log(det) / (2 * dt)
    damped = np.arccos(trace / (2 * np.sqrt(det))) / (2 * np.pi * dt)
    assert_allclose(damped, f, atol=5.1e-5)  # the table has four decimals
    assert_allclose(sigma / np.hypot(sigma, 2 * np.pi * damped), ratio, atol=6e-5)


def test_a_spring_at_both_clamps_is_dead_beat_in_two_steps():
    angle = free_decay(one_branch(100.0, 0.1), 0.3, 1 / 30, steps=3)
    assert_allclose(angle[1:], 0, atol=1e-7)


def test_from_rest_one_step_never_overshoots():
    for f0 in (0.1, 1, 4, 5, 20, 300):
        angle = free_decay(one_branch(f0, 0.05), 0.5, 1 / 30, steps=1)
        assert angle[1] >= -1e-7


@pytest.mark.parametrize("f0", [0.2, 1.8, 4.0, 20.0])
@pytest.mark.parametrize("zeta", [0.0, 0.1, 1.0, 3.0])
def test_the_exponential_step_is_the_exact_solution_at_any_dt(f0, zeta):
    """theta(t) from theta(0) = 0.3 at rest. Rounding of the state once a step: 2e-6 rad."""
    w, dt, steps = 2 * np.pi * f0, 1 / 30, 40
    angle = free_decay(one_branch(f0, zeta), 0.3, dt, steps=steps, clamp="exponential")
    t = dt * np.arange(steps + 1)
    root = np.sqrt(complex(zeta**2 - 1))
    if root == 0:
        exact = 0.3 * np.exp(-w * t) * (1 + w * t)
    else:
        a, b = w * (-zeta + root), w * (-zeta - root)
        exact = 0.3 * ((a * np.exp(b * t) - b * np.exp(a * t)) / (a - b)).real
    assert_allclose(angle, exact, atol=2e-6 * (1 + w * dt * 5))


@pytest.mark.parametrize(
    ("clamp", "inflation"),
    [("source", (2 * np.pi * 8 / 30) ** 2), ("compensated", 1), ("exponential", 1)],
)
def test_the_static_angle_is_inflated_by_the_plain_clamp_alone(clamp, inflation):
    """k theta = d v cos(theta) for a steady wind across; 8 Hz at 1/30 s: 2.8 times too much."""
    branches = one_branch(8.0, 0.05, drag=1.0)
    speed = 2.0
    state = zero_state(1)
    for _ in range(400):
        kernels.step_springs(*state, **branches, wind=[[speed, 0, 0]], dt=1 / 30, clamp=clamp)
    theta = state[0][0, 1]
    expected = inflation * speed * np.cos(theta) / branches["stiffness"][0]
    assert_allclose(theta, expected, rtol=2e-6)


def test_without_damping_the_invariant_of_the_step_does_not_drift():
    """Q = y^2 + kappa theta^2 - kappa theta y, y = dt omega, kept by the linear map; rounding of
    each of 3000 steps to 6e-8: a random walk of 3e-6, with a bias of at most 6e-8 a step."""
    dt, f0 = 1 / 30, 1.0
    branches, kappa = one_branch(f0, 0.0), (2 * np.pi * f0 * dt) ** 2
    state = zero_state(1)
    state[0][0, 0] = 0.2

    def invariant():
        theta, y = float(state[0][0, 0]), dt * float(state[2][0, 0])
        return y * y + kappa * theta * theta - kappa * theta * y

    first = invariant()
    for _ in range(3000):
        kernels.step_springs(*state, **branches, wind=np.zeros((1, 3)), dt=dt)
    assert abs(invariant() / first - 1) < 4e-4


# -- inertia -----------------------------------------------------------------------------------


def test_a_map_that_saw_its_own_rotation_would_be_unstable_for_every_stiffness():
    """Roots of z^3 + (kappa+gamma-1) z^2 - z + (1-gamma): P(-1) = kappa > 0 and P(-inf) < 0, so
    one lies below -1. With the own rotation held they are those of the free spring."""
    for kappa in np.geomspace(1e-4, 1, 9):
        for gamma in (0.0, 1e-3, 0.2, 1.0):
            with_own = np.roots([1, kappa + gamma - 1, -1, 1 - gamma])
            held = np.roots([1, kappa + gamma - 2, 1 - gamma])
            assert np.abs(with_own).max() > 1
            assert min(with_own.real) < -1
            assert np.abs(held).max() <= 1 + 1e-12


def trunk_and_leaf(kappa, gamma, dt):
    """A rigid, still trunk and one branch with the given discrete stiffness and damping."""
    mass = np.ones(2)
    return {
        "position": np.array([[0, 0, 0], [0, 0, 5.0]]),
        "direction": np.array([[0, 0, 1.0], [1.0, 0, 0]]),
        "length": np.array([6.0, 1.0]),
        "parent": np.array([-1, 0]),
        "mass": mass,
        "stiffness": kappa * mass / dt**2,
        "damping": gamma * mass / dt,
        "drag": np.zeros(2),
    }


@pytest.mark.parametrize(("kappa", "gamma"), [(0.2, 0.05), (1.0, 0.2), (1.0, 1.0)])
def test_the_step_itself_shows_that_instability_and_the_held_rotation_cures_it(kappa, gamma):
    dt, sizes = 1 / 30, {True: [], False: []}
    branches = trunk_and_leaf(kappa, gamma, dt)
    predicted = np.abs(np.roots([1, kappa + gamma - 1, -1, 1 - gamma])).max()
    for held in (True, False):
        state = [array.astype(float) for array in zero_state(2)]
        state[0][1, 1] = 1e-6
        for _ in range(160):
            reference.step_springs(
                *state, **branches, wind=np.zeros((2, 3)), dt=dt, damping_rate="source",
                own_rotation_held=held,
            )  # fmt: skip
            sizes[held].append(np.abs(state[0][1, 1]))
    assert max(sizes[True][-5:]) < 0.5e-6
    growing = sizes[False]
    linear = next(i for i, size in enumerate(growing) if size > 1e-3)
    assert_allclose(growing[linear] / growing[linear - 1], predicted, rtol=1e-2)


def test_a_branch_at_rest_on_a_still_trunk_is_not_corrected():
    """With all ancestors still the correction is exactly the identity, whatever their pose."""
    n = 40
    branches = random_branches(n, seed=8)
    with_inertia, without = random_state(n, seed=9), random_state(n, seed=9)
    with_inertia[1][:] = with_inertia[0]
    without[1][:] = without[0]
    wind = np.random.default_rng(1).normal(size=(n, 3))
    kernels.step_springs(*with_inertia, **branches, wind=wind, dt=1 / 30)
    kernels.step_springs(*without, **branches, wind=wind, dt=1 / 30, inertia=False)
    assert_allclose(with_inertia[0], without[0], atol=1e-6)
    assert_array_equal(with_inertia[2], without[2])


# -- exactness, invariance, bad input ----------------------------------------------------------


@pytest.mark.parametrize("clamp", CLAMPS)
def test_zero_wind_is_the_rest_pose_exactly(clamp):
    n = 50
    state = zero_state(n)
    for _ in range(10):
        kernels.step_springs(
            *state, **random_branches(n, 2), wind=np.zeros((n, 3)), dt=1 / 30, clamp=clamp
        )
    for array in state:
        assert not array.any()


def test_reversed_wind_gives_the_mirrored_motion():
    """theta, omega, wind -> negative is a symmetry for a branch along an axis mirrored with it:
    here a single upright branch, whose motion about x and y changes sign exactly."""
    branches = one_branch(0.5, 0.1, drag=2.0)
    forward, backward = zero_state(1), zero_state(1)
    rng = np.random.default_rng(3)
    for _ in range(50):
        wind = np.array([[*rng.normal(size=2), 0]])
        kernels.step_springs(*forward, **branches, wind=wind, dt=1 / 30)
        kernels.step_springs(*backward, **branches, wind=-wind, dt=1 / 30)
    assert_array_equal(forward[0][:, :2], -backward[0][:, :2])


def test_torsion_off_leaves_no_twist_about_the_rest_direction():
    n = 60
    branches = random_branches(n, seed=5)
    state = random_state(n, seed=6)
    kernels.step_springs(
        *state, **branches, wind=np.ones((n, 3)), dt=1 / 30, torsion=False, clamp="compensated"
    )
    twist = (state[0] * branches["direction"]).sum(axis=1)
    assert_allclose(twist, 0, atol=1e-6)  # angles up to pi, float32


def test_angles_beyond_pi_are_the_same_rotation_and_come_back_in_the_principal_range():
    n = 20
    branches = random_branches(n, seed=5)
    inside, beyond = random_state(n, seed=6), random_state(n, seed=6)
    angle = np.linalg.norm(inside[0], axis=1, keepdims=True)
    beyond[0] *= (angle + 2 * np.pi) / angle
    beyond[1][:] = inside[1]
    branches["stiffness"][:] = 0  # or the spring would pull harder on the longer vector
    for state in (inside, beyond):
        kernels.step_springs(*state, **branches, wind=np.ones((n, 3)), dt=1 / 30)
    assert_allclose(beyond[0], inside[0], atol=2e-5)  # 2 pi + 0.4 has an ulp of 5e-7
    assert np.linalg.norm(beyond[0], axis=1).max() <= np.pi + 1e-6


def test_nan_in_one_row_of_wind_stops_with_that_branch_and_reaches_no_other():
    n = 30
    branches = random_branches(n, seed=1)
    wind = np.ones((n, 3))
    clean, spoilt = random_state(n, seed=2), random_state(n, seed=2)
    kernels.step_springs(*clean, **branches, wind=wind, dt=1 / 30)
    wind[11, 1] = np.nan
    with pytest.raises(wg.Diverged, match="branch 11: wind") as caught:
        kernels.step_springs(*spoilt, **branches, wind=wind, dt=1 / 30)
    assert caught.value.branch == 11
    others = np.arange(n) != 11
    assert_array_equal(clean[0][others], spoilt[0][others])
    assert np.isnan(spoilt[0][11]).all()


def test_overflow_is_reported_as_divergence():
    branches = one_branch(1.0, 0.1, drag=1e30)
    with pytest.raises(wg.Diverged, match=r"rotation|angular_velocity"):
        state = zero_state(1)
        kernels.step_springs(*state, **branches, wind=[[1e30, 0, 0]], dt=1 / 30)


def test_inputs_of_any_layout_are_converted_and_not_changed():
    n = 12
    branches = random_branches(n, seed=1)
    wide = np.zeros((n, 6))
    wide[:, ::2] = 1.5
    wind = wide[:, ::2]
    wind.flags.writeable = False
    a, b = random_state(n, seed=2), random_state(n, seed=2)
    kernels.step_springs(*a, **branches, wind=wind, dt=1 / 30)
    as_lists = {name: np.asarray(value).tolist() for name, value in branches.items()}
    kernels.step_springs(*b, **as_lists, wind=np.full((n, 3), 1.5, dtype=np.float32), dt=1 / 30)
    assert_array_equal(a[0], b[0])
    assert wind.base is not None and (wind == 1.5).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"mass": np.zeros(4)}, ValueError, "mass: branch 0"),
        ({"stiffness": [1, 1, -1, 1]}, ValueError, "stiffness: branch 2"),
        ({"drag": [1, np.nan, 1, 1]}, ValueError, "drag: not finite"),
        ({"length": [1, 1, 1, 0]}, ValueError, "length: branch 3"),
        ({"parent": [-1, 0, 2, 1]}, ValueError, "parent: branch 2"),
        ({"parent": [-1, 0, 0.5, 1]}, TypeError, "parent: expected integers"),
        ({"direction": np.ones((4, 3))}, ValueError, "direction: branch 0"),
        ({"wind": np.zeros((3, 3))}, ValueError, "wind: expected shape"),
        ({"dt": 0}, ValueError, "dt: expected a number above 0"),
        ({"dt": np.nan}, ValueError, "dt: expected a finite"),
        ({"clamp": "hard"}, ValueError, "clamp: expected one of"),
        ({"damping_rate": "none"}, ValueError, "damping_rate: expected one of"),
        ({"threads": 0}, ValueError, "threads"),
    ],
)
def test_bad_input_names_the_argument_and_writes_nothing(change, error, message):
    state = random_state(4, seed=1)
    before = [array.copy() for array in state]
    arguments = dict(random_branches(4, seed=1), wind=np.zeros((4, 3)), dt=1 / 30) | change
    with pytest.raises(error, match=message):
        kernels.step_springs(*state, **arguments)
    for array, old in zip(state, before, strict=True):
        assert_array_equal(array, old)


def test_a_state_that_cannot_be_written_in_place_is_refused():
    arguments = dict(random_branches(4, seed=1), wind=np.zeros((4, 3)), dt=1 / 30)
    for spoil, error, message in [
        (lambda a: a.astype(float), TypeError, "expected dtype float32"),
        (lambda a: a[:3], ValueError, "expected shape"),
        (lambda a: np.asfortranarray(a), ValueError, "C-ordered"),
        (lambda a: a.tolist(), TypeError, "expected a NumPy array"),
    ]:
        for position, name in enumerate(("rotation", "previous_rotation", "angular_velocity")):
            state = random_state(4, seed=1)
            state[position] = spoil(state[position])
            with pytest.raises(error, match=f"^{name}: .*{message}"):
                kernels.step_springs(*state, **arguments)
    state = random_state(4, seed=1)
    state[0].flags.writeable = False
    with pytest.raises(ValueError, match="rotation: the array is read-only"):
        kernels.step_springs(*state, **arguments)
    with pytest.raises(ValueError, match="shares memory"):
        shared = random_state(4, seed=1)
        kernels.step_springs(shared[0], shared[0], shared[2], **arguments)


# -- frames ------------------------------------------------------------------------------------


def make_tree(n, seed):
    branches = random_branches(n, seed)
    return wg.Tree(
        position=branches["position"], direction=branches["direction"], length=branches["length"],
        parent=branches["parent"], volume=np.ones(n), area=np.zeros(n), kind=np.ones(n),
    )  # fmt: skip


def test_rotation_frames_equal_their_twin():
    tree = make_tree(40, seed=3)
    rotation = np.random.default_rng(1).normal(size=(40, 3))
    seen, expected = (
        kernels.rotation_frames(tree, rotation),
        reference.rotation_frames(tree, rotation),
    )
    sign = np.sign((seen.rotation * expected.rotation).sum(axis=1))[:, None]
    assert_allclose(seen.rotation, sign * expected.rotation, atol=1e-12)
    assert_allclose(seen.pivot, expected.pivot, atol=1e-12)
    poses = kernels.rotation_frames(tree, np.stack([rotation, rotation * 0]))
    assert_array_equal(poses.pivot[0], seen.pivot)
    assert_allclose(poses.pivot[1], tree.position, atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 1e-3, 1.0, 3.0, np.pi - 1e-6, np.pi])
def test_quaternions_round_trip_at_tiny_and_near_pi_angles(angle):
    axis = np.array([0.36, -0.48, 0.8])
    tree = make_tree(1, seed=1)
    q = kernels.rotation_frames(tree, [angle * axis]).rotation[0]
    for sign in (1, -1):  # q and -q are one rotation
        sine = np.linalg.norm(q[1:])
        back = 2 * np.arctan2(sine, q[0]) * (q[1:] / sine if sine else q[1:])
        assert_allclose(back, angle * axis, atol=1e-15 + 1e-12 * angle)
        assert_allclose(
            reference.sway.vector_from_matrix(reference.sway.matrix_from_vector(angle * axis)),
            angle * axis if angle < np.pi else sign * angle * axis * np.sign(back @ axis) * sign,
            atol=1e-9,
        )


@pytest.mark.parametrize("angle", [1e-6, 1e-3, 0.5, 2.0, 3.0, 3.1415])
def test_a_free_rotation_keeps_its_angle_through_the_kernel_quaternions(angle):
    """No force: the kernel only turns the vector into a quaternion and back. 3e-7 of the angle,
    the error its polynomials state."""
    branches = one_branch(1.0, 0.0)
    branches["stiffness"][:] = 0
    state = zero_state(1)
    state[0][0] = np.float32(angle) * np.array([0.36, -0.48, 0.8], dtype=np.float32)
    before = state[0].copy()
    kernels.step_springs(*state, **branches, wind=np.zeros((1, 3)), dt=1 / 30, torsion=True)
    assert_allclose(state[0], before, rtol=6e-7)
