"""How much memory, and in the slow cases how long, large tree files take.

Each file is read in a process of its own, whose greatest resident memory the system tells: imports
of Python, NumPy and pandas included. Seconds are printed (`-s`) and never asserted.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

LONG = 50  # cylinders of a branch
MEMORY = 1e9  # bytes that a million cylinders may take
READ = """
import resource, sys, time
import windgrove as wg
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin, worked = time.perf_counter(), time.process_time()
tree = wg.read_tree(sys.argv[1])
seconds, worked = time.perf_counter() - begin, time.process_time() - worked
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"{tree.report.format} {tree.report.cylinders} {len(tree)} {seconds:.2f} {worked:.2f} "
      f"{before * 1024} {peak * 1024}")
"""


def cylinders(count):
    """Columns of a tree of branches of 50 cylinders, each on a random one of the first tenth."""
    rng = np.random.default_rng(5)
    row = np.arange(count)
    branch, place = np.divmod(row, LONG)
    parent = row - 1
    heads = row[place == 0]
    carriers = np.minimum(heads - 1, max(count // 10, LONG))
    carrier = (rng.random(len(heads) - 1) * carriers[1:]).astype(int)
    parent[heads[1:]] = carrier - (carrier % LONG == LONG - 1)  # never a last cylinder
    axis = rng.normal(size=(count, 3))
    axis[:, 2] = np.abs(axis[:, 2]) + 0.1
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    length = rng.uniform(0.01, 0.02, count)
    start, end = np.zeros((count, 3)), np.zeros((count, 3))
    for first in heads:  # branch by branch, from where each is carried
        rows = slice(first, first + LONG)
        steps = np.cumsum(axis[rows] * length[rows, None], axis=0)
        base = end[parent[first]] if parent[first] >= 0 else np.zeros(3)
        end[rows] = base + steps
        start[rows] = np.vstack([base, end[rows][:-1]])
    following = np.where((place == LONG - 1) | (row == count - 1), 0, row + 2)
    return {
        "row": row, "parent": parent, "branch": branch, "place": place, "extension": following,
        "start": start, "end": end, "axis": axis, "length": length,
        "radius": rng.uniform(0.002, 0.01, count),
    }  # fmt: skip


def text(path, header, pattern, *columns):
    """A table written row by row with one pattern."""
    wide = [c if c.ndim == 2 else c[:, None] for c in columns]
    lists = [part for c in wide for part in c.T.tolist()]
    with path.open("w") as file:
        file.write(header)
        file.writelines(map(pattern.__mod__, zip(*lists, strict=True)))


def simpleforest(c, path):
    names = (
        "type, ID, parentID, startX, startY, startZ, endX, endY, endZ, radius, volume, "
        "growthVolume, length, growthLength, FittingType, segmentID, parentSegmentID, "
        "segmentMedianRadius, segmentGrowthVolume, segmentGrowthLength, branchOrder, "
        "reverseBranchOrder, reversePipeRadiusBranchorder, reversePipeAreaBranchorder, branchID, "
        "treeSpecies, treeID, translateX, translateY, translatez, gvA, gvB, gvC, glA, glB, glC"
    )
    pattern = (
        "cylinder, %d, %d, " + "%.6f, " * 6 + "%.6f, %.9f, 0.001, %.6f, 1.0, SPHEREFOLLOWING, "
        "%d, -1, 0.01, 0.01, 0.01, 1, 1, 0.01, 0.01, 0, unknown, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0\n"
    )
    volume = np.pi * c["radius"] ** 2 * c["length"]
    text(path, names + "\n", pattern, c["row"], c["parent"], c["start"], c["end"], c["radius"],
         volume, c["length"], c["branch"])  # fmt: skip


def treeqsm_text(c, path):
    pattern = "\t".join(["%.6f"] * 8 + ["%d"] * 2 + ["0", "%.6f", "%d", "%d", "%d"]) + "\n"
    text(path, "", pattern, c["radius"], c["length"], c["start"], c["axis"], c["parent"] + 1,
         c["extension"], c["radius"], c["branch"] + 1, c["branch"] > 0, c["place"] + 1)  # fmt: skip


def minimal(c, path):
    pattern = ",".join(["%d"] * 2 + ["%.6f"] * 7) + "\n"
    text(path, "id,parent,start_x,start_y,start_z,end_x,end_y,end_z,radius\n", pattern,
         c["row"], c["parent"], c["start"], c["end"], c["radius"])  # fmt: skip


def archi(c, path):
    names = ("startX,startY,startZ,endX,endY,endZ,cyl_ID,parent_ID,extension_ID,radius_cyl,"
             "length,volume,axis_ID,segment_ID,node_ID,branching_order\n")  # fmt: skip
    pattern = "%.6f," * 6 + "%d,%d,%d,%.6f,%.6f,0.0001,%d,1,1,1\n"
    text(path, names, pattern, c["start"], c["end"], c["row"] + 1, c["parent"] + 1,
         c["extension"], c["radius"], c["length"], c["branch"] + 1)  # fmt: skip


def rtwig(c, path):
    names = (
        "start_x,start_y,start_z,axis_x,axis_y,axis_z,end_x,end_y,end_z,id,parent,radius,"
        "raw_radius,length,branch,branch_position,branch_order,reverse_order,growth_length\n"
    )
    pattern = "%.6f," * 9 + "%d,%d,%.6f,0.01,%.6f,%d,%d,1,1,1.0\n"
    text(path, names, pattern, c["start"], c["axis"], c["end"], c["row"] + 1, c["parent"] + 1,
         c["radius"], c["length"], c["branch"] + 1, c["place"] + 1)  # fmt: skip


def raycloud(c, path):
    """One tree on one line: the root's point, then where each cylinder ends."""
    first = "# tree file\nx,y,z,radius,parent_id\n%.6f,%.6f,%.6f,%.6f,-1"
    head = first % (*c["start"][0], c["radius"][0])
    text(path, head, ", %.6f,%.6f,%.6f,%.6f,%d", c["end"], c["radius"], c["parent"] + 1)


