"""A notebook shows every picture, whatever drew first. matplotlib loads a notebook's backend at the
first figure; what a plot puts back after it must not take the backend's own settings with it."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import windgrove as wg
from windgrove.plot.styles import new_figure, without_display

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FIRST = {
    "a plot": "wg.plot.tree(t);",
    "a style": "with wg.plot.style('paper'):\n    wg.plot.tree(t)",
    "a picture for a file": """
from windgrove.commands.plot import save
save(lambda: wg.plot.tree(t), 'tree.png')""",
}


def test_a_notebook_shows_the_pictures_after_the_first(tmp_path, monkeypatch):
    """A new kernel for each way of drawing first; a picture for a file shows none."""
    monkeypatch.delenv("MPLBACKEND", raising=False)
    shown = {name: _images(code, tmp_path) for name, code in FIRST.items()}
    assert shown == {
        "a plot": [1, 1, 1],
        "a style": [1, 1, 1],
        "a picture for a file": [0, 1, 1],
    }


def _images(first, folder):
    start = "import windgrove as wg\nt = wg.grow_tree('birch', seed=1, foliage=False)"
    codes = (start, first, "wg.plot.tree(t);", "import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(code) for code in codes]
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(
        notebook, timeout=100, kernel_name="python3", resources=resources
    ).execute()
    return [
        sum("image/png" in output.get("data", {}) for output in cell.outputs)
        for cell in notebook.cells[1:]
    ]


def test_a_style_puts_back_its_own_settings_and_no_others():
    before = mpl.rcParams["font.size"], mpl.rcParams["lines.dashed_pattern"]
    was = plt.isinteractive()
    try:
        with wg.plot.style():
            plt.ion()  # as the backend of a notebook does when it loads
            assert mpl.rcParams["font.size"] == 10
        assert plt.isinteractive()
    finally:
        plt.interactive(was)
    assert before == (mpl.rcParams["font.size"], mpl.rcParams["lines.dashed_pattern"])


def test_a_style_within_a_style_puts_back_the_outer_one():
    with wg.plot.style():
        with wg.plot.style("paper"):
            assert mpl.rcParams["font.size"] == 7.5
        assert mpl.rcParams["font.size"] == 10


def test_a_picture_for_a_file_belongs_to_no_window(tmp_path):
    backend, numbers = mpl.rcParams["backend"], plt.get_fignums()
    with without_display():
        figure = new_figure((3, 2))
        figure.subplots().plot([1, 2])
        for suffix in ("png", "pdf", "svg"):
            figure.savefig(tmp_path / f"line.{suffix}")
            assert (tmp_path / f"line.{suffix}").stat().st_size > 1000
    assert (plt.get_fignums(), mpl.rcParams["backend"]) == (numbers, backend)
