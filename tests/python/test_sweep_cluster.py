"""Sweeps on a dask cluster of this machine, where distributed is installed."""

import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import os, signal, sys, threading, time
    from pathlib import Path

    sys.path.insert(0, sys.argv[1])
    import numpy as np
    import test_sweep as single
    import xarray as xr
    from distributed import Client, LocalCluster

    BETA = np.geomspace(0.3, 3, 20)


    def kill_one(pid, store):
        while len(list(store.glob("*.chunk.h5"))) < 3:
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)


    def main():
        store = Path(sys.argv[2])
        expected = single.run(beta=BETA, duration=10)
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            before = list(client.run(os.getpid).values())
            killer = threading.Thread(target=kill_one, args=(before[0], store), daemon=True)
            killer.start()
            executor = client.get_executor(pure=False, retries=3)
            options = dict(beta=BETA, duration=10, store=store, chunk_size=1, executor=executor)
            table = single.run(**options)
            killer.join(10)
            assert not killer.is_alive(), "no worker was killed"
            xr.testing.assert_identical(table, expected)
            assert len(list(store.glob("*.chunk.h5"))) == 40
            xr.testing.assert_identical(single.run(**options), expected)
            client.submit(int, 1).result()  # the cluster was left running
        print("equal")


    if __name__ == "__main__":
        main()
"""


@pytest.mark.slow
def test_a_dask_cluster_that_loses_a_worker_changes_no_bit(tmp_path):
    """A worker is killed once three chunks are on disk; dask runs what it had elsewhere."""
    pytest.importorskip("distributed", reason="distributed is not installed")
    script = tmp_path / "cluster.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, os.path.dirname(__file__), tmp_path / "store"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and "equal" in done.stdout, done.stderr
