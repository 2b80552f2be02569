"""Sweeps: the same numbers as single runs, whoever runs them, however often they are stopped."""

import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

import windgrove as wg
from windgrove.studies import runner, store
from windgrove.studies.design import axes, points
from windgrove.studies.fingerprint import fingerprint
from windgrove.trees.tree import Tree

WIND = wg.UniformWind((6, 0, 0))


def small_tree():
    """A trunk, two branches, four leaves."""
    direction = np.array(
        [[0, 0, 1], [1, 0, 1], [-1, 0, 1], [1, 0, 0], [1, 1, 0], [-1, 0, 0], [0, 1, 1]], float
    )
    return Tree(
        position=np.array(
            [[0, 0, 0], [0, 0, 4], [0, 0, 5], [1, 0, 5], [0.5, 0, 4.5], [-1, 0, 6], [-1, 0, 6]]
        ),
        direction=direction / np.linalg.norm(direction, axis=1)[:, None],
        length=[6, 2, 2, 0.5, 0.5, 0.5, 0.5],
        volume=[0.3, 0.02, 0.02, 0, 0, 0, 0],
        area=[0, 0, 0, 0.2, 0.2, 0.2, 0.2],
        kind=[0, 1, 1, 2, 2, 2, 2],
        parent=[-1, 0, 0, 1, 1, 2, 2],
        name="small",
    )  # fmt: skip


TREE = small_tree()
OAK = wg.load_species("oak")
GRID = {"beta": [0.5, 1.0, 2.0], "gamma": {"foliage": [0.1, 0.2]}}


def run(**options):
    given = {**GRID, "wind": WIND, "duration": 3.0, **options}
    return wg.sweep(TREE, OAK, **given)


@pytest.fixture(scope="module")
def table():
    return run()


def test_the_result_is_labelled(table):
    assert table.sway_rms.dims == ("beta", "gamma", "level")
    assert list(table.level.values) == ["trunk", "branch", "foliage"]
    assert table.sway_rms.attrs["units"] == "rad"
    assert "factor" in table.beta.attrs["values"] and table.beta.attrs["units"] == "1"
    assert table.gamma.attrs["values"] == "absolute"
    assert table.gamma.attrs["species_level"] == "foliage"
    assert all(v.dtype.kind == "f" for v in table.data_vars.values())
    assert np.isfinite(table.sway_rms).all() and (table.sway_peak >= table.sway_rms).all()


def test_factors_multiply_all_levels_and_dicts_set_one(table):
    """f_n of the trunk alone hangs on its beta: sqrt of the factor, exactly."""
    preset = wg.natural_frequencies(TREE, OAK)
    for factor in GRID["beta"]:
        one = table.sel(beta=factor, gamma=0.1)
        for kind, level in enumerate(table.level.values):
            expected = np.median(preset[TREE.kind == kind]) * math.sqrt(factor)
            assert_allclose(one.frequency.sel(level=level), expected, rtol=1e-12)
    assert_allclose(table.damping_ratio.sel(level="trunk"), OAK.trunk.zeta, rtol=0)


def test_realised_values_are_medians_of_the_discrete_map(table):
    species = OAK.replace(**{name: {"beta": 2 * OAK.level(name).beta}
                             for name in ("trunk", "branch", "foliage")})  # fmt: skip
    realised = wg.realised(TREE, species, dt=1 / 30)
    one = table.sel(beta=2.0, gamma=0.1)
    for kind, level in enumerate(table.level.values):
        here = TREE.kind == kind
        for name in ("realised_frequency", "realised_damping_ratio"):
            expected = np.median(realised[name].values[here])
            assert_allclose(one[name].sel(level=level), expected, rtol=1e-12)
        assert_allclose(one.clamped.sel(level=level), realised.clamped.values[here].mean(), rtol=0)


