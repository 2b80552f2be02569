"""Recording the wind to .vtkhdf: the layout, xarray's view and VTK's."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from windgrove.wind.cascade import Wind


def recorded(tmp_path, focus=None, steps=6, **options):
    wind = Wind((6, 0, 0), cells=(12, 16, 8), levels=2, seed=1)
    frames = [wind.state()]
    with wind.record(tmp_path / "wind.vtkhdf", **options) as recorder:
        for number in range(steps):
            wind.step(focus=None if focus is None else focus(number))
            frames.append(wind.state())
    return wind, recorder, frames


def interior(velocity):
    return np.moveaxis(velocity[:, 1:-1, 1:-1, 1:-1], 0, -1)


def test_the_layout_is_that_of_a_vtkhdf_image_with_steps(tmp_path):
    wind, recorder, frames = recorded(tmp_path, levels=1, every=2)
    assert [path.name for path in recorder.paths] == ["wind.vtkhdf"]
    assert recorder.frames == 4
    with h5py.File(recorder.paths[0]) as file:
        image = file["VTKHDF"]
        assert image.attrs["Type"] == b"ImageData"
        assert image.attrs["Version"].tolist() == [2, 0]
        assert image.attrs["WholeExtent"].tolist() == [0, 11, 0, 15, 0, 7]
        assert_allclose(image.attrs["Origin"], np.array(wind.origin(1)) + 1.5 * wind.spacing(1))
        assert image.attrs["Spacing"].tolist() == [1, 1, 1]
        assert image["Steps"].attrs["NSteps"] == 4
        assert_allclose(image["Steps/Values"], np.arange(4) * 2 / 30, atol=1e-15)
        assert image["PointData/velocity"].shape == (4, 8, 16, 12, 3)
        assert image["PointData/velocity"].id == file["wind/velocity"].id
        assert image["PointData/velocity"].dtype == np.float32
        for n in range(4):
            assert_array_equal(image["PointData/velocity"][n], interior(frames[2 * n].velocity[1]))


def test_xarray_opens_it_with_names_and_places(tmp_path):
    wind, recorder, frames = recorded(tmp_path)
    assert [path.name for path in recorder.paths] == ["wind-level0.vtkhdf", "wind-level1.vtkhdf"]
    with xr.open_dataset(recorder.paths[0], group="wind", engine="h5netcdf") as table:
        assert table.velocity.dims == ("time", "z", "y", "x", "component")
        assert table.velocity.attrs["units"] == "m s-1"
        assert table.sizes["time"] == 7
        assert table.attrs["level"] == 0
        point = {"x": table.x[3], "y": table.y[5], "z": table.z[2]}
        seen = table.velocity.sel(time=table.time[-1], component=b"x", **point)
        place = [[float(point[name]) for name in "xyz"]]
        assert_allclose(float(seen), wind.sample(place)[0, 0], rtol=1e-6)
        assert_array_equal(table.velocity[3], interior(frames[3].velocity[0]))


def test_frames_keep_their_place_in_the_world_when_the_grid_moves(tmp_path):
    wind, recorder, _ = recorded(tmp_path, focus=lambda n: (0.7 * n, -0.4 * n, 2), levels=0)
    with xr.open_dataset(recorder.paths[0], group="wind", engine="h5netcdf") as table:
        last = table.isel(time=-1)
        assert_allclose(last.origin, np.array(wind.origin(0)) + wind.spacing(0))
        covered = np.isfinite(last.velocity.values).all(axis=-1)
        assert 0 < covered.sum() < covered.size
        low = float(table.x[covered.any(axis=(0, 1))].min())
        assert low == pytest.approx(wind.origin(0)[0] + 1.5 * wind.spacing(0))
        # At a cell's centre away from the rim a sample is the cell itself.
        k, j, i = np.argwhere(covered)[covered.sum() // 2 + 3]
        place = [[float(table.x[i]), float(table.y[j]), float(table.z[k])]]
        assert_allclose(last.velocity[k, j, i], wind.sample(place)[0], rtol=1e-6)


@pytest.mark.slow
def test_vtk_reads_every_step(tmp_path):
    vtk = pytest.importorskip(
        "vtkmodules.vtkIOHDF", reason="vtk is not installed", exc_type=ImportError
    )
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

    _, recorder, frames = recorded(tmp_path, levels=0)
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(recorder.paths[0]))
    assert reader.CanReadFile(str(recorder.paths[0]))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    assert_allclose(times, np.arange(7) / 30)
    for number, time in enumerate(times):
        reader.UpdateTimeStep(time)
        image = reader.GetOutput()
        assert image.GetDimensions() == (12, 16, 8)
        values = vtk_to_numpy(image.GetPointData().GetArray("velocity"))
        assert_array_equal(values.reshape(8, 16, 12, 3), interior(frames[number].velocity[0]))


def test_recording_changes_no_bit_and_copies_do_not_record(tmp_path):
    wind, _, _ = recorded(tmp_path)
    quiet = Wind((6, 0, 0), cells=(12, 16, 8), levels=2, seed=1)
    for _ in range(6):
        quiet.step()
    assert_array_equal(wind.velocity(0), quiet.velocity(0))
    with wind.record(tmp_path / "other.vtkhdf", levels=0) as recorder:
        wind.copy().step()
        assert recorder.frames == 1
    wind.step()
    assert recorder.frames == 1


def test_an_error_inside_leaves_finished_files(tmp_path):
    wind = Wind((6, 0, 0), cells=(4, 4, 4), levels=1)
    with pytest.raises(KeyboardInterrupt), wind.record(tmp_path / "a.vtkhdf"):
        wind.step()
        raise KeyboardInterrupt
    with xr.open_dataset(tmp_path / "a.vtkhdf", group="wind", engine="h5netcdf") as table:
        assert table.sizes["time"] == 2
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("options", "error", "name"),
    [
        ({"path": "a.h5"}, ValueError, "path"),
        ({"levels": 2}, ValueError, "levels"),
        ({"levels": ()}, ValueError, "levels"),
        ({"levels": (0, 0)}, ValueError, "levels"),
        ({"every": 0}, ValueError, "every"),
        ({"path": "missing/a.vtkhdf"}, FileNotFoundError, "folder"),
    ],
)
def test_bad_input_names_the_argument(tmp_path, options, error, name):
    wind = Wind((6, 0, 0), cells=(4, 4, 4), levels=2)
    options = {"path": "a.vtkhdf"} | options
    path = tmp_path / options.pop("path")
    with pytest.raises(error, match=name):
        wind.record(path, **options)


def test_an_existing_file_is_kept_when_asked(tmp_path):
    wind = Wind((6, 0, 0), cells=(4, 4, 4), levels=1)
    (tmp_path / "a.vtkhdf").write_text("mine")
    with pytest.raises(FileExistsError, match=r"a\.vtkhdf"):
        wind.record(tmp_path / "a.vtkhdf", overwrite=False)
    assert (tmp_path / "a.vtkhdf").read_text() == "mine"


KILLED = """
import os, signal, sys
import windgrove as wg
from windgrove.wind import vtkhdf

