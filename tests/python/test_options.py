"""Every option of every public function refuses what is no value of its kind, by its name.

The table holds one small valid call a function; the options are found from the signatures, so that
a new one is looked at as soon as it is there, and a function with a switch that has no row fails.
"""

import importlib
import inspect
import pkgutil
import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

import windgrove as wg
from windgrove import checks, kernels
from windgrove.demo import run_demo
from windgrove.recording.writer import RecordingWriter

CELLS = np.ones((3, 6, 6, 6), np.float32)
SPRINGS = {
    "position": np.zeros((1, 3)), "direction": [[0, 0, 1.0]], "length": [1.0], "parent": [-1],
    "mass": [1.0], "stiffness": [1.0], "damping": [0.1], "drag": [0.1], "wind": np.ones((1, 3)),
}  # fmt: skip


def sapling():
    return wg.Tree(
        position=[[0, 0, 0], [0, 0, 1.5]],
        direction=[[0, 0, 1.0], [1.0, 0, 0]],
        length=[2.0, 0.5],
        volume=[1e-3, 1e-5],
        area=[0, 0],
        kind=[0, 1],
        parent=[-1, 0],
    )


def sway(**options):
    return wg.Sway(sapling(), "oak", **options)


def wind(**options):
    return wg.Wind((1, 0, 0), **{"cells": (4, 4, 4), "levels": 1, **options})


def springs(step, options):
    return step(*np.zeros((3, 1, 3), np.float32), **SPRINGS, **{"dt": 0.1, **options})


def recorded(**options):
    return wg.simulate(sway(), wg.UniformWind((1, 0, 0)), duration=2.0, **options)


def swung():
    time = np.arange(0, 20, 0.1)
    return time, np.exp(-0.1 * time) * np.cos(2 * time)


def small_things(folder):
    """What the calls below take."""
    wg.write_tree(sapling(), folder / "t.json")
    wg.load_species("oak").save(folder / "oak.toml")
    recorded(record=folder / "flat.h5")
    return SimpleNamespace(
        folder=folder,
        flat=folder / "flat.h5",
        tree=sapling(),
        swing=swung(),
        run=recorded(channels=("rotation", "wind")),
        waves=np.sin(np.arange(400.0)),
        wave={"dt": 0.1},
        still={"wind": wg.UniformWind((1, 0, 0)), "duration": 0.2, "beta": [1.0]},
    )


