import numpy as np
from numpy.typing import NDArray

version: str
compiler: str
build_type: str

def isa() -> str: ...
def force_isa(name: str, /) -> None: ...
def perlin(points: NDArray[np.float64], seed: int, out: NDArray[np.float64], /) -> None: ...
def total_mass(
    own_mass: NDArray[np.float64], parent: NDArray[np.int32], out: NDArray[np.float64], /
) -> None: ...
def propagate_drag(
    direct_drag: NDArray[np.float64],
    position: NDArray[np.float64],
    direction: NDArray[np.float64],
    length: NDArray[np.float64],
    parent: NDArray[np.int32],
    propagation: NDArray[np.float64],
    arriving: NDArray[np.float64],
    out: NDArray[np.float64],
    /,
) -> None: ...
