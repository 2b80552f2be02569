"""Sweeps over MPI processes, where mpi4py and an MPI are installed."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import sys
    from pathlib import Path

    import numpy as np
    import test_sweep as single
    import xarray as xr
    from mpi4py import MPI
    from mpi4py.futures import MPICommExecutor, MPIPoolExecutor

    OPTIONS = dict(beta=np.geomspace(0.3, 3, 6), duration=2)


    def compare(executor, store):
        assert executor.submit(MPI.COMM_WORLD.Get_rank).result() > 0 or store is None
        table = single.run(**OPTIONS, store=store, chunk_size=1, executor=executor)
        xr.testing.assert_identical(table, single.run(**OPTIONS))
        if store is not None:
            assert len(list(store.glob("*.chunk.h5"))) == 12
            xr.testing.assert_identical(single.run(**OPTIONS, store=store), table)
        assert executor.submit(int, 1).result() == 1  # it was left running
        print("equal")


    def main():
        store = Path(sys.argv[1])
        if sys.argv[2] == "pool":
            with MPIPoolExecutor() as executor:
                compare(executor, store)
        else:
            with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
                if executor is not None:
                    compare(executor, store)


    if __name__ == "__main__":
        main()
"""


@pytest.mark.parametrize(("kind", "module"), [("pool", ["-m", "mpi4py.futures"]), ("comm", [])])
def test_processes_of_mpi_change_no_bit(tmp_path, kind, module):
    """Two workers and a caller; bits as with the threads of one process."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    start = shutil.which("mpiexec")
    if start is None:
        pytest.skip("no mpiexec on the path")
    script = tmp_path / "spread.py"
    script.write_text(textwrap.dedent(SCRIPT))
    # As root, and with more processes than cores, Open MPI wants to be told; others ignore it.
    told = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_btl": "self,vader",
    }
    program = [sys.executable, "-W", "ignore", *module, script]
    done = subprocess.run(
        [start, "-n", "3", *program, tmp_path / "store", kind],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, **told, "PYTHONPATH": os.path.dirname(__file__)},
    )
    assert done.returncode == 0 and "equal" in done.stdout, done.stderr
