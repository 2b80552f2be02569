"""The recorder's own packing and its memory for frames: fast ways with the same contents."""

import subprocess
import sys
import zlib

import h5py
import numpy as np
import pytest

import windgrove as wg
from windgrove.recording import ChannelSpec, RecordingWriter
from windgrove.recording.packing import ChunkPacker, PackedChannel, channel_writer
from windgrove.recording.writer import WAITING_BLOCKS


@pytest.mark.parametrize("values", ["smooth", "zero", "nan", "random"])
def test_packed_chunks_are_what_hdf5_unpacks(tmp_path, values):
    """Shuffle, deflate and Fletcher32 of our own, read by HDF5's filters; edges are filled."""
    rng = np.random.default_rng(0)
    given = {
        "smooth": np.sin(np.linspace(0, 9, 40 * 7 * 9)),
        "zero": np.zeros(40 * 7 * 9),
        "nan": np.full(40 * 7 * 9, np.nan),
        "random": rng.integers(0, 2**32, 40 * 7 * 9, dtype=np.uint32).view("f4"),
    }[values]
    frames = given.astype("f4").reshape(40, 7, 9)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset(
            "x", (0, 7, 9), maxshape=(None, 7, 9), chunks=(6, 4, 9), dtype="f4", shuffle=True,
            compression="gzip", compression_opts=1, fletcher32=True, fillvalue=np.nan,
        )  # fmt: skip
        channel = channel_writer(dataset, live=False)
        assert isinstance(channel, PackedChannel)
        for start in range(0, 40, 7):
            channel.append(frames[start : start + 7])
            channel.flush()
    with h5py.File(tmp_path / "x.h5") as file:
        assert file["x"][:].tobytes() == frames.tobytes()


def unpacked(packed):
    """Float32 items of a packed chunk, by zlib; its Adler sum is checked there."""
    planes = np.frombuffer(zlib.decompress(packed[:-4]), np.uint8)
    return planes.reshape(4, -1).T.copy().view("<f4").ravel()


def doubling_counts():
    """Items whose upper bytes are so uneven that Huffman's own code would be too long."""
    return np.repeat(np.arange(18), 2 ** np.arange(18))


UPPER_BYTES = {
    "one value": np.full(5000, 63),
    "two values": np.arange(5000) % 2,
    "all values alike": np.arange(65536) % 256,
    "longer than a code may be": doubling_counts(),
    "a single item": np.array([7]),
}


@pytest.mark.parametrize("name", UPPER_BYTES)
def test_any_mix_of_bytes_comes_back(name):
    items = (UPPER_BYTES[name].astype(np.uint32) << 24 | 0x123456).view("f4")
    packer = ChunkPacker((len(items),), (1, len(items)))
    for coded in (False, True):
        packed = packer.pack(items[None], (0, len(items)), coded=coded).tobytes()
        assert unpacked(packed).tobytes() == items.tobytes()
    # Entropy of the upper bytes, of four: the code is within a few percent of it.
    share = np.bincount(UPPER_BYTES[name]) / len(items)
    bits = -sum(p * np.log2(p) for p in share if p > 0)
    assert len(packed) < len(items) * (3 + max(bits, 1) / 8) * 1.02 + 200


def test_what_a_chunk_lacks_is_nan():
    items = np.arange(10, dtype="f4").reshape(2, 5)
    packer = ChunkPacker((5,), (3, 4))
    assert packer.places == [((0,), 0, 4), ((4,), 4, 1)]
    got = unpacked(packer.pack(items, (4, 1), coded=True).tobytes()).reshape(3, 4)
    np.testing.assert_array_equal(got[:2, 0], [4, 9])
    assert np.isnan(got[:, 1:]).all() and np.isnan(got[2]).all()


