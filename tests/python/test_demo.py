"""The main job at a small size: what it leaves, and that its numbers are those of the recording."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import windgrove as wg
from windgrove import cli
from windgrove.commands.demo import text
from windgrove.demo import DemoReport, LevelRow, run_demo
from windgrove.demo import scene as demo_scene


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    lines = []
    report = run_demo(
        output=folder, species="birch", duration=6, small=True, progress=False, say=lines.append
    )
    return report, lines


def test_every_file_is_written_and_named(demo):
    report, _ = demo
    assert {path.name for path in report.files.values()} >= {
        "frequencies.png", "spectrum.png", "sway.png", "sweep.png", "tree.png", "sway.gif",
    }  # fmt: skip
    assert all(path.stat().st_size > 5000 for path in report.files.values())
    assert list(report.files["recording"].parent.glob("*.part")) == []


def test_the_rows_are_those_of_the_recording(demo):
    report, _ = demo
    tree = wg.grow_tree("birch", seed=1)
    table = wg.realised(tree, "birch")
    with wg.open_recording(report.files["recording"]) as ds:
        angle = np.linalg.norm(ds["rotation"].to_numpy()[:, 0].astype(float), axis=-1)
    # Half of six seconds; in a minute the time until the trunk's free swing is at a twentieth.
    assert report.settling == 3.0
    whole, angle = angle, angle[90:]
    trunk = report.rows[0]
    assert trunk.level == "trunk" and trunk.branches == 1
    assert_allclose(trunk.frequency_set, table["frequency"][0])
    assert_allclose(trunk.frequency_realised, table["realised_frequency"][0])
    assert_allclose(trunk.sway_rms_deg, np.degrees(np.sqrt(np.mean(angle[:, 0] ** 2))))
    assert_allclose(trunk.sway_peak_deg, np.degrees(angle[:, 0].max()))
    with wg.open_recording(report.files["recording"]) as ds:
        speed = np.linalg.norm(ds["wind"].to_numpy()[:, 0, 0].astype(float), axis=-1)
        speed = speed[np.isfinite(speed)]
        assert_allclose(report.peak_time, float(ds["time"][90 + int(angle[:, 0].argmax())]))
    assert len(whole) == 181 and "after the first 3 s, the swing from rest" in text(report)
    assert_allclose(report.wind_at_trunk, [speed.mean(), speed.min(), speed.max()])
    assert f"wind recorded at the trunk: mean {speed.mean():.2g} m/s" in text(report)
    leaves = report.rows[-1]
    here = tree.kind == 2
    assert leaves.branches == here.sum()
    assert_allclose(leaves.sway_peak_deg, np.degrees(angle[:, here].max()))
    assert_allclose(leaves.clamped_share, table["clamped"].to_numpy()[here].mean())


def test_the_demo_says_what_its_scene_is(demo):
    report, lines = demo
    scene = next(line for line in lines if line.startswith("scene: "))
    assert scene in text(report) and "one blow of air" in scene and "3 to 5 s" in scene
    # All that stands and happens is in the words, and nothing else.
    wind = demo_scene(wg.grow_tree("birch", seed=1), 6.0, 6.0, small=True)
    assert [type(solid) for solid in wind.solids] == [wg.Box] * 3
    (blow,) = wind.effectors
    assert (blow.start, blow.duration, blow.acceleration, blow.radius) == (3.0, 2.0, 25.0, 2.5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_gusts_of_the_demo_have_the_asked_mean_over_its_run(seed):
    wind = demo_scene(wg.grow_tree("shrub", seed=1), 6.0, 20.0, small=True, seed=seed)
    gusts = wind.source.samples[:600, 0]
    assert_allclose(gusts.mean(), 6.0, rtol=1e-6)
    assert gusts.std() > 0.5


def test_the_recording_has_every_frame_and_the_wind(demo):
    with wg.open_recording(demo[0].files["recording"]) as ds:
        assert ds.sizes["time"] == 6 * 30 + 1
        assert {"rotation", "wind"} <= set(ds.data_vars)
        assert np.isfinite(ds["wind"].to_numpy()[1:]).all()


def test_it_says_what_tree_it_is(demo):
    assert "birch" in demo[1][0] and "branches" in demo[1][0]


def test_the_table_at_the_end_has_every_file(demo):
    shown = text(demo[0])
    assert "f_n set (Hz)" in shown and "clamped" in shown
    assert all(str(path) in shown for path in demo[0].files.values())


def test_the_command_gives_json_to_scripts(tmp_path, capsys):
    words = ["demo", "--output", str(tmp_path), "--duration", "2", "--small", "--no-animation"]
    assert cli.main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["level"] for row in result["rows"]] == ["trunk", "branch", "foliage"]


def test_a_scan_is_read_and_gets_leaves(data, tmp_path):
    report = run_demo(
        data / "rtwig" / "QSM.csv",
        output=tmp_path,
        duration=2,
        small=True,
        animation=False,
        progress=False,
        say=lambda _: None,
    )
    assert report.rows[1].branches == 68
    assert report.rows[2].level == "foliage"


def test_a_folder_that_cannot_be_written_is_refused_before_work(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("")
    assert cli.main(["demo", "--output", str(file)]) == 2
    assert "--output: cannot write into" in capsys.readouterr().err


def test_simulate_sweep_and_plots_work_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    common = ["--species", "shrub", "--wind-kind", "uniform"]
    recorded = ["simulate", *common, "--duration", "4", "--record", "s.h5", "--json", "--quiet"]
    assert cli.main(recorded) == 0
    assert json.loads(capsys.readouterr().out)["frames"] == 121
    assert cli.main(["info", "s.h5"]) == 0
    assert "121 frames over 4 s" in capsys.readouterr().out
    for kind in ("spectrum", "sway", "history"):
        assert cli.main(["plot", kind, "s.h5", "--output", f"{kind}.svg"]) == 0
    swept = ["sweep", *common, "--duration", "2", "--beta", "0.5,2", "--quiet"]
    assert cli.main([*swept, "--output", "t.nc", "--plot", "t.png"]) == 0
    assert cli.main(["plot", "sweep", "t.nc", "--level", "branch"]) == 0
    assert (tmp_path / "t.png").exists() and (tmp_path / "sweep.png").exists()


def test_a_peak_that_is_no_sway_is_marked_and_explained(tmp_path, capsys):
    """Drag a hundred times the preset's turns bundles round; the count is of the recording."""
    path, record = tmp_path / "soft.toml", tmp_path / "soft.h5"
    shrub = wg.load_species("shrub")
    alone = {"propagation": 0.0}
    soft = {"gamma": 100 * shrub.foliage.gamma, "beta": 0.01}
    shrub.replace(trunk=alone, branch=alone, foliage=soft).save(path)
    words = ["--species", str(path), "--wind", "12", "--wind-kind", "uniform", "--quiet"]
    words = ["simulate", *words, "--duration", "4", "--record", str(record)]
    assert cli.main(words) == 0
    shown = capsys.readouterr().out
    with wg.open_recording(record) as ds:
        angle = np.linalg.norm(ds["rotation"].to_numpy()[:, 0].astype(float), axis=-1).max(axis=0)
        leaves = ds["kind"].to_numpy() == 2
    turned = np.degrees(angle) > 160
    assert (turned & leaves).any() and not turned[0]
    row = next(line for line in shown.splitlines() if line.startswith("foliage"))
    assert f"{np.degrees(angle[leaves].max()):.3g}*" in row
    assert f"{(turned & leaves).sum()} of {leaves.sum()} leaf bundles: turned round" in shown
    thrown = int((leaves & (np.degrees(angle) > 60)).sum())
    assert "beyond 60 degrees at some time:" in shown and f"{thrown} of {leaves.sum()}" in shown
    # Springs as soft as these are bent by the wind whatever else is changed.
    assert "thrown (foliage)" in shown and "tried without halving their number: gamma" in shown
    assert "*" not in next(line for line in shown.splitlines() if line.startswith("trunk"))
    assert cli.main(["info", str(record)]) == 0
    assert f"{turned.sum()} branch(es) beyond 160 degrees" in capsys.readouterr().out
    report = DemoReport("t", "s", 6.0, 2.0, [LevelRow("trunk", 1, *[1.0] * 5, 90.0, 170.0, 1)],
                        1.0, (1.0, 1.0, 1.0), 1.0, 1.0, files={"recording": record})  # fmt: skip
    assert "170*" in text(report) and "* above 160 degrees, in 1 of 1 trunk" in text(report)


def test_a_preset_is_calibrated_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["calibrate", "--species", "birch", "--frequency-hz", "0.4", "--save", "site.toml"]
    assert cli.main([*words, "--plot", "c.png"]) == 0
    assert "saved: site.toml" in capsys.readouterr().out
    tree = wg.grow_tree("birch", seed=1)
    assert_allclose(float(wg.natural_frequencies(tree, "site.toml")[0]), 0.4, rtol=1e-3)
