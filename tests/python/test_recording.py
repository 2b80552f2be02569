"""Recordings: the layout others read, and what is left of a run that goes wrong."""

import errno
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import h5py
import numpy as np
import psutil
import pytest
import xarray as xr

import windgrove as wg
from windgrove.recording import ChannelSpec, RecordingWriter
from windgrove.recording.commit_file import CommitFile, journal_path, replay
from windgrove.recording.layout import chunk_shape
from windgrove.recording.writer import BLOCK_BYTES, WAITING_BLOCKS, part_path

BRANCHES = 5
CHANNELS = {
    "rotation": ChannelSpec("rad", long_name="rotation vector"),
    "tip": ChannelSpec("m", long_name="tip"),
}
COORDS = {
    "instance": [0, 1],
    "branch": np.arange(BRANCHES),
    "component": ["x", "y", "z"],
    "kind": ("branch", np.array([0, 1, 1, 2, 2], dtype=np.uint8)),
    "length": ("branch", np.linspace(1, 2, BRANCHES)),
}


def frames(start, count):
    """Frames that say by their values which they are."""
    number = np.arange(start, start + count)
    rotation = number[:, None, None, None] + np.linspace(0, 0.5, 2 * BRANCHES * 3).reshape(
        2, BRANCHES, 3
    )
    return number / 30, {"rotation": rotation.astype("f4"), "tip": -rotation.astype("f4")}


def writer(path, **options):
    return RecordingWriter(path, **{"channels": CHANNELS, "coords": COORDS, **options})


def check(dataset, count):
    times, data = frames(0, count)
    assert dataset.sizes["time"] == count
    np.testing.assert_array_equal(dataset.time, times)
    for name, values in data.items():
        np.testing.assert_array_equal(dataset[name], values)


