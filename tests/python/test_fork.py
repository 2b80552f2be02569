"""A process that has used several threads forks: its child computes, or says why not; no hang."""

import subprocess
import sys
import textwrap

SCRIPT = """
    import multiprocessing, os, signal
    import numpy as np
    import windgrove as wg

    tree = wg.grow_tree("birch", seed=1)


    def make():
        return wg.Sway(tree, "birch", at=[(8.0 * i, 0, 0) for i in range(20)], threads=2)


    def advance(sway, wind):
        wind.step()
        sway.step(wind, steps=3)
        return sway.rotation.tobytes()


    def job(queue):
        sway = make()
        sway.step(wg.UniformWind((6, 0, 0)), steps=3)
        queue.put(sway.rotation.tobytes())


    wind = wg.Wind((6, 0, 0), cells=(16, 16, 16), levels=2, cell_size=1, seed=1, threads=2)
    sway = make()
    advance(sway, wind)
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os.write(theirs, advance(sway, wind)[:4000])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(ours, 4000) == advance(sway, wind)[:4000]

    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=job, args=(queue,))
    process.start()
    got = queue.get(timeout=30)
    process.join()
    alone = make()
    alone.step(wg.UniformWind((6, 0, 0)), steps=3)
    assert got == alone.rotation.tobytes()
    print("equal")
"""


def test_a_forked_child_steps_on_with_the_same_bits():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and done.stdout.endswith("equal\n"), done.stderr
