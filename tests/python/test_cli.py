"""The command line: what it prints, and that it ends with 0, or with 2 and one line."""

import argparse
import importlib
import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from windgrove import cli
from windgrove.build import build_info
from windgrove.commands.common import levelled, plain, text_table


def run(*words):
    return cli.main(list(words))


def complaint(capsys, *words):
    assert run(*words) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_help_lists_every_command(capsys):
    assert run() == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in cli.COMMANDS)


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_explains_itself(capsys, name):
    assert run(name, "--help") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: windgrove {name}")
    assert len(shown.splitlines()) > 5


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_option_says_what_it_does(name):
    """More than its default; `(default: 1/30)` alone is none."""
    parser = argparse.ArgumentParser()
    importlib.import_module(f"windgrove.commands.{name}").add_arguments(parser)
    for action in parser._actions:
        text = re.sub(r"\(default[^)]*\)", "", action.help or "").strip()
        assert len(text.split()) >= 2, f"{name} {action.option_strings or action.dest}"


def test_the_version_says_how_it_was_built(capsys):
    assert run("--version") == 0
    assert str(build_info()) in capsys.readouterr().out


def test_the_module_runs_as_a_command():
    done = subprocess.run(
        [sys.executable, "-m", "windgrove", "species", "list", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "oak" in [species["name"] for species in json.loads(done.stdout)]


def test_a_command_that_is_not_there_is_named_with_those_that_are(capsys):
    assert "'sing'" in complaint(capsys, "sing")


def test_an_option_that_is_not_there_takes_one_line(capsys):
    line = complaint(capsys, "species", "list", "--loud")
    assert "--loud" in line and "windgrove species --help" in line


def test_a_file_that_is_not_there_is_named(capsys):
    for command in ("info", "demo", "simulate", "sweep", "calibrate"):
        extra = ("--beta", "1,2") if command == "sweep" else ()
        extra = ("--frequency-hz", "1") if command == "calibrate" else extra
        assert "nowhere.mat" in complaint(capsys, command, "nowhere.mat", *extra)


def test_a_species_that_is_not_there_brings_near_names(capsys):
    line = complaint(capsys, "species", "show", "oka")
    assert "did you mean oak" in line


def test_a_sweep_of_nothing_says_what_to_give(capsys):
    assert "--beta 0.5,1,2" in complaint(capsys, "sweep")


def test_a_level_swept_twice_is_refused(capsys):
    line = complaint(capsys, "sweep", "--beta", "trunk=1", "--beta", "trunk=2")
    assert "--beta" in line and "one list" in line


def test_a_calibration_to_nothing_says_what_to_give(capsys):
    assert "--frequency-hz" in complaint(capsys, "calibrate")


def test_a_picture_of_another_kind_is_refused_before_work(capsys, tmp_path):
    file = tmp_path / "tree.csv"
    file.write_text("not read")
    line = complaint(capsys, "plot", "tree", str(file), "--output", "tree.bmp")
    assert ".png, .pdf or .svg" in line


def test_an_unexpected_error_is_one_line_unless_a_traceback_is_asked_for(capsys, monkeypatch):
    from windgrove.commands import species

    def broken(_):
        raise RuntimeError("wires\ncrossed")

    monkeypatch.setattr(species, "run", broken)
    assert "unexpected RuntimeError: wires crossed" in complaint(capsys, "species", "list")
    monkeypatch.setenv(cli.TRACEBACK, "1")
    with pytest.raises(RuntimeError):
        run("species", "list")


def test_ctrl_c_is_one_line(capsys, monkeypatch):
    from windgrove.commands import species

    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(species, "run", stopped)
    assert run("species", "list") == 130
    assert "a recording that had begun is kept" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_an_output_that_is_closed_is_silence_and_a_full_one_is_named():
    base = [sys.executable, "-m", "windgrove.cli"]
    for command in (["species", "list"], ["--help"], ["info", "--help"]):
        line = shlex.join([*base, *command])
        closed = subprocess.run(f"{line} >&-", shell=True, capture_output=True, text=True)
        assert (closed.returncode, closed.stderr) == (0, "")
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        full = subprocess.run(
            f"{line} >/dev/full", shell=True, capture_output=True, text=True, env=environment
        )
        assert full.returncode == 2 and "No space left" in full.stderr
        assert len(full.stderr.splitlines()) == 1


def test_two_species_are_compared_in_words(capsys):
    assert run("species", "diff", "oak", "birch") == 0
    shown = capsys.readouterr().out
    assert "name: 'oak' -> 'birch'" in shown
    assert run("species", "diff", "oak", "oak") == 0
    assert capsys.readouterr().out == "the same\n"


def test_a_preset_file_is_checked(capsys, tmp_path):
    import windgrove as wg

    file = tmp_path / "mine.toml"
    wg.load_species("oak").save(file)
    assert run("species", "check", str(file)) == 0
    file.write_text(file.read_text().replace("zeta", "zetta"))
    capsys.readouterr()
    assert "zetta" in complaint(capsys, "species", "check", str(file))


def test_info_tells_a_tree_file(capsys, data):
    assert run("info", str(data / "rtwig" / "QSM.csv")) == 0
    shown = capsys.readouterr().out
    assert "simpleforest" in shown and "69 branches" in shown
    assert len(shown.splitlines()) <= 10
    assert run("info", str(data / "rtwig" / "QSM.csv"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["branches"] == 69


def test_a_tree_is_drawn_from_its_file(data, tmp_path, capsys):
    picture = tmp_path / "tree.png"
    tree = str(data / "rtwig" / "QSM.csv")
    assert run("plot", "tree", tree, "--output", str(picture), "--colour", "frequency") == 0
    assert picture.stat().st_size > 10_000
    paper = tmp_path / "f.pdf"
    assert run("plot", "frequencies", tree, "--output", str(paper), "--size", "paper") == 0
    assert paper.read_bytes().startswith(b"%PDF")


def test_numbers_stand_right_and_words_left():
    shown = text_table(("name", "value"), [("a", 1.5), ("long", float("nan"))])
    assert shown.splitlines() == ["name  value", "----  -----", "a       1.5", "long      -"]


def test_json_has_null_where_a_number_is_not_finite():
    assert json.dumps(plain({"a": [float("nan"), 1.0]})) == '{"a": [null, 1.0]}'


def test_a_list_may_name_its_level():
    assert levelled("0.5,1") == (None, [0.5, 1.0])
    assert levelled("trunk=3e5") == ("trunk", [3e5])