def write(path, count, block=7, **options):
    with writer(path, **options) as recorder:
        for start in range(0, count, block):
            recorder.append(*frames(start, min(block, count - start)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.h5"


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("compression", ["gzip", None])
def test_what_was_appended_is_read_back(path, live, compression):
    write(path, 3000, live=live, compression=compression, attrs={"seed": 3, "config": {"a": [1]}})
    assert [item.name for item in path.parent.iterdir()] == ["run.h5"]
    with wg.open_recording(path) as dataset:
        check(dataset, 3000)
        assert dataset.attrs["status"] == "complete"
        assert dataset.attrs["seed"] == 3
        assert dataset.attrs["config"] == '{"a": [1]}'
        assert dataset.rotation.attrs["units"] == "rad"


def test_xarray_opens_it_without_options(path):
    write(path, 10, groups={"tree": {"length": ("node", np.ones(4)), "node": np.arange(4)}})
    with xr.open_dataset(path, engine="h5netcdf") as dataset:
        check(dataset, 10)
        assert dataset.rotation.dims == ("time", "instance", "branch", "component")
        assert list(dataset.component.values) == ["x", "y", "z"]
        assert set(dataset.rotation.coords) >= {"kind", "length"}
        assert dataset.time.attrs["units"] == "s" and dataset.time.dtype == np.float64
        assert dataset.attrs["Conventions"].startswith("CF-")
        assert float(dataset.rotation.sel(component="z", branch=1).isel(time=3, instance=0)) > 3
    with xr.open_dataset(path, engine="h5netcdf", group="tree") as tree:
        assert tree.length.sizes == {"node": 4}


@pytest.mark.parametrize("live", [False, True])
def test_netcdf4_opens_it_without_options(path, live):
    pytest.importorskip("netCDF4", reason="the netCDF4 package is not installed")
    write(path, 10, live=live, groups={"tree": {"length": ("node", np.ones(4))}})
    # In another process: two HDF5 libraries in one do not go together (h5py#2453).
    script = """
        import sys, netCDF4
        with netCDF4.Dataset(sys.argv[1]) as file:
            rotation = file["rotation"]
            print(rotation.dimensions, rotation.shape, rotation.units, float(rotation[3, 0, 0, 0]))
            print(list(file["component"][:]), file.groups["tree"]["length"].dimensions)
    """
    out = python(script, path)
    assert out.splitlines() == [
        "('time', 'instance', 'branch', 'component') (10, 2, 5, 3) rad 3.0",
        "['x', 'y', 'z'] ('node',)",
    ]


def python(script, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_texts_longer_than_an_hdf5_attribute_come_back(path):
    text = "ä" * 100_000
    write(path, 2, attrs={"config": text})
    with wg.open_recording(path) as dataset:
        assert dataset.attrs["config"] == text


@pytest.mark.parametrize(
    "shape", [(1, 1, 3), (1, 300, 3), (1000, 300, 3), (4000, 250), (1, 65536, 3), ()]
)
def test_chunks_are_neither_tiny_nor_huge(shape):
    """h5py#159: chunks of one row make appending very slow; the cache of readers is 1 MiB."""
    chunk = chunk_shape(shape, 4)
    assert 64 * 1024 <= np.prod(chunk) * 4 <= 1024 * 1024
    assert all(c <= s for c, s in zip(chunk[1:], shape, strict=True))


def test_the_file_can_be_read_within_a_second_of_the_first_frame(path):
    recorder = writer(path)
    recorder.append(*frames(0, 3))
    time.sleep(1.0)
    with h5py.File(part_path(path)) as file:
        assert len(file["time"]) == len(file["rotation"]) == 3
    recorder.close()


def test_a_reader_does_not_disturb_the_writer(path):
    with writer(path) as recorder:
        for start in range(0, 60, 20):
            recorder.append(*frames(start, 20))
            recorder.flush()
            with pytest.warns(UserWarning, match="still being written"):
                dataset = wg.open_recording(path)
            check(dataset, start + 20)
            dataset.close()
    with wg.open_recording(path) as dataset:
        check(dataset, 60)


def test_another_process_follows_a_live_recording(path):
    script = """
        import sys, windgrove as wg
        dataset = wg.open_recording(sys.argv[1], live=True)
        print(dataset.sizes["time"], float(dataset.rotation[-1, 0, 0, 0]))
    """
    with writer(path, live=True) as recorder:
        for start in (0, 100):
            recorder.append(*frames(start, 100))
            recorder.flush()
            assert python(script, part_path(path)) == f"{start + 100} {start + 99}.0\n"


KILLED = """
    import sys, itertools
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    import test_recording as t
    block, live = int(sys.argv[3]), sys.argv[4] == "live"
    recorder = t.writer(sys.argv[2], live=live)
    for start in itertools.count(0, block):
        recorder.append(*t.frames(start, block))
        if start % (50 * block) == 0:
            recorder.flush()
            print(start + block, flush=True)
"""


def kill_a_run(path, block, mode, delay):
    run = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), os.path.dirname(__file__)]  # noqa: RUF005
        + [str(path), str(block), mode],
        stdout=subprocess.PIPE,
        text=True,
    )
    run.stdout.readline()
    time.sleep(delay)
    run.send_signal(signal.SIGKILL)
    out, _ = run.communicate()
    return max(map(int, out.split()), default=block)


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_run_leaves_all_flushed_frames(path, seed):
    """The writer flushes without pause, so that the kill hits commits as well as pauses."""
    rng = np.random.default_rng(seed)
    flushed = kill_a_run(path, int(rng.integers(1, 400)), "plain", rng.uniform(0, 0.3))
    with pytest.warns(UserWarning, match="cut short"):
        dataset = wg.open_recording(path)
    assert dataset.sizes["time"] >= flushed
    check(dataset, dataset.sizes["time"])
    dataset.close()
    with xr.open_dataset(part_path(path), engine="h5netcdf") as plain:
        check(plain, plain.sizes["time"])


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_live_run_is_recovered(path, seed):
    rng = np.random.default_rng(seed)
    flushed = kill_a_run(path, int(rng.integers(1, 400)), "live", rng.uniform(0, 0.3))
    with pytest.warns(UserWarning, match="cut short"):
        dataset = wg.open_recording(path)
    assert dataset.sizes["time"] >= flushed
    dataset.close()
    assert wg.recover_recording(path) == path
    with xr.open_dataset(path, engine="h5netcdf") as plain:
        assert plain.sizes["time"] >= flushed
        check(plain, plain.sizes["time"])
        assert plain.attrs["status"] == "recovered"


