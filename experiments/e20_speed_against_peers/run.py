"""How fast are the wind kernels beside NumPy, SciPy, Numba, Taichi and JAX, in one run?"""

import statistics
import sys
from pathlib import Path

import numpy as np

from windgrove import kernels

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from common import config, folder, interleaved_rounds, save_plot, speed_plot, write_table

HEADER = (
    "task", "implementation", "median_ms", "lower_quartile_ms", "upper_quartile_ms",
    "times_windgrove", "largest_difference",
)  # fmt: skip
SPACINGS = (0.5, 1.0, 2.0)
SHAPE = (18, 50, 50)
DT = 1 / 30


def scene(seed=1):
    """Three default grids: a 6 m/s wind with smooth eddies and some noise."""
    rng = np.random.default_rng(seed)
    z, y, x = np.meshgrid(*[np.arange(n) for n in SHAPE], indexing="ij")
    grids = []
    for spacing in SPACINGS:
        v = rng.normal(0, 0.3, (3, *SHAPE))
        v[0] += 6 + np.sin(x / 5) * np.cos(y / 6)
        v[1] += np.cos(x / 5) * np.sin(y / 6)
        v[2] += 0.5 * np.sin(z / 3)
        grids.append((np.ascontiguousarray(v, np.float32), spacing))
    return grids


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def compact_divergence(velocity, spacing):
    """Outward face velocities over the spacing; in the interior."""
    d = np.zeros(SHAPE, np.float32)
    inner = (slice(1, -1),) * 3
    for c, axis in enumerate((2, 1, 0)):
        d[inner] += np.take(velocity[c], range(2, SHAPE[axis]), axis)[_rest(axis)]
        d[inner] -= np.take(velocity[c], range(SHAPE[axis] - 2), axis)[_rest(axis)]
    return d * np.float32(0.5 / spacing)


def _rest(axis):
    return tuple(slice(None) if a == axis else slice(1, -1) for a in range(3))


def tasks(grids):
    """{task: {implementation: function}}; every function returns what it computed."""
    import peers_numpy

    peers = {"numpy": peers_numpy}
    for name, library in (("numba", "numba"), ("taichi", "taichi"), ("jax", "jax")):
        if optional(library):
            peers[name] = __import__(f"peers_{name}")
    right = [(compact_divergence(v, h), h) for v, h in grids]
    potentials = [np.zeros(SHAPE, np.float32) for _ in grids]
    out = [np.empty_like(v) for v, _ in grids]
    # Grids of one size, projected one after the other, share their scratch.
    memory = {m: kernels.projection_scratch(SHAPE, method=m) for m in ("jacobi", "direct")}

    def project(method, threads=1):
        def run():
            for (v, h), o in zip(grids, out, strict=True):
                kernels.project(v, h, method=method, out=o, scratch=memory[method], threads=threads)
            return out

        return run

    def project_in_new_memory(method):
        return lambda: [kernels.project(v, h, method=method) for v, h in grids]

    def sweep(threads=1):
        def run():
            for (d, h), p in zip(right, potentials, strict=True):
                kernels.jacobi_sweeps(d, h, out=p, scratch=memory["jacobi"], threads=threads)
            return potentials

        return run

    def each(function, *arguments, of=grids):
        return lambda: [function(field, h, *arguments) for field, h in of]

    def whole(function, *arguments):
        def run():
            return [
                function(v, h, *arguments, o) for (v, h), o in zip(grids, peer_out, strict=True)
            ]

        peer_out = [np.empty_like(v) for v, _ in grids]
        return run

    def ours(kernel, *arguments):
        def run():
            for (v, h), o in zip(grids, out, strict=True):
                kernel(v, h, *arguments, out=o)
            return out

        return run

    def threaded(kernel, *arguments):
        def run():
            for (v, h), o in zip(grids, out, strict=True):
                kernel(v, h, *arguments, out=o, threads=2)
            return out

        return run

    table = {
        "20 Jacobi sweeps": {"windgrove": sweep(), "windgrove 2T": sweep(2)},
        "project, 20 Jacobi": {
            "windgrove": project("jacobi"),
            "windgrove 2T": project("jacobi", 2),
            "windgrove, new memory": project_in_new_memory("jacobi"),
        },
        "project, exact": {
            "windgrove": project("direct"),
            "windgrove 2T": project("direct", 2),
            "windgrove, new memory": project_in_new_memory("direct"),
        },
        "advect": {
            "windgrove": ours(lambda v, h, dt, **kw: kernels.advect(v, v, h, dt, **kw), DT),
            "windgrove 2T": threaded(lambda v, h, dt, **kw: kernels.advect(v, v, h, dt, **kw), DT),
        },
        "confine vorticity": {
            "windgrove": ours(kernels.confine_vorticity, DT, 0.3),
            "windgrove 2T": threaded(kernels.confine_vorticity, DT, 0.3),
        },
    }
    for name, module in peers.items():
        table["20 Jacobi sweeps"][name] = each(module.jacobi, 20, of=right)
        table["advect"][name if name != "numpy" else "scipy"] = each(module.advect, DT)
        if hasattr(module, "jacobi_tuned"):
            table["20 Jacobi sweeps"][f"{name} tuned"] = each(module.jacobi_tuned, 20, of=right)
            table["project, 20 Jacobi"][f"{name} tuned"] = whole(module.project_tuned, 20)
        if hasattr(module, "project"):
            table["project, 20 Jacobi"][name] = whole(module.project, 20)
        if hasattr(module, "project_direct"):
            table["project, exact"]["scipy"] = whole(module.project_direct)
        if hasattr(module, "confine"):
            table["confine vorticity"][name] = each(module.confine, DT, 0.3)
    return table


def differences(functions):
    reference = [np.array(a) for a in functions["windgrove"]()]
    return {
        name: max(
            float(np.abs(np.asarray(a) - b).max())
            for a, b in zip(function(), reference, strict=True)
        )
        for name, function in functions.items()
    }


def main():
    settings = config(__file__)
    rows = []
    for task, functions in tasks(scene()).items():
        gap = differences(functions)
        times = interleaved_rounds(functions, settings["rounds"])
        for name, values in times.items():
            low, middle, high = statistics.quantiles(values, n=4)
            # Round by round: what slows one round down meets both.
            pairs = zip(values, times["windgrove"], strict=True)
            ratio = statistics.median(one / ours for one, ours in pairs)
            rows.append((task, name, middle, low, high, ratio, gap[name]))
            print(f"{task:<22}{name:<24}{middle:8.3f} ms {ratio:7.2f} x  {gap[name]:.1e}")
    out = folder(__file__)
    write_table(out / "result.csv", HEADER, rows)
    save_plot(speed_plot(rows, "three grids of 48 x 48 x 16 cells"), out / "result.png")


if __name__ == "__main__":
    main()