# A valid call of each function, by its name.
CALLS = {
    "Blast": lambda at, **o: wg.Blast(**{"position": (0, 0, 0), "radius": 1.0, "speed": 1.0, **o}),
    "GustWind": lambda at, **o: wg.GustWind((1, 0, 0), **{"amplitude": 1.0, "duration": 1.0, **o}),
    "HeightProfile": lambda at, **o: wg.HeightProfile(**{"kind": "log", **o}),
    "LinearForce": lambda at, **o: wg.LinearForce(
        **{
            "position": (0, 0, 0),
            "radius": 1.0,
            "acceleration": 1.0,
            "direction": (1, 0, 0),
            **o,
        }
    ),
    "Projection": lambda at, **o: wg.Projection(**o),
    "Rotor": lambda at, **o: wg.Rotor(**{"position": (0, 0, 0), "radius": 1.0, "thrust": 1.0, **o}),
    "Sphere": lambda at, **o: wg.Sphere((0, 0, 0), **{"radius": 1.0, **o}),
    "Sway": lambda at, **o: sway(**o),
    "Sway.step": lambda at, **o: sway().step(**o),
    "Turbulence": lambda at, **o: wg.Turbulence(**o),
    "UniformWind": lambda at, **o: wg.UniformWind((1, 0, 0), **o),
    "Vortex": lambda at, **o: wg.Vortex(
        **{"position": (0, 0, 0), "radius": 1.0, "acceleration": 1.0, **o}
    ),
    "Wind": lambda at, **o: wind(**o),
    "Wind.record": lambda at, **o: wind().record(at.folder / "w.vtkhdf", **o).close(),
    "add_foliage": lambda at, **o: wg.add_foliage(wg.grow_tree("shrub"), **o),
    "advise": lambda at, **o: wg.advise(at.tree, "oak", **o),
    "analysis.coherence": lambda at, **o: wg.analysis.coherence(
        at.waves, at.waves, **{**at.wave, **o}
    ),
    "analysis.discrete_response": lambda at, **o: wg.analysis.discrete_response(
        1, 1, 0.1, **{"dt": 0.1, **o}
    ),
    "analysis.power_spectrum": lambda at, **o: wg.analysis.power_spectrum(
        at.waves, **{**at.wave, **o}
    ),
    "analysis.transfer_function": lambda at, **o: wg.analysis.transfer_function(
        at.waves, at.waves, **{**at.wave, **o}
    ),
    "calibrate": lambda at, **o: wg.calibrate(at.tree, "oak", frequency_hz=0.3, **o),
    "check_species": lambda at, **o: wg.check_species(
        at.folder / "oak.toml", **{"claims": False, **o}
    ),
    "fit_decay": lambda at, **o: wg.fit_decay(*at.swing, **o),
    "frequency_sweep": lambda at, **o: wg.frequency_sweep(
        sway(), [1.0], **{"settle": 0.1, "cycles": 1, **o}
    ),
    "grow_tree": lambda at, **o: wg.grow_tree("shrub", **o),
    "kernels.advect": lambda at, **o: kernels.advect(
        CELLS, CELLS, **{"spacing": 1.0, "dt": 0.1, **o}
    ),
    "kernels.confine_vorticity": lambda at, **o: kernels.confine_vorticity(
        CELLS, **{"spacing": 1.0, "dt": 0.1, "epsilon": 0.1, **o}
    ),
    "kernels.divergence": lambda at, **o: kernels.divergence(CELLS, **{"spacing": 1.0, **o}),
    "kernels.perlin": lambda at, **o: kernels.perlin([[0, 0, 0]], **o),
    "kernels.project": lambda at, **o: kernels.project(CELLS, **{"spacing": 1.0, **o}),
    "kernels.project_report": lambda at, **o: kernels.project_report(
        CELLS, **{"spacing": 1.0, **o}
    ),
    "kernels.projection_scratch": lambda at, **o: kernels.projection_scratch((6, 6, 6), **o),
    "kernels.sample": lambda at, **o: kernels.sample(
        CELLS, (0, 0, 0), **{"spacing": 1.0, "points": [[1, 1, 1]], **o}
    ),
    "kernels.step_springs": lambda at, **o: springs(kernels.step_springs, o),
    "merge_twigs": lambda at, **o: wg.merge_twigs(at.tree, **{"budget": 2, **o}),
    "open_recording": lambda at, **o: wg.open_recording(at.flat, **o).close(),
    "packing_error": lambda at, **o: wg.packing_error(at.tree, "oak", **{"duration": 0.2, **o}),
    "plot.animate": lambda at, **o: wg.plot.animate(at.tree, at.run, **o),
    "plot.frequencies": lambda at, **o: wg.plot.frequencies(at.tree, "oak", **o),
    "plot.history": lambda at, **o: wg.plot.history(at.run, **o),
    "plot.spectrum": lambda at, **o: wg.plot.spectrum(at.run, **o),
    "plot.sway": lambda at, **o: wg.plot.sway(at.run, **o),
    "plot.tree": lambda at, **o: wg.plot.tree(at.tree, **o),
    "plot.wind": lambda at, **o: wg.plot.wind(wind(), **o),
    "pull_and_release": lambda at, **o: wg.pull_and_release(sway(), **{"duration": 0.2, **o}),
    "read_folder": lambda at, **o: wg.read_folder(at.folder, **o),
    "read_tree": lambda at, **o: wg.read_tree(at.folder / "t.json", **o),
    "realised": lambda at, **o: wg.realised(at.tree, "oak", **o),
    "recover_recording": lambda at, **o: wg.recover_recording(
        at.flat, at.folder / "r.h5", **{"overwrite": True, **o}
    ),
    "sensitivity": lambda at, **o: wg.sensitivity(
        at.tree,
        "oak",
        {"trunk.beta": (1e5, 2e5), "trunk.zeta": (0.1, 0.2)},
        **{"samples": 8, "resamples": 10, **o},
    ),
    "set_leaf_fraction": lambda at, **o: wg.set_leaf_fraction(at.tree, **{"fraction": 1.0, **o}),
    "simulate": lambda at, **o: wg.simulate(
        sway(), **{"duration": 0.2, "record": at.folder / "s.h5", **o}
    ),
    "step_gust": lambda at, **o: wg.step_gust(sway(), **{"duration": 2.0, **o}),
    "sweep": lambda at, **o: wg.sweep(at.tree, "oak", **{**at.still, **o}),
    "turbulent_wind": lambda at, **o: wg.turbulent_wind((5, 0, 0), **{"duration": 100.0, **o}),
    "write_tree": lambda at, **o: wg.write_tree(at.tree, at.folder / "t.json", **o),
}


