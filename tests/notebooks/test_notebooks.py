"""Every notebook runs from top to bottom, and every cell that draws shows its pictures.

Run by ``make test-notebooks``, at the small size that the notebooks know (WINDGROVE_SMALL).
"""

import ast
import base64
import io
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SECONDS = 300
DRAWS_ITSELF = {"subplots", "figure"}


def execute(notebook, folder):
    """Run it in a kernel whose files go into `folder`; the same notebook, with its outputs."""
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=resources).execute()
    return notebook


def expected_pictures(source):
    """Plots that make their own figure: ``wg.plot.name(...)`` without ``ax=``, ``plt.subplots``."""
    count = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value)
            given = any(keyword.arg == "ax" for keyword in node.keywords)
            ours = owner == "wg.plot" and not given
            count += ours or (owner == "plt" and node.func.attr in DRAWS_ITSELF)
    return count


def pictures(cell):
    """Everything a reader sees of a cell: images, films in HTML, widgets."""
    found = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        html = "".join(data.get("text/html", ""))
        widget = "application/vnd.jupyter.widget-view+json" in data
        if "image/png" in data or "<img" in html or widget:
            found.append(data)
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_draws(path, tmp_path, monkeypatch):
    if path.stem == "dashboard":
        pytest.importorskip("ipywidgets")
    monkeypatch.setenv("WINDGROVE_SMALL", "1")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = execute(nbformat.read(path, as_version=4), tmp_path)
    missing = []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        shown, wanted = pictures(cell), expected_pictures(cell.source)
        if len(shown) < wanted:
            missing.append(f"cell {index}: {len(shown)} of {wanted} pictures\n{cell.source}")
        for data in shown:
            if "image/png" in data:
                pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(data["image/png"]))))
                assert np.ptp(pixels[..., :3]) > 100, f"cell {index}: an empty picture"
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_plot_has_one_title(path):
    """The package's titles stand left; matplotlib's own stand beside them, unless told."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and "ax=ax" in cell.source:
            titles = [line for line in cell.source.splitlines() if ".set_title(" in line]
            assert all('loc="left"' in line for line in titles), titles


def test_pictures_are_counted_where_a_cell_makes_them():
    assert expected_pictures("wg.plot.tree(t);\nfigure, ax = plt.subplots()") == 2
    assert expected_pictures("wg.plot.decay(t, a, ax=ax)\nwg.plot.COLOURS['trunk']") == 0
