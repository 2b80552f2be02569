"""Sphinx: built with warnings as errors and without a network."""

import os
import re
from pathlib import Path

HERE = Path(__file__).parent
project = "windgrove"
author = "The windgrove developers"
project_copyright = author
meson = (HERE.parent / "meson.build").read_text(encoding="utf-8")
release = version = re.search(r"version: '([^']+)'", meson).group(1)

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "jupyter_execute", "**/.ipynb_checkpoints", "README.md"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
default_role = "code"
nitpicky = False

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

# Notebooks are committed without outputs and executed here; WINDGROVE_SMALL makes them quick.
nb_execution_mode = os.environ.get("WINDGROVE_DOCS_EXECUTE", "auto")
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_execution_excludepatterns = ["dashboard*"]

html_theme = "furo"
html_title = f"windgrove {release}"
html_static_path = []
html_show_sphinx = False


def _write(name: str, text: str) -> None:
    """Write a generated page where it changed, so that an unchanged build stays quick."""
    path = HERE / "generated" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _c_pages() -> None:
    for header in sorted((HERE.parent / "csrc/include/windgrove").glob("*.h")):
        _write(
            f"c_{header.stem}.md",
            f"# windgrove/{header.name}\n\n"
            f"```{{literalinclude}} ../../csrc/include/windgrove/{header.name}\n"
            ":language: c\n```\n",
        )


def _there(module: object, name: str) -> bool:
    try:
        return hasattr(module, name)
    except ImportError:
        return False


def _entry(kind: str, name: str) -> list[str]:
    members = "   :members:\n" if kind == "class" else ""
    return [f"```{{eval-rst}}\n.. auto{kind}:: windgrove.{name}\n{members}```", ""]


def _api_pages() -> None:
    """A page for each part of the package, from what the package itself exports."""
    import importlib
    import inspect

    import windgrove

    groups: dict[str, list[str]] = {}
    for name, home in windgrove._HOMES.items():
        if not _there(windgrove, name):
            continue
        groups.setdefault(home.split(".")[1], []).append(name)
    for group, names in sorted(groups.items()):
        lines = [f"# {group.replace('_', ' ')}", ""]
        for name in names:
            kind = "class" if inspect.isclass(getattr(windgrove, name)) else "function"
            lines += _entry(kind, name)
        _write(f"api_{group}.md", "\n".join(lines))
    for module in ("plot", "kernels", "analysis", "studies"):
        home = importlib.import_module(f"windgrove.{module}")
        taken = {name for names in groups.values() for name in names}
        lines = [f"# windgrove.{module}", "", inspect.cleandoc(home.__doc__ or ""), ""]
        for name in sorted(getattr(home, "__all__", [])):
            thing = getattr(home, name)
            if name in taken or not callable(thing):
                continue
            kind = "class" if inspect.isclass(thing) else "function"
            members = "   :members:\n" if kind == "class" else ""
            lines += [
                f"```{{eval-rst}}\n.. auto{kind}:: windgrove.{module}.{name}\n{members}```",
                "",
            ]
        _write(f"module_{module}.md", "\n".join(lines))


_c_pages()
_api_pages()
