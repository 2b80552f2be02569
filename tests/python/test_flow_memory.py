"""Advection and confinement with memory that keeps what solids leave: the same bits, any solids."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from windgrove import kernels

SHAPE = (7, 12, 21)


def scene(seed):
    rng = np.random.default_rng(seed)
    velocity = rng.normal(size=(3, *SHAPE)).astype(np.float32)
    return velocity, rng.random(SHAPE) < 0.2


def calls(velocity, solid, **memory):
    return (
        kernels.advect(velocity, velocity, 0.5, 0.2, solid, **memory),
        kernels.advect(velocity[0], velocity, 0.5, 0.2, solid, method="maccormack", **memory),
        kernels.confine_vorticity(velocity, 0.5, 0.2, 0.3, solid, **memory),
    )


def test_kept_memory_changes_no_bit_whatever_solids_it_was_filled_for():
    memory = kernels.flow_scratch(SHAPE)
    for seed in (1, 1, 2, 3, 1):
        velocity, solid = scene(seed)
        for got, expected in zip(
            calls(velocity, solid, scratch=memory), calls(velocity, solid), strict=True
        ):
            assert_array_equal(got, expected)
    solid[3, 5:8, 9] ^= True  # in place: the same array holds other solids
    for got, expected in zip(
        calls(velocity, solid, scratch=memory), calls(velocity, solid), strict=True
    ):
        assert_array_equal(got, expected)


def test_memory_is_left_alone_without_solids_and_a_copy_of_it_serves_too():
    memory = kernels.flow_scratch(SHAPE)
    velocity, solid = scene(4)
    calls(velocity, None, scratch=memory)
    assert not memory.any()
    expected = calls(velocity, solid, scratch=memory)
    assert memory.any()
    for got, wanted in zip(calls(velocity, solid, scratch=memory.copy()), expected, strict=True):
        assert_array_equal(got, wanted)


def test_memory_of_another_shape_or_kind_is_refused_by_name():
    velocity, solid = scene(5)
    for wrong in (kernels.flow_scratch((7, 12, 22)), np.zeros(3, np.uint8)):
        with pytest.raises(ValueError, match=r"scratch: expected \d+ bytes"):
            kernels.advect(velocity, velocity, 0.5, 0.2, solid, scratch=wrong)
        with pytest.raises(ValueError, match=r"scratch: expected \d+ bytes"):
            kernels.confine_vorticity(velocity, 0.5, 0.2, 0.3, solid, scratch=wrong)
    with pytest.raises(TypeError, match="scratch"):
        kernels.advect(velocity, velocity, 0.5, 0.2, solid, scratch=np.zeros(9))
    read_only = kernels.flow_scratch(SHAPE)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="scratch"):
        kernels.advect(velocity, velocity, 0.5, 0.2, solid, scratch=read_only)


def test_memory_that_is_the_output_too_is_refused():
    memory = kernels.flow_scratch(SHAPE)
    velocity, _ = scene(6)

    small = velocity[:, :3, :3, :10].copy()
    with pytest.raises(ValueError, match="shares memory"):
        kernels.advect(
            small[0], small, 0.5, 0.2, None, scratch=memory[: 64 + 3 * 90],
            out=np.frombuffer(memory.data, np.float32, 90, 0).reshape(3, 3, 10),
        )  # fmt: skip


@pytest.mark.parametrize("shape", [(7, 12), (2, 5, 5), (5, 0, 5)])
def test_shapes_of_no_grid_are_refused(shape):
    with pytest.raises(ValueError, match="shape"):
        kernels.flow_scratch(shape)
