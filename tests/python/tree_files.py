"""One small tree in every format that windgrove reads, as the tools write it.

A trunk of three cylinders, a branch of two from the top of its first, a twig of one from the
branch's first, and a twig of one from the trunk's second. All cylinders touch. Columns count rows
in this order, so that every format gives the same branches.
"""

import io
import json

import numpy as np

START = np.array(
    [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 1], [0.5, 0, 1.5], [0.5, 0, 1.5], [0, 0, 2]], float
)
END = np.array(
    [[0, 0, 1], [0, 0, 2], [0, 0, 3.5], [0.5, 0, 1.5], [1, 0, 2.25], [0.5, 0.25, 1.75],
     [0, -0.5, 2.25]], float,
)  # fmt: skip
RADIUS = np.array([0.1, 0.08, 0.06, 0.03, 0.02, 0.01, 0.015])
PARENT = np.array([-1, 0, 1, 0, 3, 3, 1])
BRANCH = np.array([0, 0, 0, 1, 1, 2, 3])
ORDER = np.array([0, 0, 0, 1, 1, 2, 1])
POSITION = np.array([1, 2, 3, 1, 2, 1, 1])
EXTENSION = np.array([2, 3, 0, 5, 0, 0, 0])
LENGTH = np.linalg.norm(END - START, axis=1)
AXIS = (END - START) / LENGTH[:, None]
VOLUME = np.pi * RADIUS**2 * LENGTH
COUNT = len(RADIUS)
GROWN = np.array([LENGTH.sum(), LENGTH[[1, 2, 6]].sum(), LENGTH[2], LENGTH[3:6].sum(), *LENGTH[4:]])

BRANCH_LENGTH = np.array([LENGTH[b == BRANCH].sum() for b in range(4)])
BRANCH_VOLUME = np.array([VOLUME[b == BRANCH].sum() for b in range(4)])
BRANCH_PARENT = np.array([-1, 0, 1, 0])


def table(columns, delimiter=",", pad="", newline="\n"):
    """A delimited table from {name: values}; `pad` goes before names, as SimpleForest has it."""
    lines = [delimiter.join(pad + name for name in columns)]
    values = [[v if isinstance(v, str) else repr(v) for v in map(plain, column)]
              for column in columns.values()]  # fmt: skip
    lines += [delimiter.join(row) for row in zip(*values, strict=True)]
    return (newline.join(lines) + newline).encode()


def plain(value):
    return value.item() if isinstance(value, np.generic) else value


def xyz(prefix, values, letters=("X", "Y", "Z")):
    return {prefix + letter: values[:, i] for i, letter in enumerate(letters)}


def simpleforest_17():
    zero = np.zeros(COUNT, int)
    return table(
        {"ID": np.arange(COUNT), "parentID": PARENT, **xyz("start", START), **xyz("end", END),
         "radius": RADIUS, "length": LENGTH, "growthLength": GROWN,
         "averagePointDistance": zero + 0.01, "segmentID": zero, "parentSegmentID": zero - 1,
         "branchOrder": ORDER, "reverseBranchOrder": zero, "branchID": zero},
        pad=" ",
    )  # fmt: skip


def simpleforest_36():
    zero = np.zeros(COUNT, int)
    names = ["segmentMedianRadius", "segmentGrowthVolume", "segmentGrowthLength"]
    late = [
        "treeID",
        "translateX",
        "translateY",
        "translatez",
        "gvA",
        "gvB",
        "gvC",
        "glA",
        "glB",
        "glC",
    ]
    return table(
        {"type": ["cylinder"] * COUNT, "ID": np.arange(COUNT), "parentID": PARENT,
         **xyz("start", START), **xyz("end", END), "radius": RADIUS, "volume": VOLUME,
         "growthVolume": VOLUME, "length": LENGTH, "growthLength": GROWN,
         "FittingType": [" SPHEREFOLLOWING"] * COUNT, "segmentID": zero,
         "parentSegmentID": zero - 1, **dict.fromkeys(names, RADIUS),
         "branchOrder": ORDER, "reverseBranchOrder": zero,
         "reversePipeRadiusBranchorder": RADIUS, "reversePipeAreaBranchorder": zero,
         "branchID": zero, "treeSpecies": [" unknownSpecies"] * COUNT,
         **dict.fromkeys(late, zero)},
        pad=" ",
    )  # fmt: skip


