"""What practitioners reported of other tools, held against this one."""

import os
import subprocess
import sys

import numpy as np
import pytest

import windgrove as wg


class Tones:
    """A weak wind along x: tones at whole multiples of 1/20 Hz, so that 20 s hold whole periods."""

    frequency = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0])

    def sample(self, points, time=None):
        phase = 2 * np.pi * self.frequency * time + np.arange(len(self.frequency))
        return np.tile([0.01 * np.sin(phase).sum(), 0.0, 0.0], (len(points), 1))


def gain_of_the_clamped_step(frequency, f0, zeta, dt):
    """|kappa z / (z^2 - (2 - kappa - gamma) z + 1 - gamma)|, the z-transform of the linear step."""
    w = 2 * np.pi * f0 * dt
    kappa, gamma, z = w * w, 2 * zeta * w, np.exp(2j * np.pi * frequency * dt)
    return np.abs(kappa * z / (z * z - (2 - kappa - gamma) * z + 1 - gamma))


@pytest.mark.parametrize("steps_a_second", [30, 60, 120, 240])
def test_the_spectrum_moves_with_dt_only_as_the_eigenvalues_say(steps_a_second):
    """Angles stay below 0.01 rad: what the linear step leaves out is of their square, 1e-4."""
    f0, zeta, dt = 2.0, 0.1, 1 / steps_a_second
    tree = wg.Tree(
        position=[[0, 0, 0]], direction=[[0, 0, 1]], length=[2.0], parent=[-1], kind=[0],
        volume=[0.01], area=[0.0],
    )  # fmt: skip
    stiffness = (2 * np.pi * f0) ** 2
    springs = {
        "mass": [1.0],
        "stiffness": [stiffness],
        "damping": [2 * zeta * np.sqrt(stiffness)],
        "drag": [10.0],
    }
    sway = wg.Sway(tree, "oak", at=[(0, 0, 0)], parameters=springs, noise=0.0)
    run = wg.simulate(sway, Tones(), duration=30, dt=dt, progress=False)
    n = 20 * steps_a_second
    angle = run.rotation.values[-n:, 0, 0, 1].astype(float)
    assert np.abs(angle).max() < 0.02
    seen = 2 * np.abs(np.fft.rfft(angle)) / n
    expected = 0.01 * 10.0 / stiffness * gain_of_the_clamped_step(Tones.frequency, f0, zeta, dt)
    assert seen[np.rint(20 * Tones.frequency).astype(int)] == pytest.approx(expected, rel=3e-3)


def test_every_root_of_a_patch_of_grass_moves_about_its_own_pivot():
    """Pivots of roots stay to the bit; equal blades in an equal wind turn by equal bits."""
    place = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.4, 0.0]])
    patch = wg.Tree(
        position=place, direction=np.tile([0, 0, 1.0], (3, 1)), length=[0.4] * 3,
        parent=[-1] * 3, kind=[0] * 3, volume=[1e-5] * 3, area=[0.0] * 3,
    )  # fmt: skip
    sway = wg.Sway(patch, "oak", at=[(0, 0, 0)], noise=0.0)
    sway.step(wg.UniformWind((6, 0, 0)), steps=20)
    rotation = sway.rotation[0]
    assert rotation[0, 1] > 0
    assert np.array_equal(rotation, np.tile(rotation[0], (3, 1)))
    assert np.array_equal(wg.kernels.rotation_frames(patch, rotation).pivot, place)


@pytest.mark.parametrize(
    ("wanted", "code", "said"),
    [("scalar", 0, "scalar"), ("no-such", 1, "WINDGROVE_ISA: this build and processor have")],
)
def test_the_environment_forces_an_instruction_set_or_is_refused(wanted, code, said):
    """A forced set that is not there must not run another one in silence."""
    script = "import windgrove.kernels; print(windgrove._kernels.isa())"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, "WINDGROVE_ISA": wanted}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == code
    assert said in ran.stdout + ran.stderr