def treeqsm_mat(c, path):
    from scipy.io import savemat

    def column(values, kind=np.float64):
        return np.asarray(values, kind)[:, None]

    cylinder = {
        "radius": column(c["radius"]), "length": column(c["length"]), "start": c["start"],
        "axis": c["axis"], "parent": column(c["parent"] + 1, np.uint32),
        "extension": column(c["extension"], np.uint32),
        "branch": column(c["branch"] + 1, np.uint32), "added": column(c["row"] * 0, np.uint8),
        "UnmodRadius": column(c["radius"]),
        "SurfCov": column(c["radius"]), "mad": column(c["radius"]),
        "BranchOrder": column(c["row"] * 0, np.uint8),
        "PositionInBranch": column(c["place"] + 1, np.uint16),
    }  # fmt: skip
    savemat(path, {"QSM": {"cylinder": cylinder}}, do_compression=True)


WRITERS = {
    "simpleforest": (simpleforest, "csv"), "treeqsm-text": (treeqsm_text, "txt"),
    "treeqsm": (treeqsm_mat, "mat"), "minimal": (minimal, "csv"), "archi": (archi, "csv"),
    "rtwig": (rtwig, "csv"), "raycloud": (raycloud, "txt"),
}  # fmt: skip


def reading(path):
    """Of reading a file in its own process: format, cylinders, branches, seconds on the clock and
    of the processor, memory before, peak memory (bytes)."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True,
                          check=True, env=environment)  # fmt: skip
    format, *numbers = done.stdout.split()
    return format, *map(float, numbers)


@pytest.fixture(scope="module")
def hundred_thousand():
    return cylinders(100_000)


@pytest.fixture(scope="module")
def million():
    return cylinders(1_000_000)


@pytest.mark.parametrize("format", WRITERS)
def test_a_hundred_thousand_take_a_tenth_of_the_memory(format, hundred_thousand, tmp_path):
    """Beyond what is taken before the file is opened; pandas and SciPy, loaded then, take 80 MB."""
    write, suffix = WRITERS[format]
    path = tmp_path / f"tree.{suffix}"
    write(hundred_thousand, path)
    found, count, branches, *_, before, peak = reading(path)
    assert (found, count, branches) == (format, 100_000, 100_000 / LONG)
    assert peak - before < MEMORY / 10 + 80e6


@pytest.mark.slow
@pytest.mark.parametrize("format", WRITERS)
def test_a_million_cylinders_are_read_in_a_gigabyte(format, million, tmp_path):
    write, suffix = WRITERS[format]
    path = tmp_path / f"tree.{suffix}"
    write(million, path)
    found, count, branches, seconds, worked, _, peak = reading(path)
    size = path.stat().st_size
    print(f"\n| {format} | {size / 1e6:.0f} | {seconds:.1f} | {worked:.1f} | {peak / 1e9:.2f} |")
    assert (found, count, branches) == (format, 1_000_000, 1_000_000 / LONG)
    assert peak < MEMORY