vtkhdf.FLUSH_SECONDS = 0.0
write = os.pwrite

def run(folder, number):
    left = [number]

    def dying_write(fd, data, offset):
        left[0] -= 1
        if left[0]:
            return write(fd, data, offset)
        write(fd, bytes(data)[: len(data) // 2], offset)
        os.kill(os.getpid(), signal.SIGKILL)

    os.pwrite = dying_write
    wind = wg.Wind((6, 0, 0), cells=(4, 4, 4), levels=1, turbulence=0.0)
    recorder = wind.record(f"{folder}/{number}.vtkhdf")
    with open(f"{folder}/{number}.count", "w") as count:
        while True:
            print(recorder.frames, file=count, flush=True)
            wind.step()

for number in range(1, 130, 4):
    child = os.fork()
    if child == 0:
        run(sys.argv[1], number)
    os.waitpid(child, 0)
"""


def test_a_kill_within_any_write_leaves_all_frames_up_to_the_last_commit(tmp_path):
    """SIGKILL in the middle of write 1, 5, 9, ...: of HDF5's own, of a journal, of a commit."""
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=True)
    most = 0
    for number in range(1, 130, 4):
        path = tmp_path / f"{number}.vtkhdf"
        counted = tmp_path / f"{number}.count"
        if not counted.exists():  # killed before the first frame was on disk
            continue
        last = int(counted.read_text().split()[-1])
        assert not path.exists()
        assert wg.recover_recording(path) == path
        with h5py.File(path) as file:
            frames = file["wind/velocity"][:]
            assert len(frames) == len(file["wind/time"]) == file["VTKHDF/Steps"].attrs["NSteps"]
            assert last <= len(frames) <= last + 1
            assert_allclose(file["wind/time"][:], np.arange(len(frames)) / 30)
        assert_array_equal(frames, np.broadcast_to(np.float32([6, 0, 0]), frames.shape))
        most = max(most, last)
    assert most >= 4