def test_instruction_sets_pack_the_same_bytes():
    script = """
import hashlib, numpy as np
from windgrove.recording.packing import ChunkPacker
items = np.random.default_rng(3).standard_normal((1, 4099)).astype("f4")
packer = ChunkPacker((4099,), (1, 4099))
print(hashlib.sha256(packer.pack(items, (0, 4099), coded=True)).hexdigest())
"""
    found = set()
    for isa in ("scalar", "avx2", "avx512"):
        run = subprocess.run(
            [sys.executable, "-c", script], env={"WINDGROVE_ISA": isa, "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True,
        )  # fmt: skip
        if run.returncode == 0:
            found.add(run.stdout)
        else:
            assert "WINDGROVE_ISA" in run.stderr
    assert len(found) == 1


def small_writer(path, width=3):
    channels = {"x": ChannelSpec("m", dims=("branch",))}
    return RecordingWriter(path, channels=channels, coords={"branch": np.arange(width)})


def test_frames_written_in_place_are_recorded(tmp_path):
    with small_writer(tmp_path / "x.h5", width=300_000) as writer:
        done = 0
        while done < 60:  # more than all blocks hold, so that memory is used again
            room = writer.reserve(60 - done)["x"]
            assert 1 <= len(room) <= 60 - done
            room[...] = np.arange(done, done + len(room))[:, None]
            writer.commit(np.arange(done, done + len(room)))
            done += len(room)
            if done % 7 == 0:
                writer.flush()
    with wg.open_recording(tmp_path / "x.h5") as dataset:
        np.testing.assert_array_equal(dataset.x[:, 0], np.arange(60))
        np.testing.assert_array_equal(dataset.x[:, -1], np.arange(60))


def test_reserved_frames_that_are_not_committed_are_not_recorded(tmp_path):
    with small_writer(tmp_path / "x.h5") as writer:
        writer.reserve(5)["x"][...] = 9
        writer.commit([0.0, 1.0])
        writer.reserve(5)["x"][...] = 8
        writer.append([2.0], {"x": [[7, 7, 7]]})
        with pytest.raises(ValueError, match="time: frames must follow"):
            writer.commit([1.0])
        with pytest.raises(ValueError, match="more than were reserved"):
            writer.commit(np.arange(3.0, 10**6))
    with wg.open_recording(tmp_path / "x.h5") as dataset:
        np.testing.assert_array_equal(dataset.x[:, 0], [9, 9, 7])
    with pytest.raises(ValueError, match="closed"):
        writer.reserve(1)


def test_a_slow_disk_makes_the_caller_wait_and_takes_no_more_memory(tmp_path, monkeypatch):
    import threading

    gate, made = threading.Event(), []
    from windgrove.recording import storage
    from windgrove.recording import writer as module

    write = storage.Storage.write
    monkeypatch.setattr(
        storage.Storage, "write", lambda self, *part: (gate.wait(20), write(self, *part))
    )
    block = module._Block
    monkeypatch.setattr(module, "_Block", lambda *args: made.append(block(*args)) or made[-1])
    with small_writer(tmp_path / "x.h5", width=3_000_000) as recorder:
        fill = threading.Thread(
            target=lambda: [
                recorder.append([i], {"x": np.full((1, 3_000_000), i)}) for i in range(12)
            ]
        )
        fill.start()
        fill.join(1.5)
        waiting, waits = len(made), fill.is_alive()
        gate.set()
        fill.join()
    assert waits
    assert waiting == len(made) == WAITING_BLOCKS + 2
    with wg.open_recording(tmp_path / "x.h5") as dataset:
        np.testing.assert_array_equal(dataset.x[:, 5], np.arange(12))


CHANNELS = ["rotation", "angular_velocity", "tip", "wind", "torque"]


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("kind", ["series", "grids", "samples"])
def test_recording_every_so_many_frames_leaves_out_the_others(every, substeps, kind):
    """Against all frames of the same run: what is skipped is not computed for the record at all."""
    tree = wg.grow_tree("birch", seed=2)

    class Sampled:
        def sample(self, points, time=None):
            return np.tile([5.0, 0.3, 0.0], (len(points), 1))

    def run(every):
        winds = {
            "series": lambda: wg.UniformWind((5, 1, 0)),
            "grids": lambda: wg.Wind((5, 0, 0), cells=(8, 8, 8), levels=1, cell_size=4, seed=1),
            "samples": Sampled,
        }
        at = [(0, 0, 0), (9, 0, 0)]
        sway = wg.Sway(tree, "birch", at=at, substeps=substeps, seed=3)
        return wg.simulate(
            sway, winds[kind](), duration=20 / 30, every=every, channels=CHANNELS,
            branches=[0, 3, 8], progress=False,
        )  # fmt: skip

    whole, part = run(1), run(every)
    assert part.sizes["time"] == 20 // every + 1
    for name in CHANNELS:
        np.testing.assert_array_equal(part[name], whole[name][::every])


def test_a_recorded_file_holds_what_memory_holds(tmp_path):
    """Through the recorder's own memory; two kinds of trees go another."""
    oak, birch = wg.grow_tree("oak", seed=1), wg.grow_tree("birch", seed=2)
    for trees in ([oak], [oak, birch]):

        def run(record=None, trees=trees):
            at = [(8.0 * i, 0, 0) for i in range(30)]
            sway = wg.Sway([trees[i % len(trees)] for i in range(30)], "oak", at=at)
            wind = wg.UniformWind((6, 0, 0))
            return wg.simulate(sway, wind, duration=2, every=2, record=record, progress=False)

        with run(tmp_path / "x.h5") as file:
            memory = run()
            np.testing.assert_array_equal(file.rotation, memory.rotation)
            np.testing.assert_array_equal(file.time, memory.time)
