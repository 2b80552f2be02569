"""Sway and simulate: the same springs as the kernel, many trees, records, errors."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from trees_for_tests import sapling, sturdy
from windgrove import _kernels, kernels
from windgrove.sway import feed


class Shear:
    """A user's own wind: anything with sample."""

    def sample(self, points, time=None):
        x, _, z = np.asarray(points).T
        return np.stack([z + np.sin(time + x), 0.5 * np.cos(time) + 0 * x, 0 * x], axis=1)


class Counting:
    """A wind that steps, in closed form, with a record of how it was used."""

    def __init__(self, dt):
        self.dt, self.steps, self.foci = dt, 0, []

    @property
    def time(self):
        return self.steps * self.dt

    def step(self, focus=None):
        self.steps += 1
        self.foci.append(focus)

    def sample(self, points, time=None):
        assert time is None
        return np.tile([self.time, 0.0, 0.0], (len(points), 1))


def run_kernel(tree, species, velocity, steps, dt, **options):
    """The same run by the kernel alone, one call a step."""
    p = wg.branch_parameters(tree, species)
    state = [np.zeros((len(tree), 3), np.float32) for _ in range(3)]
    for _ in range(steps):
        kernels.step_springs(
            *state, position=tree.position, direction=tree.direction, length=tree.length,
            parent=tree.parent, mass=p.mass, stiffness=p.stiffness, damping=p.damping,
            drag=p.drag, wind=np.tile(velocity, (len(tree), 1)), dt=dt, **options,
        )  # fmt: skip
    return state


@pytest.mark.parametrize("clamp", ["source", "compensated", "exponential"])
@pytest.mark.parametrize("torsion", [True, False])
def test_a_run_in_c_has_the_bits_of_the_kernel(clamp, torsion):
    tree, species = sapling(60), sturdy()
    sway = wg.Sway(tree, species, noise=0, clamp=clamp, torsion=torsion)
    sway.step(wg.UniformWind((4, 1, 0)), dt=1 / 30, steps=40)
    state = run_kernel(tree, species, (4, 1, 0), 40, 1 / 30, clamp=clamp, torsion=torsion)
    for seen, expected in zip(sway.state(0), state, strict=True):
        assert_array_equal(seen, expected)


def test_still_air_is_the_rest_pose_exactly():
    sway = wg.Sway(sapling(40), sturdy(), at=[(0, 0, 0), (5, 0, 0)])
    for wind in (None, wg.UniformWind((0, 0, 0))):
        ds = wg.simulate(sway, wind, duration=1.0)
        assert ds.sizes["time"] == 31 and not ds.rotation.values.any()


def test_a_lone_tree_has_the_bits_it_has_in_a_forest():
    tree, species = sapling(50), sturdy()
    places = [(3.0 * i, 2.0 * (i % 4), 0.0) for i in range(11)]
    turns = np.linspace(0, 3, 11)
    forest = wg.Sway(tree, species, at=places, turn=turns)
    forest.step(Shear(), steps=20)
    for i in (0, 5, 10):
        lone = wg.Sway(tree, species, at=[places[i]], turn=turns[i])
        lone.step(Shear(), steps=20)
        assert_array_equal(lone.rotation[0], forest.rotation[i])


@pytest.mark.parametrize("count", [3, 4, 8, 9])
@pytest.mark.parametrize("clamp", ["source", "exponential"])
def test_variants_by_themselves_have_the_bits_they_have_side_by_side(count, clamp):
    """Lanes of instances against lanes of branches, with own springs, records and sums."""
    from windgrove.sway.measure import measure

    tree = sapling(61)
    variants = [sturdy(beta=1e5 * (i + 1)) for i in range(count)]
    wind = wg.UniformWind((5, 1, 0), profile="power", exponent=0.2)
    together = wg.Sway(tree, variants, clamp=clamp, torsion=False)
    sums = measure(together, wind, duration=1.0, branches=[0, 7])
    channels = ["rotation", "angular_velocity", "wind", "torque", "tip"]
    recorded = wg.simulate(together, wind, duration=0.3, channels=channels)
    for i, species in enumerate(variants):
        alone = wg.Sway(tree, species, clamp=clamp, torsion=False)
        own = measure(alone, wind, duration=1.0, branches=[0, 7])
        assert_array_equal(own.sum_square[0], sums.sum_square[i])
        assert_array_equal(own.peak[0], sums.peak[i])
        assert_array_equal(own.series[:, 0], sums.series[:, i])
        ds = wg.simulate(alone, wind, duration=0.3, channels=channels)
        for name in channels:
            assert_array_equal(ds[name].values[:, 0], recorded[name].values[:, i])