def computree_cylinders():
    return table(
        {"branch_ID": BRANCH * 0, "branch_order": ORDER, "segment_ID": BRANCH,
         "parent_segment_ID": [-1, -1, -1, 0, 0, 1, 0], "growth_volume": VOLUME,
         "growth_length": GROWN, "detection": ["spherefollowing"] * COUNT,
         "improvement": ["RANSAC"] * COUNT, **xyz("start", START), **xyz("end", END),
         "radius": RADIUS, "length": LENGTH, "species": ["none"] * COUNT, "ID": ["a tree"] * COUNT,
         " cylinder_ID": np.arange(COUNT), " cylinder_parent_ID": PARENT,
         " volume (m^3)": VOLUME * 0 + VOLUME.sum(), " length (m)": LENGTH * 0 + LENGTH.sum()},
        delimiter=";",
    )  # fmt: skip


def computree_segments():
    """Segments between forks: the trunk in three, the branch in two."""
    return table(
        {"branch_ID": BRANCH * 0, "branch_order": ORDER, "segment_ID": [0, 1, 2, 3, 4, 5, 6],
         "parent_segment_ID": PARENT, "growth_volume": VOLUME, "species": ["none"] * COUNT,
         "tree_ID": ["a"] * COUNT, "detection_type": ["spherefollowing"] * COUNT,
         **xyz("start", START), **xyz("end", END), "radius": RADIUS, "length": LENGTH},
        delimiter=";",
    )  # fmt: skip


def archi():
    return table(
        {**xyz("start", START), **xyz("end", END), "cyl_ID": np.arange(COUNT) + 1,
         "parent_ID": PARENT + 1, "extension_ID": EXTENSION, "radius_cyl": RADIUS,
         "length": LENGTH, "volume": VOLUME, "axis_ID": BRANCH + 1, "segment_ID": BRANCH + 1,
         "node_ID": BRANCH, "branching_order": ORDER + 1},
    )  # fmt: skip


def rtwig():
    low = ("_x", "_y", "_z")
    return table(
        {**xyz("start", START, low), **xyz("axis", AXIS, low), **xyz("end", END, low),
         "id": np.arange(COUNT) + 1, "parent": PARENT + 1, "radius": RADIUS,
         "raw_radius": RADIUS * 9, "length": LENGTH, "branch": BRANCH + 1,
         "branch_position": POSITION, "branch_order": ORDER,
         "reverse_order": ORDER + 1, "growth_length": GROWN},
    )  # fmt: skip


def rtwig_treeqsm():
    """A TreeQSM table after rTwig's update: extension is the cylinder's own number."""
    low = (".x", ".y", ".z")
    return table(
        {"": np.arange(COUNT) + 1, "parent": PARENT + 1, "extension": np.arange(COUNT) + 1,
         "radius": RADIUS, "UnmodRadius": RADIUS, "length": LENGTH, "branch": BRANCH + 1,
         "BranchOrder": ORDER, "PositionInBranch": POSITION, **xyz("start", START, low),
         **xyz("axis", AXIS, low), **xyz("end", END, low), "totalChildren": ORDER,
         "growthLength": GROWN},
    )  # fmt: skip


