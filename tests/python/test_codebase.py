"""Rules of the house that a machine can check."""

import ast
import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import windgrove as wg

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "windgrove"
FILE_LINES = 600
FUNCTION_LINES = 60


def text(*parts):
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


def tracked(*patterns):
    """Files of the checkout, or of a release without git: those that are there."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(
            ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
        )
        found = [ROOT / line for line in listed.stdout.splitlines()]
    else:
        found = [path for pattern in patterns for path in ROOT.rglob(pattern)]
    return [path for path in found if path.is_file()]


def test_there_is_one_version():
    version = re.search(r"version: '([^']+)'", text("meson.build")).group(1)
    assert re.search(r"^version: (.+)$", text("CITATION.cff"), re.M).group(1) == version
    assert re.search(r"^## (\S+)", text("CHANGELOG.md"), re.M).group(1) == version
    assert wg.__version__ == version
    assert f"version = {{{version}}}" in wg.cite(None)


def test_every_public_name_is_where_the_package_says():
    missing = []
    for name in wg.__all__:
        try:
            assert getattr(wg, name) is not None
        except (ImportError, AttributeError) as error:
            missing.append(f"{name}: {error}")
    assert not missing, "\n".join(missing)


def test_no_public_name_is_hidden_by_a_module_of_its_name():
    """Importing `windgrove.x` puts the module on the package: a function x would be gone."""
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert not modules & set(wg._HOMES)


def test_importing_the_package_loads_no_heavy_library():
    code = (
        "import sys, windgrove, windgrove.cli;"
        "heavy = 'matplotlib', 'scipy', 'xarray', 'h5py', 'pydantic';"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_every_public_function_and_class_has_a_docstring():
    bare = []
    for module in ("kernels", "reference", "plot", "analysis", "studies"):
        home = importlib.import_module(f"windgrove.{module}")
        for name in getattr(home, "__all__", []):
            thing = getattr(home, name)
            if callable(thing) and not inspect.getdoc(thing):
                bare.append(f"{module}.{name}")
    for name in wg._HOMES:
        if callable(getattr(wg, name)) and not inspect.getdoc(getattr(wg, name)):
            bare.append(name)
    assert not bare


def test_every_kernel_has_a_twin_with_the_same_arguments():
    from windgrove import kernels, reference

    names = [name for name in kernels.__all__ if inspect.isfunction(getattr(kernels, name))]
    for name in names:
        # What a kernel did or where it works, not what it computes.
        if name.endswith(("_report", "_scratch")):
            continue
        ours = list(inspect.signature(getattr(kernels, name)).parameters)
        theirs = list(inspect.signature(getattr(reference, name)).parameters)
        # A twin may leave out what only says where and how fast, and have more for proofs.
        wanted = [p for p in ours if p not in ("threads", "out", "scratch")]
        assert [p for p in theirs if p in wanted] == wanted, name


def test_the_stub_lists_exactly_what_the_extension_has():
    from windgrove import _kernels

    tree = ast.parse((PACKAGE / "_kernels.pyi").read_text())
    stub = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    stub |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    module = {name for name in dir(_kernels) if not name.startswith("__")}
    assert stub == module


def test_the_stub_has_the_arguments_of_the_extension():
    from windgrove import _kernels

    tree = ast.parse((PACKAGE / "_kernels.pyi").read_text())
    wrong = []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        try:
            signature = inspect.signature(getattr(_kernels, node.name))
        except ValueError:
            wrong.append(f"{node.name}: no signature in its docstring")
            continue
        stub = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        real = [p for p in signature.parameters if p != "module"]
        if stub != real:
            wrong.append(f"{node.name}: stub {stub}, module {real}")
    assert not wrong, "\n".join(wrong)


def test_only_the_binding_knows_python():
    guilty = [
        path
        for path in tracked("csrc/*.c", "csrc/*.h", "tests/c/*")
        if "csrc/binding" not in path.as_posix()
        and re.search(r"#include\s*[<\"](Python|numpy/)", path.read_text(encoding="utf-8"))
    ]
    assert not guilty


@pytest.mark.skipif(not shutil.which("nm"), reason="nm is not installed")
def test_everything_the_core_exports_has_its_prefix(tmp_path):
    libraries = [
        path
        for folder in ("build/make", "build/cp311", "build/c")
        for path in (ROOT / folder).glob("csrc/libwindgrove_core.a")
    ]
    if not libraries:
        pytest.skip("no build folder with the core here")
    listed = subprocess.run(
        ["nm", "--extern-only", "--defined-only", str(libraries[0])],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = {line.split()[2] for line in listed.splitlines() if len(line.split()) == 3}
    assert names
    assert not {name for name in names if not name.startswith(("wg_", "wgi_"))}


def test_files_stay_short():
    long = {
        path.relative_to(ROOT).as_posix(): count
        for path in tracked("csrc/*.[ch]", "python/*.py", "experiments/*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > FILE_LINES
    }
    assert not long


def test_functions_stay_short():
    """Docstrings do not count: a long contract is no long function."""
    long = []
    for path in tracked("python/windgrove/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body[1:] if ast.get_docstring(node) and node.body[1:] else node.body
                lines = node.body[-1].end_lineno - body[0].lineno + 1
                if lines > FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {lines}")
    assert not long, "\n".join(long)


def test_notebooks_are_committed_without_outputs():
    kept = []
    for path in tracked("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell.get("outputs") or cell.get("execution_count"):
                kept.append(path.name)
    assert not kept


def test_documents_mention_no_missing_file():
    """Relative Markdown links, and paths in backticks that name a file of the checkout."""
    missing = []
    for path in tracked("*.md"):
        content = path.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", content):
            if "://" not in target and not (path.parent / target).exists():
                missing.append(f"{path.relative_to(ROOT)}: {target}")
        top = r"`((?:csrc|python|tests|docs|experiments|notebooks|benchmarks)/[\w./-]+\.\w+)`"
        for target in re.findall(top, content):
            if not (ROOT / target).exists() and "docs/_build" not in target:
                missing.append(f"{path.relative_to(ROOT)}: {target}")
    assert not missing, "\n".join(missing)


def test_no_registry_host_and_no_path_of_one_machine_is_named():
    hosts = re.compile(r"pypi\.org|pythonhosted\.org|deb\.debian\.org|/home/\w+/|/root/")
    guilty = [
        path.relative_to(ROOT).as_posix()
        for path in tracked(
            "*.py", "*.md", "*.toml", "*.c", "*.h", "*.build", "Makefile", ".ci/run"
        )
        if path.name != "test_codebase.py" and hosts.search(path.read_text(encoding="utf-8"))
    ]
    assert not guilty


def test_dependencies_have_lower_bounds_only():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    needs = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        needs += extra
    assert all(re.fullmatch(r"[\w.-]+>=[\d.]+", need) for need in needs)


def test_experiments_have_their_parts():
    for folder in sorted((ROOT / "experiments").glob("e[0-9]*")):
        for name in ("README.md", "config.toml", "run.py", "result.csv", "result.png"):
            assert (folder / name).is_file(), f"{folder.name} has no {name}"


def readme_example():
    blocks = re.findall(r"```python\n(.*?)```", text("README.md"), re.S)
    assert len(blocks) == 1
    return blocks[0]


def test_the_readme_example_has_ten_lines():
    assert len(readme_example().strip().splitlines()) <= 12


def test_the_readme_example_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(readme_example(), "README.md", "exec"), {"__name__": "readme"})
    assert {path.name for path in tmp_path.iterdir()} >= {
        "oak.h5",
        "spectrum.png",
        "oak.gif",
        "oak-site.toml",
    }


def test_every_test_that_the_validation_page_names_exists():
    missing = []
    for file, _, name in re.findall(r"`(test_\w+\.py)(::(test_\w+))?`", text("docs/validation.md")):
        path = ROOT / "tests" / "python" / file
        if not path.exists() or (name and f"def {name}(" not in path.read_text(encoding="utf-8")):
            missing.append(f"{file}::{name}")
    assert not missing


def test_documents_cite_what_a_reader_can_find():
    """No shorthand of the design documents in public text: "seed 000", "MODEL 2.4"."""
    shorthand = re.compile(r"\bseed (?:document )?0\d\d\b|\bMODEL \d")
    found = []
    for path in [*tracked("docs/*.md"), *tracked("docs/**/*.md"), *tracked("python/windgrove/*.py"),
                 *tracked("csrc/include/*.h"), *tracked("*.md")]:  # fmt: skip
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if shorthand.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)


def test_a_look_into_the_package_shows_its_names_alone():
    import windgrove

    shown = {name for name in dir(windgrove) if not name.startswith("__")}
    assert shown == set(windgrove.__all__) - {"__version__"}
