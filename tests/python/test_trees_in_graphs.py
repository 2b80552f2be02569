"""Multiscale tree graphs, presets, field tables and repeated models of one tree."""

import csv
import io

import numpy as np
import pytest
from numpy.testing import assert_allclose

import tree_files as files
import windgrove as wg
from windgrove.trees import read_field_table, read_mtg

# Vertices by symbol, counted from the files by their owners.
COUNTS = {
    "openalea-mtg/mtg1.mtg": {"A": 6},
    "openalea-mtg/mtg4.mtg": {"P": 1, "A": 6, "E": 39},
    "openalea-mtg/boutdenoylum2.mtg": {"P": 1, "A": 63, "S": 114, "U": 84},
    "openalea-mtg/reconstructed_appletree.mtg": {"P": 1, "B": 97, "S": 356},
    "multiscaletreegraph/tree1h.mtg": {"A": 384, "S": 763},
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_graph_has_the_vertices_its_file_shows(data, name):
    counts = read_mtg(data / name).counts()
    assert COUNTS[name].items() <= counts.items()


def test_runs_count_all_that_they_stand_for(data):
    """Upstream's own test: the parts of the second vertex of agraf are 59 with itself."""
    graph = read_mtg(data / "openalea-mtg" / "agraf.mtg")
    assert (graph.symbol[1], graph.index[1]) == ("U", 94)
    assert len(graph.components(1)) == 59


@pytest.mark.parametrize(
    ("head", "kind"), [("ENTITY-CODE\n", "ENTITY-CODE"), ("TOPO\n", "TOPO"), ("", "none")]
)
def test_the_header_word_may_be_any_of_two_or_missing(head, kind):
    text = files.MTG_HEAD + head + "/P1\n^/A1\n^/S1<S2\n\t+A2\n\t^/S1\n^<S3\n"
    graph = read_mtg(io.BytesIO(text.encode()))
    assert graph.header == kind
    assert graph.counts() == {"P": 1, "A": 2, "S": 4}
    s = [i for i in range(len(graph)) if graph.symbol[i] == "S"]
    assert [graph.parent[i] for i in s] == [-1, s[0], s[1], s[1]]
    assert [graph.edge[i] for i in s] == ["/", "<", "+", "<"]


def test_a_branch_in_the_column_of_its_axis_leaves_the_axis_where_it_was():
    """What the branch holds stands a column to the right; `^<` goes on with the axis."""
    text = files.MTG_HEAD + "TOPO\n/P1\n^/A1\n\t/S1\n\t^<S2\n\t^+A2\n\t\t/S3\n\t\t^<S4\n\t^<S5\n"
    graph = read_mtg(io.BytesIO(text.encode()))
    index = {graph.index[i]: i for i in range(len(graph)) if graph.symbol[i] == "S"}
    above = {k: graph.parent[i] for k, i in index.items()}
    assert above == {1: -1, 2: index[1], 3: index[2], 4: index[3], 5: index[2]}
    assert [graph.edge[index[k]] for k in (2, 3, 4, 5)] == ["<", "+", "<", "<"]
    axis = {graph.index[i]: i for i in range(len(graph)) if graph.symbol[i] == "A"}
    assert [graph.complex[index[k]] for k in (3, 5)] == [axis[2], axis[1]]


def graph_file(columns, *rows):
    head = files.MTG_HEAD + "ENTITY-CODE" + "\t" * 3 + "\t".join(columns) + "\n"
    return (head + "\n".join(rows) + "\n").encode()


def test_lines_of_the_first_column_go_on_without_a_caret_where_they_begin_no_plant():
    """As openalea.mtg reads the older notation, in which nothing but a plant stands alone."""
    rows = ["/P1/A1", "/S1<S2", "\t+A2", "\t^/S3", "<S4", "/P2/A1", "/S1"]
    graph = read_mtg(io.BytesIO((files.MTG_HEAD + "TOPO\n" + "\n".join(rows) + "\n").encode()))
    s = [i for i in range(len(graph)) if graph.symbol[i] == "S"]
    assert [graph.parent[i] for i in s] == [-1, s[0], s[1], s[1], -1]
    plants = [i for i in range(len(graph)) if graph.symbol[i] == "P"]
    assert [graph.at_scale(i, 1) for i in s] == [plants[0]] * 4 + [plants[1]]


def test_numbers_in_columns_without_a_name_are_told_and_refused_when_strict():
    content = graph_file(["length", "diameter_cm"], "/P1/A1/S1\t\t\t1.5\t4", "\t+A2/S1\t0.5\t1")
    (told,) = [
        repair
        for repair in wg.read_tree(io.BytesIO(content), bad_rows="drop").report.repairs
        if repair.kind == "unnamed-columns"
    ]
    assert told.rows == (content.decode().splitlines().index("\t+A2/S1\t0.5\t1"),)
    with pytest.raises(wg.TreeFormatError, match=r"columns that the header does not name.*strict"):
        wg.read_tree(io.BytesIO(content), bad_rows="drop", strict=True)


def test_diameters_that_are_missing_at_the_top_are_taken_from_the_bottom():
    content = graph_file(
        ["length_m", "BottomDia_cm", "TopDia_cm"],
        "/P1/A1/S1\t\t\t1\t6\t4", "^<S2\t\t\t1\t3\t", "^<S3\t\t\t1\t\t2",
    )  # fmt: skip
    tree = wg.read_tree(io.BytesIO(content))
    assert_allclose(tree.segments.radius, [0.02, 0.015, 0.01])
    assert tree.report.radius_provenance == "measured (TopDia_cm, cm; BottomDia_cm, cm)"


@pytest.mark.parametrize(
    ("height", "thick", "unit"),
    [(3.0, 35, 1e-3), (400, 12, 1e-2), (400, 110, 1e-3), (1500, 400, 1e-4), (250, 500, 1e-4)],
)
def test_the_unit_of_diameters_is_guessed_from_how_slender_the_plant_becomes(height, thick, unit):
    """Of cm, mm and 0.1 mm the one that makes it nearest to 40 times as high as thick."""
    content = graph_file(
        ["XX", "YY", "ZZ", "TopDia"],
        f"/P1/A1/S1\t\t\t0\t0\t0\t{thick}", f"^<S2\t\t\t0\t0\t{height}\t{thick}",
    )  # fmt: skip
    tree = wg.read_tree(io.BytesIO(content))
    assert_allclose(tree.segments.radius[-1], thick * unit / 2)
    assert any("times as high as thick" in repair.message for repair in tree.report.repairs)


def test_the_size_of_a_plant_counts_from_where_its_parts_begin(data):
    """Braeburn's first metre hangs on the point of its coarsest part: 1038 units, not 213."""
    tree = wg.read_tree(data / "openalea-mtg" / "braeburn.mtg")
    assert tree.report.units.startswith("mm, guessed")
    assert_allclose(tree.tip[:, 2].max(), 1.038, rtol=1e-3)
    tree = wg.read_tree(data / "openalea-mtg" / "agraf.mtg", bad_rows="drop")
    assert tree.report.radius_provenance == "measured (TopDia, 0.1 mm)"
    asked = wg.read_tree(
        data / "openalea-mtg" / "agraf.mtg", bad_rows="drop", units="mm,0.1mm", strict=False
    )
    assert_allclose(asked.volume, tree.volume)


def test_each_plant_of_a_file_is_a_tree():
    content = graph_file(
        ["length_m", "diameter_cm"],
        "/P1/A1/S1\t\t\t1\t4", "^<S2\t\t\t2\t3", "/P2/A1/S1\t\t\t3\t2", "/P7/A1/S1\t\t\t4\t1",
    )  # fmt: skip
    trees = wg.read_trees(io.BytesIO(content))
    assert [tree.length.sum() for tree in trees] == [3, 3, 4]
    assert wg.read_tree(io.BytesIO(content)).length.sum() == 3
    assert wg.read_tree(io.BytesIO(content), roots="all").length.sum() == 10
    broken = content.replace(b"4\t1\n", b"-4\t1\n")
    assert wg.read_tree(io.BytesIO(broken)).length.sum() == 3
    with pytest.raises(wg.TreeFormatError, match=r"plant P7\): row"):
        wg.read_trees(io.BytesIO(broken))


def test_plants_that_hang_together_are_one_tree():
    content = graph_file(["length_m", "diameter_cm"], "/P1/A1/S1\t\t\t1\t4", "\t+P2/A1/S1\t\t3\t2")
    tree = wg.read_tree(io.BytesIO(content))
    assert_allclose(tree.length, [1, 3])


def test_an_entity_observed_again_keeps_the_later_values():
    text = (files.MTG_HEAD + "ENTITY-CODE\t\t\tlength\tdiameter_cm\n/P1/A1/S1\t\t\t1.5\t4\n"
            "*\t\t\t2.5\t\n\t+A2/S1\t\t0.5\t1\n\t*\t\t\t2\n")  # fmt: skip
    graph = read_mtg(io.BytesIO(text.encode()))
    assert graph.counts() == {"P": 1, "A": 2, "S": 2}
    tree = wg.read_tree(io.BytesIO(text.encode()))
    assert_allclose(tree.length, [2.5, 0.5], rtol=1e-12)
    assert_allclose(tree.radius, [0.02, 0.01], rtol=1e-12)


def test_an_entity_that_hangs_on_nothing_is_refused_with_its_line():
    text = files.MTG_HEAD + "ENTITY-CODE\n/P1\n^/A1\n\t\t\t+S1\n"
    line = text.splitlines().index("\t\t\t+S1") + 1
    with pytest.raises(wg.TreeFormatError, match=f"line {line}: '.S1' has no entity to hang on"):
        read_mtg(io.BytesIO(text.encode()))


def test_a_symbol_that_no_class_names_is_refused_with_its_line():
    text = files.MTG_HEAD + "ENTITY-CODE\n/P1\n^/Q1\n"
    line = text.splitlines().index("^/Q1") + 1
    with pytest.raises(wg.TreeFormatError, match=f"line {line}: symbol Q is not in CLASSES"):
        read_mtg(io.BytesIO(text.encode()))


def test_bare_topology_loads_as_a_graph_and_as_a_tree_where_lengths_are_asked_for():
    content = files.mtg_topology()
    assert read_mtg(io.BytesIO(content)).counts() == {"P": 1, "A": 2, "S": 7}
    with pytest.raises(wg.TreeFormatError, match=r"topology only \(P 1, A 2, S 7\).*length="):
        wg.read_tree(io.BytesIO(content))
    tree = wg.read_tree(io.BytesIO(content), length=0.2, radius=0.01)
    assert_allclose(sorted(tree.length), [0.4, 1.0], rtol=1e-12)


def test_radii_that_are_not_there_are_asked_for_and_never_read_as_0(data):
    path = data / "openalea-mtg" / "reconstructed_appletree.mtg"
    with pytest.raises(wg.TreeFormatError, match="has no diameters: radius= gives them"):
        wg.read_tree(path)
    tree = wg.read_tree(path, radius="pipe")
    assert tree.report.radius_provenance.startswith("by the pipe model")
    assert (tree.volume > 0).all()
    content = files.mtg_points().decode().replace("\t20.0\n", "\t\n", 1)
    assert content.encode() != files.mtg_points()
    with pytest.raises(wg.TreeFormatError, match=r"the radius is not a number \(radius= gives"):
        wg.read_tree(io.BytesIO(content.encode()))
    assert len(wg.read_tree(io.BytesIO(content.encode()), radius=0.1)) == 4


def test_lengths_that_are_not_there_are_refused_with_their_count(data):
    """17 segments of this walnut have no length; the rest is 0.02370 m3 in cm and mm."""
    path = data / "multiscaletreegraph" / "tree1h.mtg"
    with pytest.raises(wg.TreeFormatError, match=r"the length is not a number \(17 such"):
        wg.read_tree(path, radius=0.001)
    tree = wg.read_tree(path, bad_rows="drop", roots="all", radius=1e-6)
    assert tree.report.cylinders == 746
    assert_allclose(tree.report.volume, 0.02370, rtol=5e-4)
    assert "units-guessed" in [repair.kind for repair in tree.report.repairs]
    with pytest.raises(wg.TreeFormatError, match="strict"):
        wg.read_tree(path, bad_rows="drop", roots="all", radius=1e-6, strict=True)
    told = wg.read_tree(path, bad_rows="drop", roots="all", radius=1e-6, units="cm,mm")
    assert_allclose(told.volume, tree.volume)


def test_the_logs_of_the_stone_pine_have_their_mass(data):
    """Upstream's result at a fresh density of 650 kg/m3: Smalian's formula."""
    path = data / "treecm" / "stonePine1FieldData.csv"
    mass = read_field_table(path).log_mass(650)
    assert_allclose([mass["L1"], mass["L2"]], [1825.12, 192.83], atol=5e-3)
    tree = wg.read_tree(path)
    assert_allclose(tree.report.attributes["log_mass_650"], 1825.12 + 192.83, atol=1e-2)
    assert len(tree) == 24 and 16 < tree.height < 18  # 17.1 m by the file's owners


def test_repeated_models_of_one_tree_have_the_volumes_upstream_lists(data):
    """The summary of ITSMe has one row a model, litres of the whole tree from treedata."""
    with open(data / "itsme" / "summary.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    volumes = [float(row["tree_vol_L"]) for row in rows if row.get("tree_vol_L")]
    for name in ("qsms_tree_v240_notria.mat", "qsms_tree_v230_notria.mat"):
        trees = wg.read_trees(data / "itsme" / name, roots="all")
        assert len(trees) in (4, 10)
        for tree in trees:
            stated = tree.report.attributes["TotalVolume"]
            assert_allclose(tree.report.volume * 1000, stated, rtol=1e-5)
    assert volumes


def test_upstream_and_we_agree_on_the_small_tree(data):
    """Volume, maximal order 4, top and surface as canopyHydrodynamics wrote them."""
    tree = wg.read_tree(data / "canopyhydro" / "5_SmallTree.csv")
    assert_allclose(tree.report.volume, 3.906756, rtol=1e-5)
    assert_allclose(tree.height + tree.base + tree.offset[2], 14.774411, atol=1e-6)
    cylinders = tree.segments
    assert_allclose((2 * np.pi * cylinders.radius * cylinders.length).sum(), 19.853298, rtol=1e-5)


def test_every_preset_of_the_generator_grows(data):
    paths = sorted((data / "ez-tree").glob("*.json"))
    assert paths
    for path in paths:
        tree = wg.read_tree(path)
        assert tree.report.format == "ez-tree" and 50 < len(tree) < 1500


def test_a_preset_out_of_range_is_refused_by_its_path():
    text = files.ez_tree().decode()
    for old, new, match in [
        ('"levels": 2', '"levels": 7', "branch.levels: expected 0 to 3, got 7"),
        ('"0": 30', '"0": "long"', "branch.length.0: expected a number"),
        ('"0": 8', '"0": 1e9', "branch.sections.0: expected 0 to 100"),
    ]:
        assert old in text
        with pytest.raises(wg.TreeFormatError, match=match):
            wg.read_tree(io.BytesIO(text.replace(old, new).encode()))


@pytest.mark.parametrize("tips", [False, True])
def test_rings_give_centres_radii_and_joints_back(tips):
    tree = wg.read_tree(io.BytesIO(files.rings(tips)))
    assert_allclose(np.sort(tree.segments.radius), np.sort(files.RADIUS), rtol=1e-12)
    assert tree.parent.tolist().count(0) == 2 and tree.level.max() == 2


def test_leaves_in_a_mesh_are_passed_over_and_told():
    lines = files.rings().decode().splitlines()
    count = sum(line.startswith("v ") for line in lines)
    leaf = ["v 9 9 9", "v 9 9 8", "v 9 8 8", "v 9 8 9"]
    faces = [f"f {count + 1} {count + 2} {count + 3}", f"f {count + 1} {count + 3} {count + 4}"]
    cut = next(i for i, line in enumerate(lines) if line.startswith("f "))
    text = "\n".join([*lines[:cut], *leaf, *lines[cut:], *faces])
    tree = wg.read_tree(io.BytesIO(text.encode()))
    assert len(tree) == 4
    assert "no-tubes" in [repair.kind for repair in tree.report.repairs]


def test_given_branch_orders_that_differ_from_the_depth_are_told():
    text = files.archi().decode().splitlines()
    changed = [text[0], *(line.rsplit(",", 1)[0] + ",7" for line in text[1:])]
    tree = wg.read_tree(io.BytesIO("\n".join(changed).encode()))
    assert "orders-differ" in [repair.kind for repair in tree.report.repairs]
    assert "orders-differ" not in [
        repair.kind for repair in wg.read_tree(io.BytesIO(files.archi())).report.repairs
    ]
