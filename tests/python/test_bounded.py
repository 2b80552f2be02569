"""Every real tree runs for a minute, bounded and finite, at ordinary and at large steps."""

import numpy as np
import pytest

import windgrove as wg

TREES = [
    "archi/Tree_1_TreeQSM.txt",
    "canopyhydro/1_TenCyls.csv",
    "canopyhydro/5_SmallTree.csv",
    "canopyhydro/charlie_brown.csv",
    "canopyhydro/example_tree.csv",
    "canopyhydro/minimal_tree.csv",
    "itsme/buttressed_tree_1_qsm_1.mat",
    "itsme/qsm_tree_v200.mat",
    "itsme/qsm_tree_v230.mat",
    "itsme/qsm_tree_v240_notria.mat",
    "itsme/qsm_trunk.mat",
    "itsme/qsms_tree_v230_notria.mat",
    "itsme/qsms_tree_v240_notria.mat",
    "itsme/single_tree_2_qsm.mat",
    "leafgen/ExampleQSM.mat",
    "rtwig/QSM.csv",
    "rtwig/QSM.mat",
    "rtwig/QSM2.csv",
]


@pytest.mark.parametrize("dt", [1 / 30, 1 / 10])
@pytest.mark.parametrize("name", TREES)
def test_a_real_tree_runs_a_minute_bounded_and_comes_to_rest(name, dt, data):
    """Gusts of 4 to 12 m/s, then still air. Principal rotation vectors are at most pi by
    construction, so what says something is that energy does not stay: after the wind the trunk
    falls by its own damping."""
    tree = wg.read_tree(data / name, foliage="bundles")
    wind = wg.GustWind((8, 0, 0), shape="periodic", amplitude=4, frequency=0.2)
    sway = wg.Sway(tree, "oak")
    sway.step(wind, dt=dt, steps=round(60 / dt))
    blown = np.linalg.norm(sway.rotation[0], axis=1)
    assert np.isfinite(sway.rotation).all() and blown.max() <= np.pi + 1e-6
    assert np.linalg.norm(sway.angular_velocity[0], axis=1).max() < 2 * np.pi / dt
    period = 1 / wg.natural_frequencies(tree, "oak").values.min()
    sway.step(None, dt=dt, steps=round(20 * period / dt))
    still = np.linalg.norm(sway.rotation[0], axis=1)
    assert still.max() <= 0.01