def test_a_tree_that_diverges_in_a_vector_does_not_disturb_the_others():
    from windgrove.sway.measure import measure

    tree = sapling(30)
    p = wg.branch_parameters(tree, sturdy())
    names = ("mass", "stiffness", "damping", "drag")
    columns = {k: np.stack([getattr(p, k)] * 8) for k in names}
    columns["drag"][[1, 6]] *= 1e38
    sway = wg.Sway(tree, sturdy(), parameters=columns)
    wind = wg.GustWind((0, 0, 0), shape="step", amplitude=5, start=0.49)
    seen = measure(sway, wind, duration=2.0, branches=[0])
    alone = wg.Sway(tree, sturdy())
    own = measure(alone, wind, duration=2.0, branches=[0])
    for i in range(8):
        if i in (1, 6):
            assert np.isnan(seen.series[16:, i]).all() and np.isfinite(seen.series[:15, i]).all()
            continue
        assert_array_equal(seen.sum_square[i], own.sum_square[0])
        assert_array_equal(seen.series[:, i], own.series[:, 0])


def test_the_order_of_the_trees_changes_nothing():
    tree, other, species = sapling(50), sapling(33, seed=5), sturdy()
    places = np.array([(3.0 * i, 2.0 * (i % 4), 0.0) for i in range(9)])
    trees = [tree if i % 3 else other for i in range(9)]
    order = np.random.default_rng(1).permutation(9)
    straight = wg.Sway(trees, species, at=places)
    shuffled = wg.Sway([trees[i] for i in order], species, at=places[order])
    for sway in (straight, shuffled):
        sway.step(wg.UniformWind((5, 0, 0)), steps=30)
    assert_array_equal(shuffled.rotation, straight.rotation[order])


@pytest.mark.parametrize("threads", [2, 5])
def test_the_thread_count_changes_no_bit(threads):
    results = []
    for count in (1, threads):
        at = [(2.0 * i, 0, 0) for i in range(23)]
        sway = wg.Sway(sapling(40), sturdy(), at=at, threads=count)
        sway.step(wg.GustWind((5, 0, 0), shape="periodic", amplitude=2, frequency=0.5), steps=30)
        results.append(sway.rotation)
    assert_array_equal(*results)


def test_how_steps_are_grouped_changes_no_bit():
    wind = wg.GustWind((5, 0, 0), shape="periodic", amplitude=2, frequency=0.5)
    once, often = (wg.Sway(sapling(40), sturdy()) for _ in range(2))
    once.step(wind, steps=60)
    for steps in (1, 7, 22, 30):
        often.step(wind, steps=steps)
    assert_array_equal(once.rotation, often.rotation)
    assert once.time == often.time == 60 * (1 / 30)


@pytest.mark.parametrize("drag_law", ["linear", "quadratic", -0.6])
def test_every_instruction_set_gives_the_same_bits(instruction_sets, drag_law):
    results = []
    for isa in instruction_sets:
        _kernels.force_isa(isa)
        sway = wg.Sway(sapling(40), sturdy(), drag_law=drag_law)
        sway.step(wg.UniformWind((5, 2, 0), profile="power", exponent=0.2), steps=30)
        results.append(sway.rotation)
    for other in results[1:]:
        assert_array_equal(other, results[0])


def test_a_prevailing_wind_with_a_profile_is_sampled_at_the_centres_of_mass():
    """The C core's own sampling against the wind's, once a frame from Python."""

    class Sampled:
        def __init__(self, wind):
            self.sample = wind.sample

    wind = wg.UniformWind((6, 1, 0), profile="power", exponent=0.25)
    results = []
    for source in (wind, Sampled(wind)):
        sway = wg.Sway(sapling(60), sturdy(), at=[(1, 2, 0.5)], turn=0.7, scale=1.3)
        sway.step(source, steps=30)
        results.append(sway.rotation)
    assert_allclose(*results, atol=2e-6)  # float32 places and velocities (3e-7 seen)