def test_sway_is_that_of_simulate_to_the_last_bit(table):
    """The same float32 states; mean included, the rest pose a frame; float64 sums whose order
    differs: a few ulp."""
    species = OAK.replace(
        **{name: {"beta": 0.5 * OAK.level(name).beta} for name in ("trunk", "branch")},
        foliage={"beta": 0.5 * OAK.foliage.beta, "gamma": 0.2},
    )
    angle = np.linalg.norm(single_run(species), axis=2)
    one = table.sel(beta=0.5, gamma=0.2)
    for kind, level in enumerate(table.level.values):
        here = angle[:, TREE.kind == kind]
        expected = np.sqrt(np.mean(np.mean(here**2, axis=0)))
        assert_allclose(one.sway_rms.sel(level=level), expected, rtol=1e-12)
        # A float32 square root of a float32 sum: half an ulp each.
        assert_allclose(one.sway_peak.sel(level=level), here.max(), rtol=2e-7)


def single_run(species, wind=WIND, duration=3.0):
    run = wg.simulate(wg.Sway(TREE, species), wind, duration=duration)
    return run.rotation.isel(instance=0).values.astype(np.float64)


def test_a_stepped_wind_gives_what_simulate_gives():
    def wind():
        return wg.Wind((6, 0, 0), cells=(8, 8, 8), levels=2, cell_size=1.0, seed=3)

    one = run(wind=wind(), beta=[1.0], gamma=None, duration=2.0)
    angle = np.linalg.norm(single_run(OAK, wind(), 2.0), axis=2)[:, 0]
    assert_allclose(one.sway_rms.sel(level="trunk")[0], np.sqrt(np.mean(angle**2)), rtol=1e-12)


def test_a_run_that_diverges_is_marked_and_leaves_the_others_alone():
    # Unclamped springs that are merely too stiff are held to half a turn a step; these overflow.
    table = run(beta={"trunk": [4e5, 1e38]}, gamma=None, clamp="none", duration=3.0)
    assert list(table.diverged.sel(level="trunk")) == [0, 1]
    assert np.isnan(table.sway_rms.sel(level="trunk")[1])
    alone = run(beta={"trunk": [4e5]}, gamma=None, clamp="none", duration=3.0)
    assert alone.sway_rms.sel(level="trunk")[0] == table.sway_rms.sel(level="trunk")[0]


def test_a_wind_that_is_not_finite_is_named():
    class Bad:
        def sample(self, points, time=None):
            return np.full((len(points), 3), np.nan if time > 0.5 else 1.0)

    with pytest.raises(ValueError, match=r"wind: not finite at 0\.53"):
        run(wind=Bad(), duration=1.0)


