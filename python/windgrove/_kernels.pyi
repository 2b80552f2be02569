from typing import Any

import numpy as np
from numpy.typing import NDArray

version: str
compiler: str
build_type: str
commit: str

def isa() -> str: ...
def instruction_sets() -> tuple[str, ...]: ...
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
def rotation_frames(
    position: NDArray[np.float64],
    parent: NDArray[np.int32],
    rotation: NDArray[np.float64],
    quaternion: NDArray[np.float64],
    pivot: NDArray[np.float64],
    /,
) -> None: ...
def step_springs(
    rotation: NDArray[np.float32],
    previous_rotation: NDArray[np.float32],
    angular_velocity: NDArray[np.float32],
    position: NDArray[np.float64],
    direction: NDArray[np.float64],
    length: NDArray[np.float64],
    parent: NDArray[np.int32],
    mass: NDArray[np.float64],
    stiffness: NDArray[np.float64],
    damping: NDArray[np.float64],
    drag: NDArray[np.float64],
    wind: NDArray[np.float32],
    dt: float,
    clamp: int,
    inertia: bool,
    relative_damping: bool,
    torsion: bool,
    scratch: NDArray[np.uint8],
    threads: int,
    /,
) -> int | None: ...
def step_springs_scratch(count: int, /) -> int: ...
def advect(
    field: NDArray[np.float32],
    velocity: NDArray[np.float32],
    spacing: float,
    dt: float,
    solid: NDArray[np.bool_] | None,
    out: NDArray[np.float32],
    threads: int,
    first: NDArray[np.float32] | None,
    scratch: NDArray[np.uint8] | None,
    /,
) -> None: ...
def confine_vorticity(
    velocity: NDArray[np.float32],
    spacing: float,
    dt: float,
    epsilon: float,
    solid: NDArray[np.bool_] | None,
    out: NDArray[np.float32],
    threads: int,
    scratch: NDArray[np.uint8] | None,
    /,
) -> None: ...
def flow_scratch_size(nz: int, ny: int, nx: int, /) -> int: ...
def sample(
    field: NDArray[np.float32],
    origin: NDArray[np.float64],
    spacing: float,
    points: NDArray[np.float64],
    out: NDArray[np.float32],
    threads: int,
    /,
) -> None: ...
def wind_sample(
    view: object, points: NDArray[np.float64], out: NDArray[np.float32], threads: int, /
) -> None: ...
def wind_cells(
    velocity: NDArray[np.float32], out: NDArray[np.float32], threads: int, /
) -> None: ...
def project(
    velocity: NDArray[np.float32],
    spacing: float,
    solid: NDArray[np.bool_] | None,
    pressure: NDArray[np.float32] | None,
    out: NDArray[np.float32],
    method: int,
    discretisation: int,
    iterations: int,
    tolerance: float,
    measure: bool,
    threads: int,
    scratch: NDArray[np.uint8] | None,
    /,
) -> tuple[bool, int, int, float, float, float]: ...
def jacobi_sweeps(
    divergence: NDArray[np.float32],
    spacing: float,
    solid: NDArray[np.bool_] | None,
    pressure: NDArray[np.float32],
    from_zero: bool,
    iterations: int,
    scratch: NDArray[np.uint8] | None,
    threads: int,
    /,
) -> None: ...
def project_scratch_size(
    nz: int, ny: int, nx: int, method: int, discretisation: int, solid: bool, /
) -> int: ...
def divergence(
    velocity: NDArray[np.float32],
    spacing: float,
    solid: NDArray[np.bool_] | None,
    pressure: NDArray[np.float32] | None,
    out: NDArray[np.float32],
    /,
) -> None: ...
def noise_table(seed: int, out: NDArray[np.uint8], /) -> None: ...
def cascade_place(
    focus: NDArray[np.float64],
    cells: NDArray[np.int32],
    cell_size: float,
    floor: float | None,
    low: NDArray[np.int64],
    /,
) -> None: ...
def cascade_inject(
    grid: tuple, outside: object, noise: tuple | None, everywhere: bool, threads: int, /
) -> None: ...
def cascade_recentre(
    grid: tuple,
    low: NDArray[np.int64],
    coarser: tuple | None,
    outside: object,
    noise: tuple | None,
    threads: int,
    /,
) -> None: ...
def cascade_inner_border(fine: tuple, coarse: tuple, threads: int, /) -> None: ...
def cascade_restrict(coarse: tuple, fine: tuple, threads: int, /) -> None: ...
def cascade_effect(
    grid: tuple, effectors: NDArray[np.float64], dt: float, threads: int, /
) -> None: ...
def cascade_add_blast(
    grid: tuple, blast: NDArray[np.float64], factor: float, threads: int, /
) -> None: ...
def cascade_drag(grid: tuple, rate: NDArray[np.float32], dt: float, threads: int, /) -> None: ...
def skin(
    position: NDArray[np.float64],
    length: NDArray[np.float64],
    parent: NDArray[np.int32],
    rotation: NDArray[np.float64],
    vertices: NDArray[np.float32],
    normals: NDArray[np.float32] | None,
    branch: NDArray[np.uint16],
    out_vertices: NDArray[np.float32],
    out_normals: NDArray[np.float32] | None,
    scratch: NDArray[np.uint8],
    threads: int,
    /,
) -> None: ...
def skin_scratch(branch_count: int, /) -> int: ...
def voxelize_mesh(
    vertices: NDArray[np.float64],
    faces: NDArray[np.int32],
    origin: NDArray[np.float64],
    spacing: float,
    fill: int,
    scratch: NDArray[np.int32],
    out: NDArray[np.bool_],
    /,
) -> None: ...
def voxelize_box(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    origin: NDArray[np.float64],
    spacing: float,
    out: NDArray[np.bool_],
    /,
) -> None: ...
def voxelize_sphere(
    centre: NDArray[np.float64],
    radius: float,
    origin: NDArray[np.float64],
    spacing: float,
    out: NDArray[np.bool_],
    /,
) -> None: ...
def voxelize_terrain(
    height: NDArray[np.float64],
    height_origin: NDArray[np.float64],
    height_spacing: float,
    origin: NDArray[np.float64],
    spacing: float,
    out: NDArray[np.bool_],
    /,
) -> None: ...
def cascade_move(
    grids: tuple,
    low: NDArray[np.int64] | None,
    outside: object,
    noise: tuple | None,
    threads: int,
    /,
) -> None: ...
def cascade_scratch_size(grids: tuple, options: tuple, /) -> int: ...
def cascade_step(
    grids: tuple,
    options: tuple,
    work: tuple,
    effectors: NDArray[np.float64],
    blasts: NDArray[np.float64],
    threads: int,
    /,
) -> tuple | None: ...
def specimen_size(count: int, /) -> int: ...
def specimen_init(
    position: NDArray[np.float64],
    direction: NDArray[np.float64],
    length: NDArray[np.float64],
    parent: NDArray[np.int32],
    memory: NDArray[np.uint8],
    /,
) -> None: ...
def forest_springs(
    mass: NDArray[np.float64],
    stiffness: NDArray[np.float64],
    damping: NDArray[np.float64],
    drag: NDArray[np.float64],
    dt: float,
    clamp: int,
    out: NDArray[np.float32],
    /,
) -> None: ...
def specimen_inner_count(specimen: NDArray[np.uint8], /) -> int: ...
def forest_repack(
    specimen: Any,
    swing: Any,
    change: Any,
    rate: Any,
    rotation: Any,
    previous_rotation: Any,
    angular_velocity: Any,
    into: Any,
    /,
) -> None: ...
def forest_scratch(padded: int, threads: int, /) -> int: ...
def forest_run(
    forest: tuple[Any, ...],
    options: tuple[Any, ...],
    wind: tuple[Any, Any],
    steps: int,
    record: tuple[Any, ...] | None,
    drag: NDArray[np.float32] | None,
    scratch: NDArray[np.uint8],
    threads: int,
    /,
) -> tuple[int, int, int] | None: ...
def pack_chunk(
    items: NDArray[np.float32],
    offset: int,
    frames: int,
    stride: int,
    run: int,
    chunk_frames: int,
    chunk_run: int,
    coded: bool,
    planes: NDArray[np.uint8],
    out: NDArray[np.uint8],
    /,
) -> int: ...
def pack_room(count: int, /) -> int: ...
def pack_rotation(
    rotvec: NDArray[np.float64],
    direction: NDArray[np.float64],
    packed: NDArray[np.uint16],
    /,
) -> None: ...
def unpack_rotation(
    packed: NDArray[np.uint16],
    direction: NDArray[np.float64],
    rotvec: NDArray[np.float64],
    /,
) -> None: ...