@pytest.mark.parametrize("heading", [0.3, 2.0, 4.0])
def test_turning_tree_and_wind_together_changes_nothing(heading):
    """Same response in the tree's axes; float32 turns of the wind: 2e-6 rad."""
    tree, species = sapling(60), sturdy()
    wind = np.array([5.0, 1.0, 0.0])
    c, s = np.cos(heading), np.sin(heading)
    turned = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ wind
    straight, other = wg.Sway(tree, species), wg.Sway(tree, species, turn=heading)
    straight.step(wg.UniformWind(wind), steps=60)
    other.step(wg.UniformWind(turned), steps=60)
    assert_allclose(other.rotation, straight.rotation, atol=5e-6)


@pytest.mark.parametrize("heading", np.arange(8) * np.pi / 4)
@pytest.mark.parametrize("drag_law", ["linear", "quadratic", -0.7])
def test_the_tip_follows_the_wind(heading, drag_law):
    tree, species = sapling(60), sturdy()
    direction = np.array([np.cos(heading), np.sin(heading), 0])
    sway = wg.Sway(tree, species, drag_law=drag_law)
    ds = wg.simulate(sway, wg.UniformWind(6 * direction), duration=5, channels=["tip"])
    top = int(np.argmax(tree.tip[:, 2]))
    moved = ds.tip[:, 0, top].values - ds.tip[0, 0, top].values
    assert (moved[30:] @ direction).mean() > 0
    assert (ds.tip[:, 0].mean("branch") - ds.tip[0, 0].mean("branch")).values[60:].mean(
        axis=0
    ) @ direction > 0


def test_drag_laws_agree_at_the_reference_speed_and_scale_as_they_say():
    tree, species = sapling(30), sturdy()

    def first_rate(law, speed):
        sway = wg.Sway(tree, species, noise=0, drag_law=law, reference_speed=8.0)
        sway.step(wg.UniformWind((speed, 0, 0)))
        return sway.angular_velocity[0]

    linear = first_rate("linear", 8.0)
    for law in ("quadratic", -0.5, 0.25, -1.0):
        assert_allclose(first_rate(law, 8.0), linear, rtol=2e-6)
    for law, power in (("quadratic", 2), (-0.5, 1.5), (-1.0, 1.0), (-2.0, 0.0)):
        assert_allclose(first_rate(law, 16.0), linear * 2**power, rtol=2e-6)


def test_the_noise_turns_the_wind_by_at_most_its_amplitude_and_never_wears_out():
    sway = wg.Sway(sapling(20), sturdy(), noise=0.4)
    ds = wg.simulate(sway, wg.UniformWind((5, 0, 0)), duration=20, channels=["wind"])
    wind = ds.wind[1:, 0].values
    angle = np.arctan2(wind[..., 1], wind[..., 0])
    assert np.abs(angle).max() <= 0.4 + 1e-6 and angle.std() > 0.05
    assert_allclose(np.linalg.norm(wind, axis=-1), 5, rtol=1e-5)
    assert not wind[..., 2].any()
    late = wg.Sway(sapling(20), sturdy(), noise=0.4)
    late._base_time = 3e7  # a year
    ds = wg.simulate(late, wg.UniformWind((5, 0, 0)), duration=20, channels=["wind"])
    wind = ds.wind[1:, 0].values
    late_angle = np.arctan2(wind[..., 1], wind[..., 0])
    # As smooth as at the start: the mean change a frame is the same.
    assert_allclose(
        np.abs(np.diff(late_angle, axis=0)).mean(), np.abs(np.diff(angle, axis=0)).mean(), rtol=0.2
    )


def test_trees_at_different_places_do_not_sway_in_unison():
    """Cross-correlation of the noise's own angle: independent, so |r| about 1/sqrt(periods)."""
    at = [(4.0 * i, 0, 0) for i in range(8)]
    sway = wg.Sway(sapling(20), sturdy(), at=at)
    ds = wg.simulate(sway, wg.UniformWind((6, 0, 0)), duration=60, branches=[0])
    cross = ds.rotation[300:, :, 0, 0].values  # about x: across the wind
    r = np.corrcoef(cross.T)[np.triu_indices(8, 1)]
    assert np.abs(r).mean() < 0.35 and r.max() < 0.9