def test_every_state_between_two_writes_is_readable(path):
    """A copy of the file and its journal after every single write of the system."""
    part, states = part_path(path), []

    def copy(file):
        if not file.watched:
            return
        journal = journal_path(part)
        states.append((part.read_bytes(), journal.read_bytes() if journal.exists() else None))

    class Watched(CommitFile):
        watched = False

        def write(self, data):
            count = super().write(data)
            copy(self)
            return count

        def _attempt(self, function, *arguments):
            if function.__name__ == "_apply":
                for offset, data in arguments[1].items():
                    function(arguments[0], {offset: data})
                    copy(self)
            else:
                super()._attempt(function, *arguments)
            copy(self)

    record_into(Watched, part, blocks=12)
    assert len(states) > 100
    last = 0
    for content, journal in states:
        part.write_bytes(content)
        if journal is not None:
            journal_path(part).write_bytes(journal)
        replay(part)
        with h5py.File(part) as file:
            rows = file["rows"][:]
        assert (rows == np.arange(len(rows))[:, None]).all()
        assert len(rows) >= last
        last = len(rows)


def record_into(kind, part, blocks):
    file = kind(part)
    with h5py.File(file, "w") as hdf:
        rows = hdf.create_dataset(
            "rows", (0, 40), dtype="f8", maxshape=(None, 40), chunks=(16, 40), compression="gzip"
        )
        hdf.flush()
        file.commit()
        file.watched = True
        for block in range(blocks):
            rows.resize(9 * (block + 1), axis=0)
            rows[9 * block :] = np.arange(9 * block, 9 * (block + 1))[:, None]
            hdf.flush()
            file.commit()
    file.commit()
    file.close()


def test_half_a_journal_is_ignored(path):
    write(path, 20)
    before = path.read_bytes()
    journal_path(path).write_bytes(b"WGJOURN1" + bytes(50))
    assert not replay(path)
    assert not journal_path(path).exists() and path.read_bytes() == before


def test_a_leftover_part_is_kept(path):
    for _ in range(2):
        recorder = writer(path)
        recorder.append(*frames(0, 4))
        recorder.close(rename=False)
        with pytest.warns(UserWarning, match=r"kept as run\.h5\.part\.\d"):
            write(path, 9)
    names = sorted(item.name for item in path.parent.iterdir())
    assert names == ["run.h5", "run.h5.part.1", "run.h5.part.2"]
    with wg.open_recording(path.with_name("run.h5.part.1")) as dataset:
        check(dataset, 4)


def test_two_recorders_do_not_share_a_file(path):
    with writer(path), pytest.raises(BlockingIOError, match="another recorder"):
        writer(path)


def test_overwrite_false_refuses_before_it_starts(path):
    write(path, 3)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="overwrite=False"):
        writer(path, overwrite=False)
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1


def test_the_old_recording_stays_until_the_new_one_is_complete(path):
    write(path, 3)
    with writer(path) as recorder:
        recorder.append(*frames(0, 8))
        recorder.flush()
        with wg.open_recording(path) as dataset:
            check(dataset, 3)
    with wg.open_recording(path) as dataset:
        check(dataset, 8)


@pytest.mark.parametrize("live", [False, True])
def test_after_an_interrupt_the_frames_have_their_name(path, live):
    with pytest.raises(KeyboardInterrupt), writer(path, live=live) as recorder:
        recorder.append(*frames(0, 8))
        raise KeyboardInterrupt
    with wg.open_recording(path) as dataset:
        check(dataset, 8)
        assert dataset.attrs["status"] == "interrupted"


def test_after_an_error_the_frames_are_in_the_part(path):
    write(path, 3)
    with pytest.raises(ZeroDivisionError), writer(path) as recorder:
        recorder.append(*frames(0, 8))
        raise ZeroDivisionError
    with wg.open_recording(path) as dataset:
        check(dataset, 3)
    with wg.open_recording(part_path(path)) as dataset:
        check(dataset, 8)


