"""Sliders for a species beside what they do: an extra, ``pip install ".[notebook]"``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..species.species import LEVELS
from ..trees.tree import Tree
from .preview import TUNED, Preview

if TYPE_CHECKING:
    from ..species.species import Species


def dashboard(
    tree: Tree,
    species: Species | str | os.PathLike[str] = "oak",
    *,
    wind_speed: float = 8.0,
    seconds: float = 20.0,
    dt: float = 1 / 30,
    save_as: str = "my-species.toml",
) -> Any:
    """Tune beta, zeta and gamma by level and see the tree, its frequencies and its spectrum.

    Parameters
    ----------
    tree : Tree
    species : Species, name or path, default "oak"
    wind_speed, seconds, dt
        Of the run behind each picture, see `Preview`.
    save_as : str, default "my-species.toml"
        What the save button writes; it can be changed beside the button.

    Returns
    -------
    ipywidgets.VBox
        Shown by a notebook. Its ``preview`` is the `Preview`, with the tuned ``species``;
        ``sliders`` is a dict by "level.name", ``save`` the button, ``path`` the name's field.

    Raises
    ------
    ImportError
        ipywidgets is not installed.
    """
    try:
        import ipywidgets
    except ImportError:
        raise ImportError(
            "dashboard needs ipywidgets: pip install ipywidgets, or in the checkout "
            "pip install '.[notebook]'"
        ) from None
    preview = Preview(tree, species, wind_speed=wind_speed, seconds=seconds, dt=dt)
    picture = ipywidgets.Image(value=preview.png(), format="png")
    facts = ipywidgets.HTML(_facts(preview))
    present = [level for level in LEVELS if level in preview.levels]
    sliders = {
        f"{level}.{name}": _slider(ipywidgets, preview.species, level, name)
        for level in present
        for name in TUNED
    }

    def changed(level: str, name: str) -> Any:
        def handle(change: Any) -> None:
            preview.tune(level, name, float(change["new"]))
            preview.update()
            picture.value = preview.png()
            facts.value = _facts(preview)

        return handle

    for key, slider in sliders.items():
        slider.observe(changed(*key.split(".")), names="value")
    path = ipywidgets.Text(value=save_as, description="file")
    save = ipywidgets.Button(description="Save the preset", icon="save")
    said = ipywidgets.Label()

    def write(_: Any) -> None:
        try:
            preview.species.save(path.value)
            said.value = f"saved {path.value}"
        except (OSError, ValueError, TypeError) as error:
            said.value = f"not saved: {error}"

    save.on_click(write)
    columns = [
        ipywidgets.VBox([ipywidgets.Label(level), *(sliders[f"{level}.{name}"] for name in TUNED)])
        for level in present
    ]
    box = ipywidgets.VBox(
        [ipywidgets.HBox(columns), picture, facts, ipywidgets.HBox([path, save, said])]
    )
    box.preview, box.sliders, box.save, box.path = preview, sliders, save, path
    return box


def _slider(ipywidgets: Any, species: Species, level: str, name: str) -> Any:
    value = float(getattr(species.level(level), name))
    look = {"description": name, "continuous_update": False, "readout_format": ".3g"}
    if name == "zeta":
        return ipywidgets.FloatSlider(
            value=value, min=0.005, max=max(0.6, value), step=0.005, **look
        )
    import math

    middle = math.log10(max(value, 1e-6))
    return ipywidgets.FloatLogSlider(value=value, min=middle - 1, max=middle + 1, step=0.01, **look)


def _facts(preview: Preview) -> str:
    f = preview.facts
    return (
        f"trunk: f_n <b>{f['frequency']:.3g} Hz</b> set, "
        f"{f['realised_frequency']:.3g} Hz realised; "
        f"sway {f['sway_rms_deg']:.2g}° rms, {f['sway_peak_deg']:.2g}° at most; "
        f"{100 * f['clamped']:.0f} % of the branches clamped"
    )