def test_variants_are_instances_with_their_own_parameters():
    tree = sapling(30)
    variants = [sturdy(beta=b) for b in (1e5, 2e5, 4e5)]
    sway = wg.Sway(tree, variants)
    assert len(sway) == 3 and len(sway.groups) == 1
    sway.step(wg.UniformWind((5, 0, 0)), steps=30)
    for i, species in enumerate(variants):
        alone = wg.Sway(tree, species)
        alone.step(wg.UniformWind((5, 0, 0)), steps=30)
        assert_array_equal(sway.rotation[i], alone.rotation[0])
    p = [wg.branch_parameters(tree, s) for s in variants]
    columns = {
        k: np.stack([getattr(q, k) for q in p]) for k in ("mass", "stiffness", "damping", "drag")
    }
    given = wg.Sway(tree, variants[0], parameters=columns)
    given.step(wg.UniformWind((5, 0, 0)), steps=30)
    assert_allclose(given.rotation, sway.rotation, atol=1e-6)


def test_trees_come_and_go_and_the_others_do_not_notice():
    species, wind = sturdy(), wg.UniformWind((5, 0, 0))
    trees = [sapling(20), sapling(33, seed=2)]
    sway = wg.Sway([trees[0], trees[1], trees[0]], species, at=[(0, 0, 0), (4, 0, 0), (8, 0, 0)])
    calm = wg.Sway([trees[0], trees[1], trees[0]], species, at=[(0, 0, 0), (4, 0, 0), (8, 0, 0)])
    sway.step(wind, steps=10)
    calm.step(wind, steps=10)
    added = sway.add(trees[1], species, at=[(12, 0, 0), (16, 0, 0)])
    assert added.tolist() == [3, 4] and not np.nan_to_num(sway.rotation[3:]).any()
    sway.step(wind, steps=10)
    calm.step(wind, steps=10)
    assert_array_equal(sway.rotation[:3], calm.rotation)
    sway.remove([0, 3])
    assert len(sway) == 3 and sway.at[:, 0].tolist() == [4, 8, 16]
    sway.step(wind, steps=10)
    calm.step(wind, steps=10)
    assert_array_equal(sway.rotation[:2], calm.rotation[1:])
    sway.remove([0, 1, 2])
    assert len(sway) == 0 and sway.groups == ()
    sway.step(wind)
    with pytest.raises(ValueError, match="sway: there is no tree"):
        wg.simulate(sway, wind, duration=1)


def test_the_state_is_live_and_can_be_set():
    sway = wg.Sway(sapling(10), sturdy(), at=[(0, 0, 0), (3, 0, 0)])
    sway.state(1).rotation[0] = (0.1, 0, 0)
    assert sway.rotation[1, 0, 0] == np.float32(0.1) and not sway.rotation[0].any()
    sway.set_state(rotation=(0, 0.2, 0), instance=0)
    assert (sway.state(0).previous_rotation[:, 1] == np.float32(0.2)).all()
    sway.reset()
    assert not sway.rotation.any() and sway.time == 0
    with pytest.raises(ValueError, match="rotation: shape"):
        sway.set_state(rotation=np.zeros((4, 3)))


# -- simulate ----------------------------------------------------------------------------------


def test_a_recording_holds_what_memory_would_and_is_opened_lazily(tmp_path):
    wind = wg.UniformWind((5, 1, 0))
    channels = ["rotation", "angular_velocity", "tip", "wind", "torque"]
    results = []
    for record in (None, tmp_path / "run.h5"):
        sway = wg.Sway([sapling(20), sapling(9, seed=3)], sturdy(), at=[(0, 0, 0), (5, 0, 0)])
        results.append(
            wg.simulate(sway, wind, duration=2.0, channels=channels, record=record, progress=False)
        )
    memory, file = results
    assert memory.sizes == file.sizes == {"time": 61, "instance": 2, "branch": 20, "component": 3}
    for name in [*channels, "time", "frequency", "level", "parent", "length", "place"]:
        assert_array_equal(memory[name].values, file[name].values)
    assert memory.rotation.attrs["units"] == "rad" and file.tip.attrs["units"] == "m"
    assert not memory.rotation[0, 0].values.any()
    assert np.isnan(memory.rotation[:, 1, 9:]).all()
    assert file.attrs["clamp"] == "source" and "sway" in file.attrs["config"]
    file.close()
    assert not (tmp_path / "run.h5.part").exists()