def test_an_interrupt_in_the_middle_of_appending_breaks_nothing(tmp_path):
    """Signals at random moments; the frames that arrived are whole and in order."""
    script = """
        import sys, itertools, warnings
        sys.path.insert(0, sys.argv[1])
        import test_recording as t
        try:
            with t.writer(sys.argv[2]) as recorder:
                print("ready", flush=True)
                for start in itertools.count(0, 20):
                    recorder.append(*t.frames(start, 20))
        except KeyboardInterrupt:
            print("interrupted")
    """
    for number, delay in enumerate(np.random.default_rng(5).uniform(0, 0.3, 3)):
        path = tmp_path / f"{number}.h5"
        run = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), os.path.dirname(__file__), str(path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        run.stdout.readline()
        time.sleep(delay)
        run.send_signal(signal.SIGINT)
        assert run.communicate(timeout=20)[0] == "interrupted\n"
        with wg.open_recording(path) as dataset:
            check(dataset, dataset.sizes["time"])


def test_an_interrupt_never_leaves_the_recorder_waiting_for_itself(tmp_path):
    """Frames one by one, so that most of the time is spent with the lock; a hang ends the child."""
    script = """
        import _thread, faulthandler, random, sys, threading, time
        sys.path.insert(0, sys.argv[1])
        import test_recording as t
        import windgrove as wg
        faulthandler.dump_traceback_later(90, exit=True)
        draw, data = random.Random(1), [t.frames(k, 1) for k in range(4000)]
        for number in range(60):
            path = f"{sys.argv[2]}/{number}.h5"
            delay = draw.uniform(0.0005, 0.02)
            press = threading.Timer(delay, _thread.interrupt_main)
            try:
                with t.writer(path) as recorder:
                    press.start()
                    for frame in data:
                        recorder.append(*frame)
                    time.sleep(5)
            except KeyboardInterrupt:
                pass
            press.join()
            with wg.open_recording(path) as dataset:
                t.check(dataset, dataset.sizes["time"])
    """
    command = [sys.executable, "-c", textwrap.dedent(script), os.path.dirname(__file__), tmp_path]
    run = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("live", [False, True])
def test_a_recording_is_continued(path, live):
    write(path, 13, live=live)
    with writer(path, append=True) as recorder:
        assert recorder.frames == 13
        with pytest.raises(ValueError, match="follow each other"):
            recorder.append(*frames(5, 1))
        recorder.append(*frames(13, 8))
    with wg.open_recording(path) as dataset:
        check(dataset, 21)


def test_appending_refuses_another_recording(path):
    write(path, 13)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="holds the channels"):
        writer(path, append=True, channels={"rotation": CHANNELS["rotation"]})
    with pytest.raises(ValueError, match="length differs"):
        writer(path, append=True, coords={**COORDS, "length": ("branch", np.ones(BRANCHES))})
    path.with_name("text.h5").write_text("no HDF5")
    with pytest.raises(ValueError, match="not a recording"):
        writer(path.with_name("text.h5"), append=True)
    assert path.read_bytes() == before and not part_path(path).exists()


def test_appending_to_nothing_begins(path):
    write(path, 5, append=True)
    with wg.open_recording(path) as dataset:
        check(dataset, 5)


@pytest.mark.parametrize("live", [False, True])
def test_a_full_disk_keeps_what_was_recorded(path, live):
    """A limit on the size of files gives EFBIG where a full disk gives ENOSPC."""
    script = """
        import sys, resource, signal, itertools
        sys.path.insert(0, sys.argv[1])
        import test_recording as t
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        recorder = t.writer(sys.argv[2], live=sys.argv[3] == "True", compression=None)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, resource.RLIM_INFINITY))
        kept = 0
        try:
            for start in itertools.count(0, 500):
                recorder.append(*t.frames(start, 500))
                recorder.flush()
                kept = start + 500
        except OSError as error:
            print(kept, type(error).__name__, error)
        try:
            recorder.close()
        except OSError as error:
            print("close")
    """
    out = python(script, os.path.dirname(__file__), path, live).splitlines()
    kept, message = out[0].split(" ", 1)
    assert str(part_path(path)) in message and f"the {kept} frames" in message
    assert out[1:] == ["close"]
    path = wg.recover_recording(path) if live else part_path(path)
    with wg.open_recording(path) as dataset:
        assert dataset.sizes["time"] >= int(kept) > 0
        check(dataset, dataset.sizes["time"])


