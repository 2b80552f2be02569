"""Every real tree file gives its reference sums: counts, volume, length, drag area, trunk."""

import pytest
from numpy.testing import assert_allclose

import windgrove as wg

# file: cylinders, branches of the file or chains, V m3, sum of l m, sum of 2 r l m2,
# trunk V m3, trunk l m. Computed from the files by the tables' owners; None: not given.
SUMS = {
    "canopyhydro/1_TenCyls.csv": (10, 1, 0.327784, 2.667, 1.0537, None, None),
    "canopyhydro/minimal_tree.csv": (23, None, 0.010295, 8.096, 0.3192, None, None),
    "canopyhydro/5_SmallTree.csv": (517, 83, 3.906777, 45.369, 6.3195, None, 18.284),
    "canopyhydro/charlie_brown.csv": (463, 83, 0.019637, 35.063, 0.4854, None, 7.978),
    "canopyhydro/example_tree.csv": (9998, 1831, 1.391985, 970.491, 23.8221, None, 13.010),
    "rtwig/QSM.csv": (1149, 69, 0.029974, 31.426, 0.9632, None, 4.321),
    "rtwig/QSM.mat": (1136, 82, 0.021568, 32.800, 0.7950, 0.01077, 3.461),
    "rtwig/QSM2.csv": (1231, 121, 0.021786, 34.244, None, None, None),
    "archi/Tree_1_TreeQSM.txt": (2271, 233, 3.899062, 320.664, None, 2.03517, 20.084),
    "itsme/qsm_tree_v200.mat": (115, 23, 0.008041, 15.495, 0.3466, 0.00555, 6.083),
    "itsme/qsm_tree_v230.mat": (88, 3, 0.216567, 21.801, 2.1535, 0.21651, 19.387),
    "itsme/qsm_tree_v240_notria.mat": (66, 2, 0.263656, 21.583, 2.6169, 0.25847, 19.630),
    "itsme/single_tree_2_qsm.mat": (106, 10, 0.903532, 27.724, 5.1158, 0.81806, 16.461),
    "itsme/qsm_trunk.mat": (48, 1, 7.459675, 25.850, 13.9743, 7.45968, 25.850),
    "itsme/buttressed_tree_1_qsm_1.mat": (211, 30, 1.027159, 49.521, 6.3803, 0.95993, 23.620),
    "leafgen/ExampleQSM.mat": (6687, 1319, 0.953047, 608.590, 18.4281, 0.60096, 18.007),
}
TOLERANCE = 1e-4
PRINTED = {"volume": 5e-7, "length": 5e-4, "drag": 5e-5, "trunk volume": 5e-6}  # last digits


@pytest.mark.parametrize("name", SUMS)
def test_a_real_file_gives_its_reference_sums(data, name):
    count, branches, volume, length, drag, trunk_volume, trunk_length = SUMS[name]
    tree = wg.read_tree(data / name, roots="all", branch_budget=None)
    report = tree.report
    assert report.cylinders == count
    assert branches in (None, report.branches)
    close(report.volume, volume, "volume")
    close(tree.volume.sum(), volume, "volume")
    close(report.cylinder_length, length, "length")
    close(report.drag_area, drag, "drag")
    close(tree.length[0], trunk_length, "length")
    close(tree.volume[0], trunk_volume, "trunk volume")
    assert abs(report.volume - volume) * 500 < 1e-4 * 500 * volume + 5e-3  # 500 V, two decimals


def close(seen, printed, what):
    """To 1e-4, or to half a unit of the last printed digit where that is coarser."""
    if printed is not None:
        assert_allclose(seen, printed, rtol=TOLERANCE, atol=PRINTED[what])