def test_channels_agree_with_the_state_and_the_frames():
    tree = sapling(25)
    sway = wg.Sway(tree, sturdy(), at=[(1, 2, 3)], turn=0.5, scale=2.0)
    channels = ["rotation", "angular_velocity", "tip", "torque", "wind"]
    ds = wg.simulate(sway, wg.UniformWind((5, 1, 0)), duration=1, channels=channels)
    assert_array_equal(ds.rotation[-1, 0], sway.state(0).rotation)
    assert_array_equal(ds.angular_velocity[-1, 0], sway.state(0).angular_velocity)
    # The tip is float32 near 40 m: 4e-6.
    assert_allclose(ds.tip[-1, 0], sway.groups[0].tips()[0], atol=2e-5)
    p = wg.branch_parameters(tree, sturdy())
    frames = kernels.rotation_frames(tree, ds.rotation[-2, 0].values)
    P = np.array([[1, 0, 0, 0] if j < 0 else frames.rotation[j] for j in tree.parent])
    back = P * [1, -1, -1, -1]
    from windgrove.sway.group import rotate

    own = rotate(back, rotate(frames.rotation, tree.direction))
    c, s = np.cos(0.5), np.sin(0.5)
    wind = ds.wind[-1, 0].values @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    torque = p.drag[:, None] * np.cross(own, rotate(back, wind))
    assert_allclose(ds.torque[-1, 0], torque, atol=2e-5 * np.abs(torque).max())


def test_branches_and_frames_can_be_chosen():
    def run(**options):
        sway = wg.Sway(sapling(30), sturdy())
        return wg.simulate(sway, wg.UniformWind((5, 0, 0)), duration=2, **options)

    full, some = run(), run(branches=[7, 3, 3], every=4)
    assert some.branch.values.tolist() == [3, 7] and some.sizes["time"] == 16
    assert_array_equal(some.rotation, full.rotation[::4, :, [3, 7]])
    assert_allclose(some.time, full.time[::4])


def test_a_wind_that_steps_is_stepped_at_its_own_dt_before_the_trees():
    for wind_dt, expected in ((1 / 30, 30), (1 / 60, 60), (1 / 15, 15), (0.3, 3)):
        wind = Counting(wind_dt)
        sway = wg.Sway(sapling(10), sturdy(), noise=0)
        ds = wg.simulate(sway, wind, duration=1.0, dt=1 / 30, channels=["wind"])
        assert wind.steps == expected
        frame = np.arange(1, 31)
        stood = np.floor(frame / 30 / wind_dt + 1e-6) * wind_dt
        assert_allclose(ds.wind[1:, 0, 0, 0], stood, atol=1e-6)
        assert_allclose(wind.foci[0], [0, 0, 0.5 * sway.tree.height])
        wg.simulate(sway, wind, duration=1.0, dt=1 / 30, focus=(1, 2, 3))
        assert wind.steps == 2 * expected and wind.foci[-1].tolist() == [1, 2, 3]


def test_the_nested_wind_drives_trees_the_same_from_c_and_from_python():
    class Sampled:
        def __init__(self, wind):
            self.wind, self.dt = wind, wind.dt

        time = property(lambda self: self.wind.time)

        def step(self, focus=None):
            self.wind.step(focus=focus)

        def sample(self, points, time=None):
            return self.wind.sample(points)

    results = []
    for wrap in (lambda w: w, Sampled):
        wind = wg.Wind(
            (5, 1, 0), cells=(16, 16, 8), levels=2, cell_size=0.5, turbulence=0.3, seed=3
        )
        sway = wg.Sway(sapling(40), sturdy(), at=[(0, 0, 0), (1.5, 1, 0), (40, 0, 0)])
        results.append(wg.simulate(sway, wrap(wind), duration=1.0, channels=["rotation", "wind"]))
    # float32 places: 1e-6 m in a gradient of a few m/s per cell.
    assert_allclose(results[0].wind[1:], results[1].wind[1:], atol=5e-5)
    assert_allclose(results[0].rotation, results[1].rotation, atol=2e-5)


