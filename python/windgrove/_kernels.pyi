import numpy as np
from numpy.typing import NDArray

version: str
compiler: str
build_type: str

def isa() -> str: ...
def force_isa(name: str, /) -> None: ...
def perlin(points: NDArray[np.float64], seed: int, out: NDArray[np.float64], /) -> None: ...
