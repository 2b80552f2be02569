"""What this copy of windgrove is and how it was built: for reports and for recordings."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from importlib import metadata

LIBRARIES = ("numpy", "scipy", "h5py", "xarray", "matplotlib")


@dataclass(frozen=True)
class BuildInfo:
    """Versions, compiler and instruction set; ``str()`` is ready for a report."""

    version: str
    commit: str  # "unknown" where it was built without git
    compiler: str
    build_type: str
    instruction_set: str  # that the kernels use now; WINDGROVE_ISA forces one
    python: str
    system: str
    libraries: dict[str, str]

    def __str__(self) -> str:
        lines = [
            f"windgrove {self.version} (commit {self.commit})",
            f"  kernels: {self.instruction_set}, {self.compiler}, {self.build_type}",
            f"  python {self.python}, {self.system}",
            "  " + ", ".join(f"{name} {version}" for name, version in self.libraries.items()),
        ]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return asdict(self)


def build_info() -> BuildInfo:
    """Describe this installation: no paths, no names of people or machines.

    Returns
    -------
    BuildInfo
    """
    from . import _kernels

    return BuildInfo(
        version=_kernels.version,
        commit=_kernels.commit,
        compiler=_kernels.compiler,
        build_type=_kernels.build_type,
        instruction_set=_kernels.isa(),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        libraries={name: _version(name) for name in LIBRARIES},
    )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