@pytest.mark.parametrize("state", ["float32", "packed"])
def test_grids_laid_out_for_many_samples_change_no_bit(state, monkeypatch):
    """Trees at the edges of the grids, upright and tilted: every way of sampling is used."""
    rng = np.random.default_rng(4)
    at = np.column_stack([rng.uniform(-12, 12, (19, 2)), np.zeros(19)])
    turn = rng.uniform(-3, 3, (19, 3)) * (0, 0, 1)
    turn[-3:, 0] = 0.2
    prepared = []
    run = _kernels.wind_cells
    monkeypatch.setattr(_kernels, "wind_cells", lambda *a: (prepared.append(a), run(*a)))
    states = []
    for share in (0.0, np.inf):
        monkeypatch.setattr(feed, "SAMPLES_A_CELL", share)
        wind = wg.Wind(
            (5, 1, 0), cells=(16, 16, 8), levels=2, cell_size=0.5, turbulence=0.3, seed=3
        )
        sway = wg.Sway(sapling(60), sturdy(), at=at, turn=turn, state=state)
        for _ in range(4):
            wind.step()
            sway.step(wind, dt=1 / 30, steps=2)
        states.append((sway.rotation, sway.angular_velocity))
    assert len(prepared) == 2 * 4
    assert_array_equal(states[0], states[1])


def test_substeps_are_smaller_steps():
    tree, species = sapling(30), sturdy()
    fine, coarse = wg.Sway(tree, species, noise=0), wg.Sway(tree, species, noise=0, substeps=4)
    fine.step(wg.UniformWind((5, 0, 0)), dt=1 / 120, steps=120)
    coarse.step(wg.UniformWind((5, 0, 0)), dt=4 / 120, steps=30)
    assert_allclose(fine.rotation, coarse.rotation, atol=1e-6)
    coarse.reset()
    for wind in (Shear(), wg.UniformWind((5, 0, 0))):
        ds = wg.simulate(coarse, wind, duration=0.5, dt=1 / 30)
        assert ds.sizes["time"] == 16
        assert_array_equal(ds.rotation[-1, 0], coarse.rotation[0])


def test_divergence_stops_at_the_step_and_keeps_the_state(tmp_path):
    class Bad(Shear):
        def sample(self, points, time=None):
            values = super().sample(points, time)
            if time > 0.5:
                values[7] = np.nan
            return values

    sway = wg.Sway(sapling(20), sturdy(), at=[(0, 0, 0), (3, 0, 0)])
    with pytest.raises(wg.Diverged, match="instance 0, branch 7") as caught:
        wg.simulate(sway, Bad(), duration=2.0, record=tmp_path / "bad.h5", progress=False)
    assert caught.value.step == 15
    assert np.isnan(sway.state(0).rotation[7]).all()
    assert np.isfinite(sway.state(1).rotation).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with wg.open_recording(tmp_path / "bad.h5") as ds:
            assert ds.sizes["time"] >= 15 and np.isfinite(ds.rotation.values).all()


def test_divergence_in_a_long_call_leaves_all_trees_at_the_same_step():
    tree = sapling(20)
    p = wg.branch_parameters(tree, sturdy())
    columns = {k: np.stack([getattr(p, k)] * 2) for k in ("mass", "stiffness", "damping", "drag")}
    columns["drag"][0] = 0
    at = [(0, 0, 0), (1, 0, 0)]
    wind = wg.GustWind((0, 0, 0), shape="step", amplitude=3e38, start=1.99)
    sway = wg.Sway(tree, sturdy(), at=at, parameters=columns, noise=0)
    sway.set_state(rotation=(0.1, 0, 0))
    with pytest.raises(wg.Diverged, match="instance 1, branch") as caught:
        sway.step(wind, steps=500)
    assert caught.value.step == 59
    other = wg.Sway(tree, sturdy(), at=at[:1], noise=0)
    other.set_state(rotation=(0.1, 0, 0))
    other.step(None, steps=60)
    assert_array_equal(sway.state(0).rotation, other.state(0).rotation)
    assert "stiffness" in str(caught.value)


