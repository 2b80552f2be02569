"""What all rooms refuse in the same words: hostile numbers, arrays, objects, paths and winds."""

import os
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import windgrove as wg
from windgrove import checks, kernels

VELOCITY = np.ones((3, 4, 5, 6), np.float32)
NOT_TREES = [None, "tree", 1.0, [], {}, np.zeros(3)]


@pytest.fixture(scope="module")
def tree():
    return wg.grow_tree("birch", seed=1)


def test_an_integer_beyond_doubles_is_a_value_error():
    with pytest.raises(ValueError, match="dt: expected a finite number"):
        kernels.advect(VELOCITY, VELOCITY, 1.0, 10**400)


def test_arrays_in_place_of_scalars_are_refused_by_name():
    for value in (np.array([1.0, 2.0]), np.array([1.0]), np.zeros(0)):
        with pytest.raises(TypeError, match="dt: expected a number"):
            checks.number(value, "dt")
        with pytest.raises(TypeError, match="threads: expected an integer"):
            checks.threads(value)
        with pytest.raises(ValueError, match="method: expected one of"):
            checks.choice(value, "method", ["a"])
    with pytest.raises(TypeError, match="inertia: expected True or False"):
        checks.flag(np.zeros(2), "inertia")


def test_masked_values_are_never_read():
    masked = np.ma.masked_array(VELOCITY, mask=VELOCITY > 0)
    for call in (
        lambda: kernels.advect(masked, VELOCITY, 1.0, 0.1),
        lambda: kernels.advect(VELOCITY, masked, 1.0, 0.1),
        lambda: kernels.project(masked, 1.0),
        lambda: kernels.sample(masked, (0, 0, 0), 1.0, [[1, 1, 1]]),
    ):
        with pytest.raises(ValueError, match="holds masked values"):
            call()
    with pytest.raises(TypeError, match="out: expected"):
        kernels.advect(VELOCITY, VELOCITY, 1.0, 0.1, out=np.ma.masked_array(VELOCITY.copy()))
    whole = np.ma.masked_array(VELOCITY)
    np.testing.assert_array_equal(kernels.project(whole, 1.0), kernels.project(VELOCITY, 1.0))


@pytest.mark.parametrize("spacing", [5e-324, 1e-30, 1e30, 1e300])
def test_a_spacing_whose_square_float32_does_not_hold_is_refused(spacing):
    for call in (
        lambda: kernels.project(VELOCITY, spacing),
        lambda: kernels.divergence(VELOCITY, spacing),
        lambda: wg.Wind((1, 0, 0), cells=(4, 4, 4), levels=1, cell_size=spacing),
    ):
        with pytest.raises(ValueError, match=r"(spacing|cell_size): expected a number from 1e-09"):
            call()


@pytest.mark.filterwarnings("error")
def test_a_direction_that_overflows_is_refused_without_a_warning():
    with pytest.raises(ValueError, match="direction: row 0 is not a unit vector"):
        kernels.pack_rotation([[0.1, 0, 0]], [[1e300, 0, 0]])


def test_the_warning_of_a_projection_of_nan_does_not_blame_the_iterations():
    with pytest.warns(wg.NotConverged, match="not a number; is the velocity finite"):
        kernels.project(VELOCITY * np.nan, 1.0, method="multigrid", tolerance=1e-3)


@pytest.mark.parametrize("value", NOT_TREES, ids=repr)
def test_what_is_not_a_tree_is_refused_by_name(value, tmp_path):
    for call in (
        lambda: wg.branch_parameters(value, "oak"),
        lambda: wg.natural_frequencies(value, "oak"),
        lambda: wg.realised(value, "oak", 0.03),
        lambda: wg.advise(value, "oak"),
        lambda: wg.packing_error(value, "oak"),
        lambda: wg.add_foliage(value),
        lambda: wg.merge_twigs(value, 10),
        lambda: wg.set_leaf_fraction(value, 0.5),
        lambda: wg.write_tree(value, tmp_path / "t.json"),
        lambda: wg.calibrate(value, "oak", frequency_hz=1),
        lambda: wg.sweep(value, "oak", wind=wg.UniformWind((1, 0, 0)), beta=[1]),
        lambda: kernels.rotation_frames(value, np.zeros((1, 3))),
        lambda: kernels.skin(np.zeros((1, 3)), None, [0], value, np.zeros((1, 3))),
        lambda: wg.plot.tree(value),
    ):
        with pytest.raises(TypeError, match=r"^tree: expected a Tree"):
            call()
    for call in (wg.pull_and_release, wg.step_gust, lambda v: wg.simulate(v, duration=1)):
        with pytest.raises(TypeError, match=r"^sway: expected a Sway"):
            call(value)


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("kind", -1, ValueError),
        ("kind", 0.5, TypeError),
        ("kind", np.nan, TypeError),
        ("parent", -1.5, TypeError),
        ("parent", 1e300, ValueError),
        ("length", 1j, TypeError),
        ("direction", 1e300, ValueError),
    ],
)
def test_a_tree_truncates_no_field_in_silence(tree, field, value, kind):
    values = np.array(getattr(tree, field)).astype(np.result_type(value, np.float64))
    values[0] = value
    with pytest.raises(kind, match=f"^{field}: "):
        tree.replace(**{field: values})


def test_a_time_step_beyond_squares_is_refused(tree):
    with pytest.raises(ValueError, match="dt: expected a number from"):
        wg.realised(tree, "birch", dt=1e300)
    with pytest.raises(ValueError, match="frames of dt"):
        wg.simulate(wg.Sway(tree, "birch"), duration=1e300, dt=1e-300)