def treeqsm_text(order):
    begin = [RADIUS, LENGTH, *START.T, *AXIS.T, PARENT + 1, EXTENSION]
    branch = [BRANCH + 1, ORDER, POSITION]
    added, mad, cover = np.array([0, 1, 0, 0, 0, 0, 0]), RADIUS / 7, RADIUS * 3
    rest = {
        "fields-15": [added, RADIUS, *branch],
        "fields-17": [added, RADIUS, branch[0], cover, mad, *branch[1:]],
        "saved-14": [*branch, added],
        "saved-15": [*branch, added, RADIUS],
        "saved-17": [*branch, mad, cover, added, RADIUS],
    }[order]
    rows = zip(*[map(plain, column) for column in begin + rest], strict=True)
    return "".join("\t".join(map(repr, row)) + "\n" for row in rows).encode()


def treeqsm_text_header():
    names = ("radius (m)|length (m)|start_point|axis_direction|parent|extension|branch|"
             "branch_order|position_in_branch|mad|SurfCov|added|UnmodRadius (m)")  # fmt: skip
    return names.replace("|", "\t").encode() + b"\n" + treeqsm_text("saved-17")


def cylinder_struct(dtype=np.float64):
    def column(values):
        return np.asarray(values)[:, None]

    return {
        "radius": column(RADIUS).astype(dtype), "length": column(LENGTH).astype(dtype),
        "start": START.astype(dtype), "axis": AXIS.astype(dtype),
        "parent": column(PARENT + 1).astype(np.uint8),
        "extension": column(EXTENSION).astype(np.uint16),
        "added": column(EXTENSION * 0).astype(np.uint8), "UnmodRadius": column(RADIUS * 5),
        "branch": column(BRANCH + 1).astype(np.uint16), "SurfCov": column(RADIUS),
        "mad": column(RADIUS), "BranchOrder": column(ORDER).astype(np.uint8),
        "PositionInBranch": column(POSITION).astype(np.uint8),
    }  # fmt: skip


def model(version="2.4.1"):
    return {
        "cylinder": cylinder_struct(),
        "branch": {"order": np.array([[0], [1], [2], [1]], np.uint8)},
        "treedata": {"TotalVolume": VOLUME.sum() * 1000, "TreeHeight": 3.5},
        "rundata": {"version": version},
    }


def mat(variables, **options):
    from scipy.io import savemat

    target = io.BytesIO()
    savemat(target, variables, **options)
    return target.getvalue()


def treeqsm_mat():
    return mat({"OptQSM": model()}, do_compression=True)


def treeqsm_mat_models():
    records = np.empty((1, 3), dtype=[(name, object) for name in model()])
    for i in range(3):
        for name, value in model().items():
            records[name][0, i] = value
    return mat({"QSMs": records})


def treeqsm_mat_flat():
    columns = cylinder_struct()
    runs = np.hstack([columns["branch"], columns["BranchOrder"], columns["PositionInBranch"]])
    return mat(
        {"Rad": columns["radius"], "Len": columns["length"], "Sta": START, "Axe": AXIS,
         "CPar": columns["parent"], "CExt": columns["extension"], "BoC": runs.astype(np.uint8),
         "Added": columns["added"], "CChi": np.array([[None]], dtype=object)[:0]},
    )  # fmt: skip


def treeqsm_mat_hdf5(models=1):
    """MATLAB 7.3: HDF5 behind 512 bytes, arrays transposed, struct arrays as references."""
    import h5py

    target = io.BytesIO()
    with h5py.File(target, "w", userblock_size=512) as file:
        if models == 1:
            group = file.create_group("QSM/cylinder")
            for name, values in cylinder_struct().items():
                group.create_dataset(name, data=values.T)
                group[name].attrs["MATLAB_class"] = np.bytes_("double")
        else:
            struct, kept = file.create_group("QSMs"), file.create_group("#refs#")
            references = []
            for i in range(models):
                group = kept.create_group(f"model{i}")
                for name, values in cylinder_struct().items():
                    group.create_dataset(name, data=values.T)
                    group[name].attrs["MATLAB_class"] = np.bytes_("double")
                references.append(group.ref)
            struct.create_dataset("cylinder", data=np.array([references], dtype=h5py.ref_dtype).T)
    text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon".ljust(124)
    return text + b"\x00\x02IM" + target.getvalue()[128:]