def test_a_branch_cannot_lock_into_whole_turns_a_step():
    """omega = 2 pi / dt turns by nothing a step; the pull of theta then balances the damping at
    |theta| = 2 pi gamma / kappa, and would for ever."""
    tree = wg.Tree(
        position=[[0, 0, 0]], direction=[[0, 0, 1]], length=[1.0], volume=[0.01], area=[0.0],
        kind=[0], parent=[-1],
    )  # fmt: skip
    dt, gamma = 1 / 30, 0.2
    own = {"mass": [1.0], "stiffness": [1 / dt**2], "damping": [gamma / dt], "drag": [0.0]}
    ends = {}
    for limit in (True, False):
        sway = wg.Sway(tree, sturdy(), parameters=own, limit_turn=limit)
        sway.set_state((-2 * np.pi * gamma, 0, 0), (2 * np.pi / dt, 0, 0))
        sway.step(None, dt=dt, steps=300)
        ends[limit] = float(np.linalg.norm(sway.rotation[0, 0]))
    assert ends[True] < 1e-6 and ends[False] > 1.0


def test_sways_pickle_and_go_on():
    sway = wg.Sway(sapling(20), sturdy(), at=[(0, 0, 0), (5, 0, 0)])
    sway.step(wg.UniformWind((5, 0, 0)), steps=10)
    copy = pickle.loads(pickle.dumps(sway))
    for each in (sway, copy):
        each.step(wg.UniformWind((5, 0, 0)), steps=10)
    assert_array_equal(copy.rotation, sway.rotation)
    assert copy.time == sway.time


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"at": [(0, 0)]}, ValueError, "at: expected shape"),
        ({"at": [(0, 0, np.nan)]}, ValueError, "at: not finite"),
        ({"scale": 0}, ValueError, "scale"),
        ({"noise": -1}, ValueError, "noise"),
        ({"noise": 4}, ValueError, "noise"),
        ({"turn": [[1, 2]]}, ValueError, "turn"),
        ({"turn": [0, 1]}, None, ""),
        ({"at": [(0, 0, 0)] * 3, "turn": [0, 1]}, ValueError, "turn: has 2 entries"),
        ({"clamp": "soft"}, ValueError, "clamp"),
        ({"drag_law": "cubic"}, ValueError, "drag_law"),
        ({"drag_law": 9}, ValueError, "drag_law"),
        ({"substeps": 0}, ValueError, "substeps"),
        ({"state": "float16"}, ValueError, "state"),
        ({"species": "no such tree"}, ValueError, "species"),
        ({"tree": 3}, TypeError, "tree"),
        ({"parameters": {"mass": [1.0]}}, ValueError, "parameters.mass"),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    arguments = {"tree": sapling(10), "species": sturdy()} | change
    if error is None:
        assert len(wg.Sway(**arguments)) == 2
        return
    with pytest.raises(error, match=message):
        wg.Sway(**arguments)


def test_simulate_names_what_it_cannot_use(tmp_path):
    sway = wg.Sway(sapling(10), sturdy())
    wind = wg.UniformWind((5, 0, 0))
    for change, message in [
        ({"duration": -1}, "duration"),
        ({"dt": 0}, "dt"),
        ({"channels": ["theta"]}, "channels"),
        ({"channels": []}, "channels"),
        ({"branches": [99]}, "branches"),
        ({"every": 0}, "every"),
    ]:
        with pytest.raises(ValueError, match=message):
            wg.simulate(sway, wind, **({"duration": 1} | change))
    with pytest.raises(TypeError, match="wind"):
        wg.simulate(sway, 3.0, duration=1)
    with pytest.raises(TypeError, match="sway"):
        wg.simulate(None, wind, duration=1)
    (tmp_path / "there.h5").write_bytes(b"x")
    with pytest.raises(FileExistsError):
        wg.simulate(sway, wind, duration=1, record=tmp_path / "there.h5", overwrite=False)
    assert sway.steps == 0
    big = wg.Sway(sapling(10), sturdy(), at=np.random.default_rng(1).normal(size=(2000, 3)))
    with pytest.raises(ValueError, match=r"record: .* GiB"):
        wg.simulate(big, wind, duration=1e4)