class Given:
    """A wind whose sample is what it was told."""

    def __init__(self, answer):
        self.answer = answer

    def sample(self, points, time=None):
        return self.answer(len(points))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda n: np.ma.masked_all((n, 3)), ValueError),
        (lambda n: np.zeros((n, 3), complex), TypeError),
        (lambda n: np.zeros((2, 3)), ValueError),
        (lambda n: None, TypeError),
        (lambda n: np.full((n, 3), 1e300), wg.Diverged),
    ],
)
def test_a_wind_of_the_users_is_checked(tree, answer, error):
    with pytest.raises(error, match="wind"):
        wg.Sway(tree, "birch").step(Given(answer), dt=1 / 30)


def test_an_array_is_no_wind(tree):
    with pytest.raises(TypeError, match="wind: expected a wind, got an array"):
        wg.Sway(tree, "birch").step(np.zeros(3), dt=1 / 30)


def test_what_a_wind_is_made_of_is_refused_by_name():
    for name in ("solids", "effectors"):
        with pytest.raises(TypeError, match=f"{name}: expected a sequence"):
            wg.Wind((1, 0, 0), cells=(4, 4, 4), levels=1, cell_size=1.0, **{name: 3})
    with pytest.raises(TypeError, match="profile: expected a word"):
        wg.Wind((1, 0, 0), cells=(4, 4, 4), levels=1, cell_size=1.0, profile=np.zeros(2))


def test_a_terrain_of_text_a_forest_without_species_and_a_speed_of_nothing_are_named(tree):
    with pytest.raises(TypeError, match="height"):
        wg.Terrain("x")
    with pytest.raises(ValueError, match="species: expected one"):
        wg.Sway(tree, [])
    for speed in (1e-300, 1e300):
        with pytest.raises(ValueError, match="reference_speed"):
            wg.Sway(tree, "birch", reference_speed=speed, drag_law="quadratic")


@pytest.mark.parametrize("value", [3, None, 1.5, []])
def test_what_is_not_a_path_is_refused_by_name(value):
    for call in (wg.open_recording, wg.RecordedWind.read, wg.recover_recording):
        with pytest.raises(TypeError, match="path: expected a path"):
            call(value)


def test_a_socket_is_not_replaced_by_a_file(tree, tmp_path):
    place = tmp_path / "s.json"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        for call in (
            lambda: wg.simulate(wg.Sway(tree, "birch"), duration=0.1, record=place),
            lambda: wg.write_tree(tree, place),
            lambda: wg.load_species("oak").save(place),
        ):
            with pytest.raises(OSError, match="device, pipe or socket"):
                call()
    assert place.is_socket()


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs file size limits")
def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path):
    (tmp_path / "oak.toml").write_text("old")
    code = (
        "import resource, signal, windgrove as wg\n"
        "oak, tree = wg.load_species('oak'), wg.grow_tree('birch', seed=1)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "calls = {'oak.toml': oak.save, 't.json': lambda p: wg.write_tree(tree, p)}\n"
        "for name, call in calls.items():\n"
        "    try: call(name)\n"
        "    except OSError as error: assert error.filename == name, error\n"
        "    else: raise AssertionError(name)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert os.listdir(tmp_path) == ["oak.toml"]
    assert (tmp_path / "oak.toml").read_text() == "old"


def test_huge_foreign_files_are_refused_before_they_are_parsed(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text(",".join(f"col{i}" for i in range(60_000)))
    with pytest.raises(ValueError, match="larger than"):
        wg.load_species(file)
    with pytest.raises(ValueError, match="and 59980 more") as caught:
        wg.RecordedWind.read(file.rename(tmp_path / "a.csv"), rate=20)
    assert len(str(caught.value)) < 1000


@pytest.mark.filterwarnings("ignore:interrupted")
def test_ctrl_c_without_a_file_gives_the_frames_so_far(tree):
    class Press(Given):
        pressed = False

        def sample(self, points, time=None):
            if time > 1.0 and not self.pressed:
                self.pressed = True
                os.kill(os.getpid(), signal.SIGINT)
            return np.zeros((len(points), 3))

    assert threading.current_thread() is threading.main_thread()
    ds = wg.simulate(wg.Sway(tree, "birch"), Press(None), duration=1000.0)
    assert ds.attrs["status"] == "interrupted"
    assert 1.0 < float(ds.time[-1]) < 999.0


@pytest.mark.parametrize("name", ["nonsense", "AVX2", " scalar"])
def test_a_misspelt_instruction_set_is_refused(name):
    done = subprocess.run(
        [sys.executable, "-c", "import windgrove.kernels"],
        env={**os.environ, "WINDGROVE_ISA": name},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "WINDGROVE_ISA: this build and processor have" in done.stderr


def test_an_array_that_needs_no_conversion_is_viewed_never_handed_on_itself():
    """A reader that freezes what it was given must not freeze the caller's array."""
    given = np.zeros((3, 4), np.float32)
    got = checks.array(given, "field", shape=(3, None))
    assert got is not given and np.shares_memory(got, given)
    got.flags.writeable = False
    assert given.flags.writeable
    for other in (given[:, ::2], given.T, given.astype(">f4"), given.astype(np.float64)):
        got = checks.array(other, "field")
        assert got.dtype == np.float32 and got.dtype.isnative and got.flags.c_contiguous
    with pytest.raises(ValueError, match=r"field: expected shape \(3, any\)"):
        checks.array(np.zeros((4, 3), np.float32), "field", shape=(3, None))