def test_the_spectrum_holds_the_variance(table):
    """Parseval: the integral of a density is the variance. Welch's windows weigh the record by
    themselves, so compare with scipy's estimate of the same record and the same segments."""
    from scipy import signal

    angle = single_run(OAK.replace(foliage={"gamma": 0.1}))[:, 0]
    segment = 2 * (table.sizes["spectrum_frequency"] - 1)
    expected = signal.welch(angle, 30, window="hann", nperseg=segment, detrend="constant", axis=0)[
        1
    ].sum(axis=1)
    one = table.sel(beta=1.0, gamma=0.1, level="trunk")
    assert_allclose(one.spectrum, expected, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("size", [1, 4, 5])
def test_chunking_changes_no_bit(table, size):
    xr.testing.assert_identical(run(chunk_size=size), table)


def test_processes_and_threads_change_no_bit(table):
    with ThreadPoolExecutor(3) as threads:
        xr.testing.assert_identical(run(chunk_size=2, executor=threads), table)
    import multiprocessing

    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        xr.testing.assert_identical(run(chunk_size=2, executor=processes), table)


class Backwards(Executor):
    """Runs the newest first, and only has submit."""

    def __init__(self):
        self.most = 0
        self.waiting = []

    def submit(self, function, *arguments):
        future = Future()
        self.waiting.append((future, function, arguments))
        self.most = max(self.most, len(self.waiting))
        if len(self.waiting) >= 3:
            self.run_one()
            self.run_one()
            self.run_one()
        return future

    def run_one(self):
        future, function, arguments = self.waiting.pop()
        future.set_result(function(*arguments))


def test_the_order_of_running_changes_no_bit(table):
    xr.testing.assert_identical(run(chunk_size=1, executor=Backwards()), table)


def test_a_window_bounds_what_is_submitted(monkeypatch):
    class Counting(ThreadPoolExecutor):
        open = most = 0

        def submit(self, *arguments):
            Counting.open += 1
            Counting.most = max(Counting.most, Counting.open)
            future = super().submit(*arguments)
            future.add_done_callback(lambda _: setattr(Counting, "open", Counting.open - 1))
            return future

    monkeypatch.setattr(runner, "LEAST_WINDOW", 2)
    with Counting(2) as executor:
        run(chunk_size=1, beta=np.linspace(1, 2, 12), duration=0.2, executor=executor)
        executor.submit(int)  # not shut down
    assert Counting.most <= 5


def test_a_store_is_used_again(table, tmp_path, monkeypatch):
    xr.testing.assert_identical(run(store=tmp_path, chunk_size=4), table)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 2 and all(name.endswith(store.SUFFIX) for name in names)
    monkeypatch.setattr(runner, "run_chunk", None)
    xr.testing.assert_identical(run(store=tmp_path, chunk_size=1), table)


def test_only_what_is_missing_runs(table, tmp_path, monkeypatch):
    run(store=tmp_path, beta=[0.5, 2.0])
    ran = count_variants(monkeypatch)
    xr.testing.assert_identical(run(store=tmp_path), table)
    assert sum(ran) == 2


def count_variants(monkeypatch):
    ran, real = [], runner.run_chunk

    def counted(chunk, watch=None):
        ran.append(len(chunk.keys))
        return real(chunk, watch)

    monkeypatch.setattr(runner, "run_chunk", counted)
    return ran


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text"])
def test_a_damaged_file_is_found_and_run_again(table, tmp_path, damage, monkeypatch):
    run(store=tmp_path, chunk_size=3)
    path = sorted(tmp_path.iterdir())[0]
    content = path.read_bytes()
    if damage == "flip":
        result = store.load(path)
        at = content.index(np.float64(result.values["sway_rms"].flat[0]).tobytes())
        content = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    path.write_bytes({"cut": content[:500], "empty": b"", "text": b"x" * 99}.get(damage, content))
    ran = count_variants(monkeypatch)
    with pytest.warns(UserWarning, match="run again"):
        again = run(store=tmp_path, chunk_size=3)
    xr.testing.assert_identical(again, table)
    assert ran == [3]
    assert [p.suffix for p in tmp_path.iterdir()].count(".damaged") == 1


@pytest.mark.parametrize(
    "change",
    [
        {"duration": 3.1},
        {"dt": 1 / 60},
        {"wind": wg.UniformWind((6, 0, 1e-9))},
        {"clamp": "none"},
        {"beta": [0.5, 1.0, 2.0 + 1e-12]},
        {"noise": 0.1},
        {"noise_seed": 1},
        {"drag_law": "quadratic"},
    ],
)
def test_whatever_determines_a_result_is_in_its_name(tmp_path, change, monkeypatch):
    run(store=tmp_path)
    ran = count_variants(monkeypatch)
    run(store=tmp_path, **change)
    assert sum(ran) >= 2


def test_an_interrupted_sweep_goes_on_where_it_stopped(tmp_path, monkeypatch):
    script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import numpy as np
        import test_sweep as t
        def show(done, total):
            print(done, flush=True)
        try:
            t.run(store=sys.argv[2], beta=np.linspace(1, 2, 200), chunk_size=2, progress=show)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), os.path.dirname(__file__), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    while int(process.stdout.readline()) < 8:
        pass
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert process.communicate(timeout=20)[0].splitlines()[-1] == "interrupted"
    assert time.monotonic() - begin < 10
    kept = sum(len(store.load(path).keys) for path in tmp_path.glob("*" + store.SUFFIX))
    assert 8 <= kept < 400
    assert not list(tmp_path.glob("*.part"))
    # Gone on with, only what is missing runs, and no bit tells.
    options = dict(beta=np.linspace(1, 2, 200))
    ran = count_variants(monkeypatch)
    table = run(store=tmp_path, chunk_size=2, **options)
    assert sum(ran) == 400 - kept
    xr.testing.assert_identical(table, run(**options))


