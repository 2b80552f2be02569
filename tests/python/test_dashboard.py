"""The preview behind the dashboard, and the dashboard's sliders."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import windgrove as wg
from plot_scenes import fork_tree


@pytest.fixture(scope="module")
def tree():
    return fork_tree(2)


def test_the_preview_shows_the_species_as_tuned(tree):
    preview = wg.plot.Preview(tree, "oak", seconds=4)
    before, picture = dict(preview.facts), preview.png()
    preview.tune("trunk", "beta", 4 * preview.species.trunk.beta)
    preview.update()
    assert_allclose(preview.facts["frequency"], 2 * before["frequency"], rtol=1e-9)
    assert preview.facts["sway_rms_deg"] < before["sway_rms_deg"]
    assert preview.png() != picture
    assert preview.png().startswith(b"\x89PNG")


def test_the_preview_draws_what_realised_says(tree):
    preview = wg.plot.Preview(tree, "oak", seconds=4)
    table = wg.realised(tree, preview.species)
    x, y = preview._dots["branch"].get_data()
    here = tree.kind == 1
    assert_allclose(x, table["frequency"].to_numpy()[here])
    assert_allclose(y, table["realised_frequency"].to_numpy()[here])


def test_the_same_species_gives_the_same_picture_again(tree):
    preview = wg.plot.Preview(tree, "oak", seconds=4)
    first = preview.png()
    preview.update()
    assert preview.png() == first


def test_what_is_not_tuned_is_refused(tree):
    preview = wg.plot.Preview(tree, "oak", seconds=4)
    with pytest.raises(ValueError, match="name: expected one of beta, zeta, gamma"):
        preview.tune("trunk", "delta", 1.0)
    with pytest.raises(ValueError, match="level"):
        preview.tune("twig", "beta", 1.0)


def test_a_slider_moves_the_picture_and_the_button_saves(tree, tmp_path):
    pytest.importorskip("ipywidgets")
    box = wg.plot.dashboard(tree, "oak", seconds=4, save_as=str(tmp_path / "mine.toml"))
    assert len(box.sliders) == 9
    picture = box.children[1].value
    box.sliders["trunk.gamma"].value = 2 * box.preview.species.trunk.gamma
    assert box.children[1].value != picture
    box.save.click()
    saved = wg.load_species(tmp_path / "mine.toml")
    assert saved.trunk.gamma == box.preview.species.trunk.gamma
    box.path.value = str(tmp_path / "nowhere" / "x.toml")
    box.save.click()
    assert box.children[3].children[2].value.startswith("not saved")


def test_view3d_has_a_mesh_of_the_tree(tree):
    from windgrove.plot.scene_3d import tree_mesh

    points, faces, branch = tree_mesh(tree)
    assert faces.max() < len(points) and len(branch) == len(faces)
    reach = np.concatenate([tree.position, tree.tip])
    assert_allclose(points[:, 2].max(), reach[:, 2].max(), atol=0.6)
    turned = np.zeros((len(tree), 3))
    turned[0, 1] = 0.3
    moved, *_ = tree_mesh(tree, turned)
    assert moved[:, 0].max() > points[:, 0].max()
