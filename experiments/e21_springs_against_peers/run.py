"""How fast is the spring step beside NumPy and Numba, in one run?"""

import statistics
import sys
from pathlib import Path

import numpy as np

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from common import config, folder, interleaved_rounds, save_plot, speed_plot, write_table

HEADER = (
    "task", "implementation", "median_ms", "lower_quartile_ms", "upper_quartile_ms",
    "ns_per_branch", "times_windgrove", "largest_difference_rad",
)  # fmt: skip
DT = np.float32(1 / 30)
SPEED = (6.0, 1.0, 0.0)


def specimen(branches, seed):
    """A random tree of depth about 3: a trunk, limbs on it, twigs on those."""
    rng = np.random.default_rng(seed)
    parent = np.empty(branches, np.int32)
    parent[0] = -1
    limbs = max(branches // 12, 1)
    inner = max(branches * 28 // 100, 1)
    for i in range(1, branches):
        parent[i] = 0 if i <= limbs else rng.integers(1, limbs + 1)
        if i > inner:
            parent[i] = rng.integers(min(limbs, i - 1), min(inner, i - 1) + 1)
    direction = rng.normal(size=(branches, 3))
    direction[0] = (0, 0, 1)
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    length = rng.uniform(0.3, 1.5, branches)
    length[0] = 10
    position = np.zeros((branches, 3))
    for i in range(1, branches):
        p = parent[i]
        position[i] = position[p] + rng.uniform(0.3, 1) * length[p] * direction[p]
    volume = 1e-4 * length**2
    volume[0] = 0.3
    return wg.Tree(
        position=position,
        direction=direction,
        length=length,
        volume=volume,
        area=np.zeros(branches),
        kind=np.minimum(np.arange(branches), 1),
        parent=parent,
    )


def peer_tree(tree, species):
    """The arrays the peers take: rest pose and coefficients with the clamp already in."""
    p = wg.branch_parameters(tree, species)
    stiffness = np.minimum(p.stiffness, p.mass / DT**2)
    damping = np.minimum(p.damping, p.mass / DT)
    columns = (tree.position, tree.direction, tree.length, tree.parent)
    columns += tuple(c / p.mass * DT for c in (stiffness, damping, p.drag))
    return tuple(
        np.ascontiguousarray(c, np.int32 if c is tree.parent else np.float32) for c in columns
    )


def peers(trees, count, species):
    """{name: function}; each steps every specimen's instances once and returns the rotations."""
    import springs_numpy

    wind = np.tile(np.array(SPEED, np.float32), (count, 1))

    def states():
        return [[np.zeros((count, len(t), 3), np.float32) for _ in range(3)] for t in trees]

    described = [peer_tree(t, species) for t in trees]
    levels = [[np.flatnonzero(t.level == d) for d in range(t.level.max() + 1)] for t in trees]
    held = {"numpy": states()}

    def numpy_step():
        for state, tree, level in zip(held["numpy"], described, levels, strict=True):
            springs_numpy.step(state, tree, wind, DT, level)
        return held["numpy"]

    functions = {"numpy": numpy_step}
    try:
        import springs_numba
    except ImportError as error:
        print(f"without Numba: {error}")
        return functions

    def numba(name, kernel):
        held[name] = states()

        def step():
            for state, tree in zip(held[name], described, strict=True):
                kernel(tuple(state), tree, wind, DT)
            return held[name]

        return step

    functions["numba idiomatic"] = numba("numba idiomatic", springs_numba.step_one_thread)
    functions["numba idiomatic 2T"] = numba("numba idiomatic 2T", springs_numba.step_two_threads)
    return functions | tuned_numba(trees, count, described)


def tuned_numba(trees, count, described):
    """The form with instances side by side; a last block that is not full is stepped whole."""
    import springs_numba_tuned as tuned

    wind = np.array(SPEED, np.float32)
    blocks = -(-count // tuned.LANES)

    def numba(kernel):
        states = [
            tuple(np.zeros((blocks, len(t), 3, tuned.LANES), np.float32) for _ in range(3))
            for t in trees
        ]

        def step():
            for state, tree in zip(states, described, strict=True):
                kernel(state, tree, wind, DT)
            return [[state[0][..., 0]] for state in states]

        return step

    return {
        "numba tuned": numba(tuned.step_one_thread),
        "numba tuned 2T": numba(tuned.step_two_threads),
    }


def ours(trees, count, species, wind, **options):
    every = [tree for tree in trees for _ in range(count)]
    at = np.zeros((len(every), 3))
    sway = wg.Sway(every, species, at, noise=0.0, **options)

    def step():
        sway.step(wind, dt=float(DT))
        return sway

    return step


def implementations(trees, count, species):
    wind = wg.UniformWind(SPEED)
    functions = {
        "windgrove": ours(trees, count, species, wind),
        "windgrove 2T": ours(trees, count, species, wind, threads=2),
        "windgrove packed": ours(trees, count, species, wind, state="packed"),
        "windgrove packed 2T": ours(trees, count, species, wind, state="packed", threads=2),
    }
    return functions | peers(trees, count, species)


def differences(trees, species, steps=30):
    """Largest difference of the first tree's rotations from ours after some steps from rest."""
    final = {}
    for name, function in implementations(trees, 1, species).items():
        for _ in range(steps):
            state = function()
        final[name] = state.state(0).rotation if "windgrove" in name else state[0][0][0]
    ours_final = np.array(final["windgrove"])
    return {name: float(np.abs(np.asarray(f) - ours_final).max()) for name, f in final.items()}


def compare(task, trees, count, species, rounds):
    gap = differences(trees, species)
    times = interleaved_rounds(implementations(trees, count, species), rounds)
    base = statistics.median(times["windgrove"])
    branches = count * sum(len(t) for t in trees)
    for name, values in times.items():
        low, middle, high = statistics.quantiles(values, n=4)
        each = 1e6 * middle / branches
        print(f"{task:<18}{name:<22}{middle:9.3f} ms {each:8.2f} ns/branch {middle / base:7.2f} x")
        yield (task, name, middle, low, high, each, middle / base, gap[name])


def main():
    settings = config(__file__)
    species = wg.load_species("oak")
    forest = [specimen(250, seed) for seed in range(4)]
    rows = list(compare("one tree of 300", [specimen(300, 9)], 1, species, settings["rounds"]))
    rows += compare("forest", forest, settings["trees"] // 4, species, settings["forest_rounds"])
    out = folder(__file__)
    write_table(out / "result.csv", HEADER, rows)
    save_plot(speed_plot(rows, "one step of every spring"), out / "result.png")


if __name__ == "__main__":
    main()