def raycloud(dialect):
    """The tree as points; the root point comes first, so that parents count one on."""
    points = [[*START[0], RADIUS[0], -1]]
    points += [[*END[i], RADIUS[i], PARENT[i] + 1] for i in range(COUNT)]
    points = [[plain(v) for v in p] for p in points]
    wide = [[*p, 255, 0, 7] for p in points]
    if dialect == "comment":
        head = ("# Tree structure. One row per tree, which repeats: "
                "'x,y,z,radius,parent_id,red,green,blue, ' per segment\n")  # fmt: skip
        return (head + line(wide) + ", \n").encode()
    if dialect == "header":
        return ("# trees file:\nx,y,z,radius,parent_id\n" + line(points) + "\n").encode()
    if dialect == "attributes":
        head = "# Tree file.\nheight,crown_radius, x,y,z,radius,parent_id,red,green,section_id\n"
        return (head + "3.5,1.0, " + line(wide) + "\n").encode()
    if dialect == "two lists":
        first = ",".join(map(str, [*points[0][:4], 3.5]))
        head = "# Tree file\nx,y,z,radius,height x,y,z,radius,parent_id,red,green,blue\n"
        return (head + first + ", " + line(wide[1:]) + "\n").encode()
    return (line(points) + "\n").encode()


def line(points):
    return ", ".join(",".join(map(str, p)) for p in points)


def tube(points, radii, sides=10, tip=None):
    """Vertices and triangles of a tube of rings, ring after ring, as AdTree writes it."""
    vertices, faces = [], []
    path = [*points, tip] if tip is not None else points
    for i, point in enumerate(points):
        k = min(i, len(path) - 2)
        along = path[k + 1] - path[k]
        along = along / np.linalg.norm(along)
        side = np.cross(along, [0.3, 1.0, 0.1])
        side /= np.linalg.norm(side)
        other = np.cross(along, side)
        for angle in np.arange(sides) * 2 * np.pi / sides:
            vertices.append(point + radii[i] * (np.cos(angle) * side + np.sin(angle) * other))
    for i in range(len(points) - 1):
        for s in range(sides):
            a, b, c = i * sides + s, i * sides + (s + 1) % sides, (i + 1) * sides + s
            faces += [(a, b, c), (c, b, (i + 1) * sides + (s + 1) % sides)]
    if tip is not None:
        vertices.append(tip)
        last = (len(points) - 1) * sides
        faces += [(last + s, last + (s + 1) % sides, len(vertices) - 1) for s in range(sides)]
    return vertices, faces


def rings(tips=False):
    """Every branch a tube; the far end closed in a point where `tips`, as AdQSM has it."""
    lines, lines_f, count = ["# easy3d"], [], 1
    for b in range(4):
        rows = np.flatnonzero(b == BRANCH)
        points = [START[rows[0]], *END[rows]]
        radii = [*RADIUS[rows], RADIUS[rows[-1]]]
        if tips:
            vertices, faces = tube(points[:-1], radii[:-1], tip=points[-1])
        else:
            vertices, faces = tube(points, radii)
        lines += ["v {:.17g} {:.17g} {:.17g}".format(*v) for v in vertices]
        lines_f += ["f " + " ".join(f"{c + count}//{c + count}" for c in face) for face in faces]
        count += len(vertices)
    return ("\n".join(lines + lines_f) + "\n").encode()


def minimal(end="points", delimiter=",", ids=1):
    columns = {
        "Cylinder Id": np.arange(COUNT) + ids,
        "Parent Id": np.where(PARENT < 0, -1, PARENT + ids),
    }
    columns |= xyz(" start ", START, ("x", "y", "z"))
    if end == "points":
        columns |= xyz(" End_", END, ("X", "Y", "Z"))
    else:
        columns |= {**xyz("axis ", AXIS, ("x", "y", "z")), "Length (m)": LENGTH}
    columns["RADIUS"] = RADIUS
    return table(columns, delimiter=delimiter)