NONSENSE = {
    "bool": (3, -1, 2.5, "x", [], np.zeros(2), object()),
    "int": (2.5, "x", True, [], object(), 10**400),
    "float": ("x", True, [], object(), float("nan"), 10**400),
    "str": ("no such word", 3, True, object()),
}
WORDS = re.compile(r"\b(bool|int|float|str)\b")
CONTAINERS = re.compile(r"ArrayLike|tuple|Sequence|Mapping|Iterable|dict")
# Any text is a value of these.
FREE_TEXT = {"name", "path", "record", "store", "pattern", "encoding"}
# What a message calls the option, where that is the option of the function one level up.
SAID = {
    ("HeightProfile", "kind"): "profile",
    ("Projection", "method"): "projection",
    ("Turbulence", "strength"): "turbulence",
}
# The twins state the mathematics and leave the refusing to the kernels; the others are results.
NO_ROW = ("reference.", "analysis.LinearFit", "analysis.PublishedLaw", "kernels.ProjectionReport",
          "plot.view3d", "plot.regression")  # fmt: skip


def find(name):
    thing = wg
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def options_of(name):
    for parameter in inspect.signature(find(name)).parameters.values():
        yield parameter.name, str(parameter.annotation)


def public_callables(module=wg, prefix=""):
    """Names of public functions and classes; of classes their public methods too."""
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        if inspect.ismodule(thing):
            yield from public_callables(thing, f"{name}.")
        elif callable(thing):
            yield f"{prefix}{name}", thing
            for method, function in vars(thing).items() if inspect.isclass(thing) else ():
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{prefix}{name}.{method}", function


def nonsense(option, note):
    """Values that an option of this annotation has to refuse."""
    kinds = WORDS.findall(note)
    if not kinds or CONTAINERS.search(note):
        return []
    values = list(NONSENSE[kinds[0]])
    if option in FREE_TEXT:
        values.remove("no such word")
    also = {"str": str, "float": (int, float), "int": int}
    other = tuple(also[kind] for kind in kinds[1:] if kind in also)
    for kind in other:
        values = [v for v in values if isinstance(v, bool) or not isinstance(v, kind)]
    return values if "None" in note else [*values, None]


@pytest.fixture(scope="module")
def at(tmp_path_factory):
    return small_things(tmp_path_factory.mktemp("options"))


@pytest.fixture(autouse=True)
def no_drawing_left():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", CALLS)
def test_an_option_refuses_what_is_no_value_of_its_kind(name, at, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    CALLS[name](at)  # without them it is a valid call
    for option, note in options_of(name):
        said = SAID.get((name, option), option)
        for value in nonsense(option, note):
            with pytest.raises((TypeError, ValueError), match=said):
                CALLS[name](at, **{option: value})
                pytest.fail(f"{name}: {option}={value!r} was taken")
            plt.close("all")
    assert not list(tmp_path.iterdir())


def test_every_public_switch_is_looked_at():
    """A function with a bool option that has no row above is named here."""
    found = {
        name: function
        for name, function in public_callables()
        if not name.startswith(NO_ROW)
        and any(
            re.search(r"\bbool\b", str(parameter.annotation))
            for parameter in inspect.signature(function).parameters.values()
        )
    }
    looked_at = {id(find(name)) for name in CALLS}
    assert {name for name, function in found.items() if id(function) not in looked_at} == set()


@pytest.mark.parametrize("package", ["analysis", "trees", "plot", "kernels", "reference"])
def test_no_public_name_turns_into_a_module_of_its_package(package):
    """Loading a module binds it in its package, over what is fetched when it is first used."""
    module = find(package)
    for info in pkgutil.iter_modules(module.__path__):
        importlib.import_module(f"{module.__name__}.{info.name}")
    turned = [name for name in module.__all__ if inspect.ismodule(getattr(module, name))]
    assert turned == []


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_, 1, 0, np.int8(1)])
def test_true_and_false_come_in_a_few_forms(value):
    assert checks.flag(value, "live") is bool(value)


@pytest.mark.parametrize("option", ["overwrite", "live", "append"])
def test_the_recorder_refuses_switches_that_are_none(option, tmp_path):
    with pytest.raises(TypeError, match=f"{option}: expected True or False"):
        RecordingWriter(tmp_path / "r.h5", channels={}, coords={}, **{option: "yes"})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["small", "animation", "progress"])
def test_the_demo_refuses_switches_that_are_none(option, tmp_path):
    with pytest.raises(TypeError, match=f"{option}: expected True or False"):
        run_demo(output=tmp_path, **{option: 3})