def test_an_error_in_a_chunk_is_raised_and_the_rest_is_kept(tmp_path, monkeypatch):
    real = runner.run_chunk

    def failing(chunk, watch=None):
        if chunk.species[0].trunk.beta > 1.5 * OAK.trunk.beta:
            raise RuntimeError("worker on fire")
        return real(chunk, watch)

    monkeypatch.setattr(runner, "run_chunk", failing)
    with pytest.raises(RuntimeError, match="on fire"), ThreadPoolExecutor(1) as executor:
        run(store=tmp_path, chunk_size=2, executor=executor)
    assert len(list(tmp_path.glob("*" + store.SUFFIX))) == 2


class Killed(Executor):
    """As a pool of processes of which one has died."""

    def submit(self, function, *arguments):
        future = Future()
        future.set_exception(BrokenProcessPool("a child process terminated abruptly"))
        return future


def test_a_worker_that_died_is_told_with_what_is_kept(tmp_path):
    with pytest.raises(BrokenExecutor, match=r"abruptly.*__main__.*store=FOLDER"):
        run(executor=Killed())
    with pytest.raises(BrokenExecutor, match=f"{tmp_path.name}.*goes on from them"):
        run(executor=Killed(), store=tmp_path)


def test_progress_counts_runs():
    seen = []
    run(progress=lambda done, total: seen.append((done, total)), chunk_size=3)
    assert seen[0] == (0, 6) and seen[-1] == (6, 6) and (3, 6) in seen
    assert seen == sorted(set(seen))


def test_the_wind_given_is_not_stepped_and_grids_work(tmp_path):
    wind = wg.Wind((6, 0, 0), cells=(8, 8, 8), levels=1, cell_size=2.0, seed=3)
    wind.step()
    first = run(wind=wind, duration=0.5)
    assert_allclose(wind.time, 1 / 30)
    xr.testing.assert_identical(run(wind=wind, duration=0.5, chunk_size=1), first)
    run(wind=wind, duration=0.5, store=tmp_path)
    before = len(list(tmp_path.iterdir()))
    wind.step()
    run(wind=wind, duration=0.5, store=tmp_path)
    assert len(list(tmp_path.iterdir())) == before + 1


def test_wind_speed_and_heading_turn_the_response():
    """Without gravity the model is symmetric about the vertical for a trunk alone."""
    pole = Tree([[0, 0, 0]], [[0, 0, 1]], [5], [0.1], [0], [0], [-1])
    table = wg.sweep(
        pole, OAK, wind=WIND, wind_speed=[3.0, 6.0], heading=[0.0, math.pi / 3],
        duration=3.0, noise=0.0,
    )  # fmt: skip
    rms = table.sway_rms.sel(level="trunk")
    assert_allclose(rms[:, 0], rms[:, 1], rtol=1e-5)
    assert rms[1, 0] > 1.9 * rms[0, 0]
    assert np.isnan(table.sway_rms.sel(level="foliage")).all()
    single = wg.sweep(pole, OAK, wind=wg.UniformWind((3, 0, 0)), beta=[1.0],
                      duration=3.0, noise=0.0)  # fmt: skip
    assert_allclose(rms[0, 0], single.sway_rms.sel(level="trunk")[0], rtol=1e-6)


def test_size_and_season_change_the_tree():
    """f_n of a wooden trunk falls as 1/length (MODEL 2.2); without leaves it rises."""
    table = run(beta=None, gamma=None, size=[1.0, 2.0], season=[0.0, 0.5, 1.0], duration=0.5)
    trunk = table.frequency.sel(level="trunk")
    assert_allclose(
        trunk.sel(size=1.0, season=0.0) / trunk.sel(size=2.0, season=0.0), 2, rtol=1e-12
    )
    assert (trunk.diff("season") < 0).all()
    assert np.isnan(table.sway_rms.sel(level="foliage", season=0.0)).all()


