"""The command line names its own options: hints meant for Python are said in its words."""

import argparse
import ast
import importlib
import re
from pathlib import Path

import pytest

import windgrove as wg
from windgrove import cli
from windgrove.commands.reading import ARGUMENTS
from windgrove.commands.words import FLAGS, PHRASES, translate

HINT = re.compile(r"(?<![\w.{\-])([a-z_]+)=(?!=)")
# Hints that no command can meet, and why.
OUT_OF_REACH = {
    "branches": "simulate keeps frames in memory only from Python",
    "every": "as branches",
    "cells": "a repr", "levels": "a repr", "cell_size": "a repr", "time": "a repr",
    "frames": "a repr", "shape": "a repr", "amplitude": "a repr", "start": "a repr",
    "profile": "a repr", "projection": "the name of a solver",
    "method": "the name of a solver", "discretisation": "of kernels.project",
    "fill": "of kernels.voxelize",
    "id": "within --columns",
    "src": "HTML", "alt": "HTML", "sep": "a pattern for the line sep=; of a spreadsheet",
}  # fmt: skip
READERS = ("simulate", "sweep", "calibrate", "plot", "demo", "info")


def options_of(name):
    parser = argparse.ArgumentParser()
    importlib.import_module(f"windgrove.commands.{name}").add_arguments(parser)
    return set(parser._option_string_actions)


EVERY_OPTION = set().union(*map(options_of, cli.COMMANDS))


def texts():
    """Every text of the package that is no docstring; where f-strings hold values, ``{}``."""
    root = Path(cli.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.parent.name == "commands":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        hidden = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                hidden.add(id(node.value))
            if isinstance(node, ast.JoinedStr):
                hidden.update(id(part) for part in node.values)
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in node.values]
                yield f"{path.name}:{node.lineno}", "".join(parts)
            elif (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in hidden
            ):
                yield f"{path.name}:{node.lineno}", node.value


def test_every_hint_is_an_option_of_some_command():
    lost = []
    for place, text in texts():
        said = translate(text)
        lost += [f"{place}: {name}= in {text!r}"
                 for name in HINT.findall(said) if name not in OUT_OF_REACH]  # fmt: skip
        if HINT.search(text) and said != text:
            given = re.findall(r"(?<!\w)--[a-z][a-z-]+", said)
            lost += [f"{place}: no {flag}" for flag in given if flag not in EVERY_OPTION]
    assert not lost, "\n".join(lost)


def test_every_word_of_the_table_is_an_option_and_every_phrase_occurs():
    assert set(FLAGS.values()) <= EVERY_OPTION
    said = "\n".join(text for _, text in texts())
    assert [phrase for phrase in PHRASES if phrase not in said] == []


@pytest.mark.parametrize("name", READERS)
def test_every_command_that_reads_trees_takes_the_same_options(name):
    assert {FLAGS[argument] for argument in ARGUMENTS} <= options_of(name)


def complaint(capsys, *words):
    assert cli.main(list(words)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def broken_tree(folder):
    """Two cylinders, the second without a radius."""
    file = folder / "tree.csv"
    file.write_text(
        "start_x,start_y,start_z,end_x,end_y,end_z,radius,id,parent\n"
        "0,0,0,0,0,1,0.1,1,0\n0,0,1,0,0,2,nan,2,1\n"
    )
    return str(file)


@pytest.mark.parametrize("name", ["simulate", "info"])
def test_a_hint_of_a_reader_names_an_option_that_then_works(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    file = broken_tree(tmp_path)
    more = ("--duration", "0.1", "--wind-kind", "uniform", "--no-leaves", "--quiet")
    more = () if name == "info" else more
    line = complaint(capsys, name, file, *more)
    assert "--bad-rows drop" in line and "--radius" in line and "bad_rows=" not in line
    assert cli.main([name, file, "--bad-rows", "drop", *more]) == 0
    assert cli.main([name, file, "--radius", "0.05", *more]) == 0


def test_a_record_of_wind_that_ends_names_the_option_that_repeats_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wind.csv").write_text(
        "time,u,v,w\n" + "".join(f"{i / 10},5,0,0\n" for i in range(11))
    )
    words = ("simulate", "--wind-file", "wind.csv", "--duration", "2", "--quiet")
    words = (*words, "--no-leaves", "--record", "run.h5")
    assert "--wind-end repeat" in complaint(capsys, *words)
    assert cli.main([*words, "--wind-end", "repeat"]) == 0
    assert "--wind-file has its own wind" in complaint(capsys, *words, "--wind", "9")
    assert "--wind-kind" in complaint(capsys, *words, "--wind-kind", "nested")
    assert "--wind-file" in complaint(capsys, "simulate", "--wind-end", "hold")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("simulate", "--dt", "33"), "33 ms are 0.033"),
        (("simulate", "--dt", "1"), "at most 0.5"),
        (("sweep", "--dt", "0", "--beta", "1,2"), "above 0"),
        (("simulate", "--wind", "600"), "m/s, at most 113"),
        (("demo", "--wind", "nan"), "finite"),
        (("simulate", "--duration", "0"), "above 0"),
        (("simulate", "--duration", "0.01"), "less than a frame"),
        (("simulate", "--record", "x.csv"), ".h5, .hdf5 or .nc"),
        (("simulate", "--record", "no-folder/x.h5"), "no folder 'no-folder'"),
        (("sweep", "--beta", "1,2", "--output", "no-folder/t.nc"), "no folder 'no-folder'"),
        (("sweep", "--beta", "1,2", "--plot", "t.bmp"), ".png, .pdf or .svg"),
        (("calibrate", "--frequency-hz", "0.2", "--save", "no-folder/s.toml"), "no folder"),
        (("sweep", "--gamma", "-1,2", "--duration", "1"), "not below 0, got -1"),
        (("calibrate", "--frequency-hz", "0.2", "--bounds", "trunk"), "NAME=LOW,HIGH"),
        (("simulate", "--radius", "thick"), "pipe"),
    ],
)
def test_a_slip_is_refused_before_any_work(capsys, words, said):
    assert said in complaint(capsys, *words)


