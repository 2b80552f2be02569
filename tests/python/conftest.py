"""Shared fixtures: real data where it is present, and a quiet, headless matplotlib."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

os.environ.setdefault("MPLBACKEND", "Agg")


def data_folder() -> Path | None:
    """The folder of real trees and wind: WINDGROVE_DATA, or shared/data beside the checkout."""
    named = os.environ.get("WINDGROVE_DATA")
    candidates = [Path(named)] if named else []
    candidates += [parent / "shared" / "data" for parent in Path(__file__).resolve().parents]
    return next((path for path in candidates if path.is_dir()), None)


@pytest.fixture(params=["scalar", "avx2", "avx512"])
def isa(request):
    """Each instruction set in turn; the one that was active comes back afterwards."""
    from windgrove import _kernels

    before = _kernels.isa()
    try:
        _kernels.force_isa(request.param)
    except ValueError:
        pytest.skip(f"this build or processor has no {request.param}")
    yield request.param
    _kernels.force_isa(before)


@pytest.fixture
def instruction_sets():
    """The names of those that are here; the one that was active comes back afterwards."""
    from windgrove import _kernels

    before = _kernels.isa()
    yield _kernels.instruction_sets()
    _kernels.force_isa(before)


@pytest.fixture(scope="session")
def data() -> Path:
    folder = data_folder()
    if folder is None:
        pytest.skip("the real data files are not here: set WINDGROVE_DATA to their folder")
    return folder