def test_a_disk_without_a_byte_left_keeps_what_was_recorded(tmp_path):
    """A file system of 1 MB, where this process may mount one."""
    mount = tmp_path / "small"
    mount.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount], capture_output=True
    )
    if made.returncode:
        pytest.skip("this user may not mount a file system")
    try:
        recorder = writer(mount / "run.h5", compression=None)
        with pytest.raises(OSError, match=r"No space left.*are kept in it") as caught:
            for start in range(0, 10**6, 500):
                recorder.append(*frames(start, 500))
                recorder.flush()
        assert caught.value.errno == errno.ENOSPC
        with pytest.raises(OSError, match="No space left"):
            recorder.close()
        with wg.open_recording(mount / "run.h5.part") as dataset:
            assert dataset.sizes["time"] >= start > 0
            check(dataset, dataset.sizes["time"])
    finally:
        subprocess.run(["umount", mount], check=True)


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("missing/run.h5", FileNotFoundError, "missing"),
        (".", IsADirectoryError, "is a folder"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_by_name(tmp_path, name, kind, text):
    with pytest.raises(kind, match=text):
        writer(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_may_not_be_written_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match=r"not writable.*" + tmp_path.name):
        writer(tmp_path / "run.h5")


def test_what_is_not_a_recording_is_refused_by_name(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such recording.*none\.h5"):
        wg.open_recording(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("time")
    with pytest.raises(ValueError, match=r"text\.h5: not a recording"):
        wg.open_recording(tmp_path / "text.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, OSError), match=r"other\.h5"):
            wg.open_recording(tmp_path / "other.h5")


def test_a_lock_of_another_program_gives_a_clear_message(path):
    write(path, 3)
    script = """
        import fcntl, sys
        file = open(sys.argv[1], "r+b")
        fcntl.flock(file, fcntl.LOCK_EX)
        print("held", flush=True)
        sys.stdin.read()
    """
    other = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    other.stdout.readline()
    # errno 11 is worked around: a finished recording is only read.
    with wg.open_recording(path) as dataset:
        check(dataset, 3)
    other.communicate()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda t, d: (t, {"rotation": d["rotation"]}), "misses channel 'tip'"),
        (lambda t, d: (t, {**d, "wind": 0}), "unknown channel 'wind'"),
        (lambda t, d: (t, {**d, "tip": d["tip"][:, :, :-1]}), r"data\['tip'\]: expected shape"),
        (lambda t, d: (t[::-1], d), "follow each other"),
        (lambda t, d: (t * np.nan, d), "time: expected finite"),
    ],
)
def test_frames_that_do_not_fit_are_refused(path, change, text):
    with writer(path) as recorder:
        with pytest.raises(ValueError, match=text):
            recorder.append(*change(*frames(0, 4)))
        recorder.append(*frames(0, 2))
    with wg.open_recording(path) as dataset:
        check(dataset, 2)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"channels": {}}, "nothing to record"),
        ({"coords": {k: v for k, v in COORDS.items() if k != "branch"}}, "dimension 'branch'"),
        ({"channels": {"kind": ChannelSpec()}}, "name of a coordinate"),
        ({"compression": "lzf"}, "compression"),
        ({"live": True, "append": True}, "live"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_a_file_is_made(path, options, text):
    with pytest.raises(ValueError, match=text):
        writer(path, **options)
    assert not list(path.parent.iterdir())


def test_memory_does_not_grow_with_the_recording(tmp_path):
    """One block that is filled, one that is packed and those that wait, 8 MiB each, may stay,
    with the 1 MiB chunk caches of HDF5: 192 MB are written."""
    shape = (8, 1000, 2)
    coords = {"a": np.arange(8), "b": np.arange(1000), "c": np.arange(2)}
    spec = {"x": ChannelSpec(dims=("a", "b", "c"))}
    values = np.random.default_rng(0).normal(size=(25, *shape)).astype("f4")
    process = psutil.Process()
    with RecordingWriter(
        tmp_path / "long.h5", channels=spec, coords=coords, compression=None
    ) as recorder:
        for start in range(0, 3000, 25):
            recorder.append(np.arange(start, start + 25), {"x": values})
            if start == 250:
                recorder.flush()
                before = process.memory_info().rss
        recorder.flush()
        assert process.memory_info().rss - before < (WAITING_BLOCKS + 2) * BLOCK_BYTES + 2e6
    assert (tmp_path / "long.h5").stat().st_size > 190e6


def test_a_forked_child_leaves_the_recording_alone(path):
    recorder = writer(path)
    recorder.append(*frames(0, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # forking with threads
        child = os.fork()
    if child == 0:
        recorder.close()
        os._exit(0)
    os.waitpid(child, 0)
    recorder.append(*frames(5, 5))
    recorder.close()
    with wg.open_recording(path) as dataset:
        check(dataset, 10)


def test_recovery_cuts_at_the_first_damaged_frame(path):
    write(path, 10_000, compression=None)
    with h5py.File(path) as file:
        chunk = file["tip"].id.get_chunk_info(3)
        intact = 3 * file["tip"].chunks[0]
    with path.open("r+b") as file:
        file.seek(chunk.byte_offset + 100)
        file.write(b"damaged")
    out = wg.recover_recording(path)
    assert out.name == "run-recovered.h5"
    with wg.open_recording(out) as dataset:
        check(dataset, intact)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