def test_a_table_for_other_programs_is_not_drawn(capsys, tmp_path):
    for name in ("t.csv", "t.nc"):
        (tmp_path / name).write_text("beta,sway_rms\n1,0.1\n")
        line = complaint(capsys, "plot", "sweep", str(tmp_path / name))
        assert "windgrove sweep --output table.nc" in line


def test_info_tells_winds_and_folders(capsys, tmp_path):
    (tmp_path / "wind.csv").write_text(
        "time,u,v,w\n" + "".join(f"{i / 10},5,0,0\n" for i in range(11))
    )
    assert cli.main(["info", str(tmp_path / "wind.csv")]) == 0
    shown = capsys.readouterr().out
    assert "measured wind" in shown and "10 Hz, mean speed 5.000 m/s" in shown
    wind = wg.Wind((5, 0, 0), cells=(4, 4, 4), levels=2, seed=1)
    with wind.record(tmp_path / "w.vtkhdf", levels=0):
        wind.step()
    assert cli.main(["info", str(tmp_path / "w.vtkhdf")]) == 0
    shown = capsys.readouterr().out
    assert "2 frames" in shown and "4 x 4 x 4 points" in shown
    assert "grids of a wind" in complaint(capsys, "plot", "spectrum", str(tmp_path / "w.vtkhdf"))
    assert cli.main(["info", str(tmp_path)]) == 0
    assert "2 file(s) not read" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("python", "here"),
    [
        ("bad_rows='drop' leaves them out", "--bad-rows drop leaves them out"),
        ("(radius= gives one)", "(--radius gives one)"),
        ('clamp="compensated": 42', "--clamp compensated: 42"),
        ("Sway(drag_law=-0.4): load ~ U^1.6", "--drag-law -0.4: load ~ U^1.6"),
        ("Sway(inertia=False): no lag", "--no-inertia: no lag"),
        ("windgrove.advise(tree, species, wind_speed=8.5)", "windgrove simulate --wind 8.5"),
        ("gamma x 0.5; x == y", "gamma x 0.5; x == y"),
    ],
)  # fmt: skip
def test_a_hint_is_translated_with_its_value(python, here):
    assert translate(python) == here


def test_a_refused_argument_is_an_option_and_a_line_of_a_report_is_not():
    assert translate("dt: expected a number", refusal=True) == "--dt: expected a number"
    assert translate("units: m; radii: preset") == "units: m; radii: preset"


def test_the_remedies_of_an_advice_are_options_of_simulate(capsys, tmp_path):
    words = ("simulate", "--duration", "0.1", "--wind-kind", "uniform", "--quiet", "--json")
    words = (*words, "--record", str(tmp_path / "run.h5"))
    remedies = ("--clamp", "compensated", "--substeps", "2", "--drag-law", "-0.4", "--no-inertia")
    assert cli.main([*words, *remedies]) == 0
    assert "linear, quadratic" in complaint(capsys, *words, "--drag-law", "cubic")


def test_a_preset_with_a_slip_of_units_is_remarked_on_before_a_run(capsys, tmp_path):
    oak = wg.load_species("oak")
    oak.replace(trunk=dict(beta=1.67, zeta=5.1)).save(tmp_path / "slip.toml")
    words = ("simulate", "--duration", "0.1", "--wind-kind", "uniform", "--quiet")
    words = (*words, "--no-leaves", "--record", str(tmp_path / "run.h5"))
    assert cli.main([*words, "--species", str(tmp_path / "slip.toml")]) == 0
    told = capsys.readouterr().err
    assert told.count("remark: ") == 2 and told.count("is the unit SI?") == 1
    assert cli.main(list(words)) == 0
    assert capsys.readouterr().err == ""


def test_a_recording_names_its_seeds(capsys, tmp_path):
    words = ("simulate", "--duration", "0.1", "--wind-kind", "uniform", "--quiet", "--seed", "7")
    assert cli.main([*words, "--no-leaves", "--record", str(tmp_path / "run.h5")]) == 0
    capsys.readouterr()
    assert cli.main(["info", str(tmp_path / "run.h5")]) == 0
    assert "seed of the noise at the branches: 7" in capsys.readouterr().out


def test_every_table_of_the_command_line_is_in_degrees(capsys):
    words = ("sweep", "--beta", "0.5,1", "--duration", "0.2", "--wind-kind", "uniform", "--quiet")
    assert cli.main([*words, "--no-leaves"]) == 0
    shown = capsys.readouterr().out
    assert "sway_rms (deg)" in shown and "rad" not in shown


def test_several_faults_of_a_file_stay_apart_on_one_line(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    wg.load_species("oak").save(file)
    file.write_text(file.read_text().replace("zeta", "zetta"))
    assert "; " in complaint(capsys, "species", "check", str(file))


def test_a_preset_calibrated_on_one_tree_is_remarked_on_in_words(tmp_path):
    from dataclasses import replace

    from windgrove.species import check_species

    oak = wg.load_species("oak")
    height = oak.growth.height

    def remarks(size):
        where = replace(oak.provenance, tree_height=(size, size))
        replace(oak, provenance=where).save(tmp_path / "site.toml")
        found = check_species(tmp_path / "site.toml", claims=False).remarks
        return [remark for remark in found if remark.startswith("growth.height")]

    assert remarks(1.2 * height) == []
    assert "height= grows" in remarks(1.5 * height)[0]
