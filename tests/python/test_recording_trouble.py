"""Recordings where the disk is full, the working folder moves, or variables differ in length."""

import errno

import h5py
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import windgrove as wg
from windgrove.recording import commit_file
from windgrove.recording.writer import ChannelSpec, RecordingWriter

BRANCHES = np.arange(400)


def writer(path, **options):
    channels = {name: ChannelSpec("rad", dims=("branch",)) for name in ("angle", "wind")}
    return RecordingWriter(path, channels=channels, coords={"branch": BRANCHES}, **options)


def write(recorder, frames, first=0):
    noise = np.random.default_rng(first).normal(size=(frames, len(BRANCHES)))
    recorder.append(0.1 * (first + np.arange(frames)), {"angle": noise, "wind": noise})


@pytest.fixture
def disk(monkeypatch):
    """A disk on which no file grows beyond `disk.size`."""

    class Disk:
        size = 1 << 60

    true = commit_file._write_all

    def limited(fd, data, offset):
        if offset + len(data) > Disk.size:
            raise OSError(errno.ENOSPC, "No space left on device")
        true(fd, data, offset)

    monkeypatch.setattr(commit_file, "_write_all", limited)
    return Disk


@pytest.mark.parametrize("at_once", [True, False])
def test_half_of_what_fits_is_kept_where_the_disk_is_full_at_once(tmp_path, disk, at_once):
    disk.size = 1_500_000
    count = 2000 if at_once else 10
    full = pytest.raises(OSError, match=r"make room.*; the \d+ frames up to .* kept")
    with full as caught, writer(tmp_path / "a.h5") as recorder:
        for n in range(2000 // count):
            write(recorder, count, n * count)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / "a.h5.part")
    with pytest.warns(UserWarning, match="cut short"):
        dataset = wg.open_recording(tmp_path / "a.h5")
    with dataset:
        # Two channels of 1600 bytes, of which noise packs to nine tenths.
        assert dataset.sizes["time"] >= 0.4 * 1_500_000 / (0.9 * 3200)
        assert f"the {dataset.sizes['time']} frames" in str(caught.value)


def test_a_disk_that_holds_no_frame_is_said_to(tmp_path, disk):
    recorder = writer(tmp_path / "a.h5")
    disk.size = 1000
    with pytest.raises(OSError, match=r"make room.*; no frame was written"), recorder:
        write(recorder, 100)


def test_a_wind_says_which_file_is_full_and_goes_on(tmp_path, disk):
    wind = wg.Wind((6, 0, 0), cells=(16, 16, 8), levels=1)
    disk.size = 300_000
    path = tmp_path / "w.vtkhdf"
    full = pytest.raises(OSError, match=r"make room.*; the \d+ frames up to .* kept")
    with full as caught, wind.record(path):
        for _ in range(100):
            wind.step()
    assert caught.value.filename == str(path) + ".part"
    time = wind.time
    wind.step()
    assert wind.time > time
    with h5py.File(str(path) + ".part", "r") as file:
        assert f"the {len(file['wind/time'])} frames" in str(caught.value)


def test_a_relative_path_is_that_of_the_start(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    wind = wg.Wind((6, 0, 0), cells=(8, 8, 4), levels=1)
    with writer("a.h5") as recorder, wind.record("w.vtkhdf"):
        monkeypatch.chdir(tmp_path / "other")
        write(recorder, 3)
        wind.step()
    assert (tmp_path / "a.h5").exists() and (tmp_path / "w.vtkhdf").exists()
    assert not list((tmp_path / "other").iterdir())


def test_a_reader_gives_the_frames_that_every_variable_has(tmp_path):
    path = tmp_path / "a.h5"
    with writer(path) as recorder:
        write(recorder, 30)
    with wg.open_recording(path) as dataset:
        angle = dataset.angle.values
    with h5py.File(path, "r+") as file:
        file["wind"].resize(20, axis=0)
    with wg.open_recording(path) as dataset:
        assert dataset.sizes["time"] == 20
        assert_array_equal(dataset.angle, angle[:20])
        assert np.isfinite(dataset.wind).all()
        assert dataset.attrs["status"] == "complete"
    with h5py.File(path, "r+") as file:
        file["time"][12:] = 0.0
    with wg.open_recording(path) as dataset:
        assert_array_equal(dataset.time, 0.1 * np.arange(12))
    with h5py.File(path, "r+") as file:
        file["wind"].resize(0, axis=0)
    with wg.open_recording(path) as dataset:
        assert dataset.sizes["time"] == 0