def test_what_a_call_is_made_of_is_made_again_when_dt_wind_or_trees_change():
    """Arguments of the core are kept between calls. A new Sway in the same state has none."""
    tree, slow = sapling(20), wg.UniformWind((0, 4, 0))
    kept = wg.Sway(tree, sturdy(), noise=0.0)
    kept.step(wg.UniformWind((5, 0, 0)), steps=3)
    for change in ("wind", "dt", "trees"):
        if change == "trees":
            kept.add(tree, sturdy(), (3, 0, 0))
        fresh = wg.Sway(tree, sturdy(), kept.at, noise=0.0)
        for i in range(len(kept)):
            theta, before, omega = kept.state(i)
            fresh.set_state(theta, omega, previous_rotation=before, instance=i)
        for sway in (kept, fresh):
            sway.step(slow, dt=1 / 30 if change == "wind" else 1 / 60)
        assert_array_equal(kept.rotation, fresh.rotation)
    again = pickle.loads(pickle.dumps(kept))
    for sway in (kept, again):
        sway.step(slow)
    assert_array_equal(kept.rotation, again.rotation)


@pytest.mark.parametrize(
    ("change", "speed", "dt", "said"),
    [
        ({}, 6, 1.0, r"dt: a step of 1 s .* is the unit s"),
        ({}, 600, 1 / 30, r"wind: 600 m/s is above any storm"),
        ({"trunk": {"zeta": 5.1}}, 6, 1 / 30, r"oak: trunk\.zeta 5\.1 is a ratio"),
        ({"trunk": {"beta": 1.67}}, 6, 1 / 30, r"oak: trunk\.beta 1\.67 .* is the unit SI"),
    ],
)
def test_a_slip_of_a_unit_is_said_before_the_run(change, speed, dt, said):
    tree, species = wg.grow_tree("oak", seed=1), wg.load_species("oak").replace(**change)
    gusts = wg.turbulent_wind((speed, 0, 0), intensity=0.0)
    for wind in (wg.UniformWind((speed, 0, 0)), gusts):
        with pytest.warns(wg.UnusualValue, match=said) as seen:
            wg.simulate(wg.Sway(tree, species), wind, duration=dt, dt=dt, progress=False)
        assert len(seen) == 1 and seen[0].filename == __file__
    # Substeps shorten the step; what is in range runs without a word (warnings are errors here).
    wg.simulate(wg.Sway(tree, "oak", substeps=10), duration=1.0, dt=1.0, progress=False)


def test_a_record_that_does_not_reach_the_tree_in_time_is_said():
    sway = wg.Sway(wg.grow_tree("shrub", seed=1), "shrub")
    small = {"cells": (8, 8, 8), "cell_size": 2.0, "levels": 3, "turbulence": 0.0}
    calm = wg.turbulent_wind((0.8, 0, 0), intensity=0.2)
    # Half of 8 cells of 8 m at 0.8 m/s.
    with pytest.warns(wg.UnusualValue, match=r"about 40 s from the border .* the run is 0\.1 s"):
        wg.simulate(sway, wg.Wind(calm, **small), duration=0.1, progress=False)
    brisk = wg.turbulent_wind((6, 0, 0), intensity=0.2)
    wg.simulate(sway, wg.Wind(brisk, **small), duration=0.1, progress=False)
    wg.simulate(sway, calm, duration=0.1, progress=False)


@pytest.mark.parametrize("state", ["float32", "packed"])
def test_a_pickled_run_goes_on_to_the_last_bit(state):
    tree = wg.grow_tree("birch", seed=1)

    def start():
        wind = wg.Wind((6, 0, 0), cells=(8, 8, 8), cell_size=2.0, levels=2, seed=3)
        return wg.Sway(tree, "birch", at=[(0, 0, 0), (5, 1, 0)], state=state, seed=2), wind

    whole = wg.simulate(*start(), duration=2.0, progress=False).rotation.to_numpy()
    sway, wind = start()
    first = wg.simulate(sway, wind, duration=0.9, progress=False).rotation.to_numpy()
    sway, wind = pickle.loads(pickle.dumps((sway, wind)))
    second = wg.simulate(sway, wind, duration=1.1, progress=False)
    assert float(second.time[0]) == pytest.approx(0.9)
    assert np.array_equal(first, whole[:28])
    assert np.array_equal(second.rotation.to_numpy(), whole[27:])