def nodes():
    """One row a point, root first."""
    point = np.vstack([START[:1], END])
    parent = ["NA", *map(str, np.append(PARENT + 1, [])[:COUNT].astype(int))]
    return table(
        {"node_id": np.arange(COUNT + 1), "parent_node_id": parent,
         "x": point[:, 0], "y": point[:, 1], "z": point[:, 2],
         "radius": np.append(RADIUS[0], RADIUS)},
    )  # fmt: skip


def treegraph_columns():
    """Each cylinder of its outer node, leading down to the node below; node 150 is the base."""
    low = ("x", "y", "z")
    return {
        "p1": np.arange(COUNT) + 100.0,
        "p2": np.where(PARENT < 0, 150.0, PARENT + 100.0),
        **xyz("s", END, low),
        **xyz("a", -AXIS, low),
        "radius": RADIUS,
        "length": LENGTH.copy(),
        "vol": VOLUME,
        "nbranch": BRANCH + 0.0,
        "ninternode": BRANCH + 0.0,
        "ncyl": POSITION + 0.0,
        "is_tip": ["False"] * COUNT,
        "branch_order": ORDER + 1.0,
    }


def treegraph_json(columns=None):
    columns = treegraph_columns() if columns is None else columns
    tables = {name: {str(i): plain(v) for i, v in enumerate(values)}
              for name, values in columns.items()}  # fmt: skip
    return json.dumps(
        {"name": "tree", "created": "2024-01-01 10:00:00", "tree": json.dumps({"vol": {"0": 1}}),
         "internode": json.dumps({"length": {"0": 1}}), "node": "{}", "cyls": json.dumps(tables),
         "centres": "{}", "args": {}, "run_time": {"run_time": 3.0}},
    ).encode()  # fmt: skip


MTG_HEAD = """CODE:\tFORM-A

CLASSES :
SYMBOL\tSCALE\tDECOMPOSITION\tINDEXATION\tDEFINITION
$\t0\tFREE\tFREE\tIMPLICIT
P\t1\tFREE\tFREE\tEXPLICIT
A\t2\tFREE\tFREE\tEXPLICIT
S\t3\tFREE\tFREE\tEXPLICIT

DESCRIPTION :
LEFT\tRIGHT\tRELTYPE\tMAX
S\tS\t<\t?

FEATURES:
NAME\tTYPE
XX\tREAL
YY\tREAL
ZZ\tREAL
diameter_cm\tREAL
note\tSTRING

MTG :
"""


def mtg_points():
    """Digitised points in metres; the root point is the first S."""

    def cells(i, depth):
        values = START[0] if i < 0 else END[i]
        radius = RADIUS[max(i, 0)]
        return "\t" * (6 - depth) + "\t".join(map(str, [*values, radius * 200]))

    rows = [
        "ENTITY-CODE\t\t\t\t\t\tXX\tYY\tZZ\tdiameter_cm\tnote", "/P1", "^/A1",
        "^/S1" + cells(-1, 0), "^<S2" + cells(0, 0),
        "\t+A2", "\t^/S1" + cells(3, 1),
        "\t\t+A3", "\t\t^/S1" + cells(5, 2),
        "\t^<S2" + cells(4, 1),
        "^<S3" + cells(1, 0),
        "\t+A4/S1" + cells(6, 1),
        "^<S4" + cells(2, 0),
    ]  # fmt: skip
    return (MTG_HEAD + "\n".join(rows) + "\n").encode()


def mtg_topology():
    rows = ["TOPO", "/P1/A1", "^/S1<<S4", "\t+A2/S1<S2", "^<S5"]
    return (MTG_HEAD + "\n".join(rows) + "\n").encode()