def test_turbulence_and_seed_make_the_wind_anew():
    wind = wg.Wind((6, 0, 0), cells=(8, 8, 8), levels=1, cell_size=2.0)
    table = run(
        beta=None, gamma=None, wind=wind, turbulence=[0.0, 0.3], seed=[1, 2], duration=1.0,
        noise=0.0,
    )  # fmt: skip
    rms = table.sway_rms.sel(level="trunk")
    assert table.seed.dtype.kind == "i"
    assert rms.sel(turbulence=0.0, seed=1) == rms.sel(turbulence=0.0, seed=2)
    assert rms.sel(turbulence=0.3, seed=1) != rms.sel(turbulence=0.3, seed=2)
    seeds = run(beta=None, gamma=None, seed=[0, 1], duration=1.0)
    assert np.ptp(seeds.sway_rms.sel(level="trunk").values) > 0
    with pytest.raises(ValueError, match="turbulence: only a Wind"):
        run(turbulence=[0.1])
    wind.step()
    with pytest.raises(ValueError, match="already stepped"):
        run(wind=wind, seed=[1, 2])


@pytest.mark.parametrize("design", ["latin_hypercube", "sobol"])
def test_sampled_designs_fill_their_bounds(design):
    swept = axes({"beta": [0.1, 10.0], "zeta": {"trunk": [0.02, 0.1]}})
    table = points(swept, design, 64, 5)
    assert table.shape == (64, 2)
    assert (table >= [0.1, 0.02]).all() and (table <= [10, 0.1]).all()
    # One point in each of 64 strips; a wide range is spread over its orders of magnitude.
    strips = np.log(table[:, 0] / 0.1) / np.log(100) * 64
    assert len(np.unique(np.floor(strips))) == 64
    assert (points(swept, design, 64, 5) == table).all()
    assert (points(swept, design, 64, 6) != table).any()
    result = run(beta=[0.5, 2.0], gamma=None, design=design, samples=4, duration=0.3)
    assert result.sway_rms.dims == ("point", "level") and result.beta.dims == ("point",)


def test_a_list_of_points_is_taken_together():
    result = run(beta=[0.5, 1.0], zeta=[1.0, 2.0], gamma=None, design="points", duration=0.3)
    assert result.sizes["point"] == 2
    grid = run(beta=[0.5, 1.0], zeta=[1.0, 2.0], gamma=None, duration=0.3)
    assert result.sway_rms[1, 0] == grid.sway_rms.sel(beta=1.0, zeta=2.0)[0]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"beta": None, "gamma": None}, "nothing to vary"),
        ({"beta": []}, "beta"),
        ({"beta": [0.0, 1.0]}, "beta: expected values above 0"),
        ({"beta": [1.0, 1.0]}, "different values"),
        ({"beta": {"twig": [1.0]}}, "'twig'"),
        ({"zeta": {"trunk": [-0.1]}}, r"zeta\['trunk'\]"),
        ({"season": [1.5]}, "season"),
        ({"design": "sobol"}, "samples"),
        ({"design": "sobol", "samples": 3, "beta": [1, 2], "gamma": None}, "power of two"),
        ({"design": "latin_hypercube", "samples": 3}, "bounds"),
        ({"design": "points"}, "one length"),
        ({"design": "random"}, "design"),
        ({"beta": np.arange(1, 9001), "zeta": np.arange(1, 9001)}, "162000000 points"),
        ({"design": "sobol", "samples": 2**22, "beta": [1, 2], "gamma": None}, "4194304 points"),
        ({"duration": 0.0}, "duration"),
        ({"dt": -1.0}, "dt"),
        ({"chunk_size": 0}, "chunk_size"),
        ({"clamp": "hard"}, "clamp"),
    ],
)
def test_what_makes_no_sweep_is_refused_by_name(options, text):
    with pytest.raises(ValueError, match=text):
        run(**options)


def test_what_is_of_a_wrong_type_is_refused_by_name():
    with pytest.raises(TypeError, match="executor: expected something with submit, got int"):
        run(executor=3)
    with pytest.raises(TypeError, match="store: expected a path"):
        run(store=3)


def test_the_store_must_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="file"):
        run(store=tmp_path / "file")


def test_fingerprints_see_values_and_not_identity():
    assert fingerprint(wg.UniformWind((6, 0, 0))) == fingerprint(wg.UniformWind([6, 0, 0]))
    assert fingerprint([1.0]) != fingerprint([1]) != fingerprint(["1"])
    assert fingerprint(np.float32([1])) != fingerprint(np.float64([1]))
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint(lambda t: t + 1) != fingerprint(lambda t: t + 2)
    assert fingerprint(0.0) != fingerprint(-0.0)