def ez_tree():
    return json.dumps(
        {"seed": 3, "type": "deciduous", "branch": {
            "levels": 2, "angle": {"1": 50, "2": 40}, "children": {"0": 5, "1": 3},
            "force": {"direction": {"x": 0, "y": 1, "z": 0}, "strength": 0.01},
            "gnarliness": {"0": 0.05, "1": 0.1, "2": 0.1}, "length": {"0": 30, "1": 12, "2": 6},
            "radius": {"0": 1, "1": 0.6, "2": 0.5}, "sections": {"0": 8, "1": 6, "2": 4},
            "segments": {"0": 6, "1": 5, "2": 3}, "start": {"1": 0.4, "2": 0.3},
            "taper": {"0": 0.7, "1": 0.6, "2": 0.6}, "twist": {"0": 0, "1": 0, "2": 0}},
         "leaves": {"type": "oak", "count": 3, "size": 2}},
    ).encode()  # fmt: skip


def treecm():
    return (
        b'"code","azimuth","dBase","dTip","length","tipD","height","tilt","toBePruned","pathToTip"\n'
        b'"L1",275,73,41,"10.2","2.5",0,80,"FALSE","TRUE"\n'
        b'"L2",275,41,16,"3.9","2.75",10.2,80,"FALSE","TRUE"\n'
        b'"B1",190,15,0,,7.95,10.1,,"FALSE","FALSE"\n'
        b'"C",275,16,0,3,3,"14.1",80,"FALSE","TRUE"\n'
    )


# name: (content, format found, options needed). All but the last few hold the very same tree.
SAME = {
    "simpleforest 17": (simpleforest_17, "simpleforest", {}),
    "simpleforest 36": (simpleforest_36, "simpleforest", {}),
    "computree cylinders": (computree_cylinders, "computree", {}),
    "computree segments": (computree_segments, "computree", {}),
    "archi": (archi, "archi", {}),
    "rtwig": (rtwig, "rtwig", {}),
    "rtwig treeqsm": (rtwig_treeqsm, "rtwig", {}),
    **{
        f"treeqsm text {order}": (lambda order=order: treeqsm_text(order), "treeqsm-text", {})
        for order in ("fields-15", "fields-17", "saved-14", "saved-15", "saved-17")
    },
    "treeqsm text header": (treeqsm_text_header, "treeqsm-text", {}),
    "treeqsm mat": (treeqsm_mat, "treeqsm", {}),
    "treeqsm mat models": (treeqsm_mat_models, "treeqsm", {}),
    "treeqsm mat flat": (treeqsm_mat_flat, "treeqsm", {}),
    "treeqsm mat 7.3": (treeqsm_mat_hdf5, "treeqsm", {}),
    "treeqsm mat 7.3 models": (lambda: treeqsm_mat_hdf5(3), "treeqsm", {}),
    **{
        f"raycloud {dialect}": (lambda dialect=dialect: raycloud(dialect), "raycloud", {})
        for dialect in ("comment", "header", "attributes", "two lists", "bare")
    },
    "adtree rings": (rings, "adtree", {}),
    "adqsm rings": (lambda: rings(tips=True), "adtree", {}),
    "treegraph json": (treegraph_json, "treegraph", {}),
    "treegraph table": (lambda: table(treegraph_columns()), "treegraph", {}),
    "minimal points": (minimal, "minimal", {}),
    "minimal axis": (lambda: minimal("axis", "\t", 0), "minimal", {}),
    "minimal blanks": (lambda: minimal("points", ";", 5), "minimal", {}),
    "nodes": (nodes, "minimal", {}),
    "mtg points": (mtg_points, "mtg", {}),
}
OTHERS = {
    "mtg topology": (mtg_topology, "mtg", {"length": 0.2, "radius": "pipe"}),
    "treecm": (treecm, "treecm", {}),
    "ez-tree": (ez_tree, "ez-tree", {}),
}
