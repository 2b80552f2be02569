"""Pull and release, step gust, frequency sweep: against the discrete spring's closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import windgrove as wg
from trees_for_tests import one_branch, sapling, sturdy


def pole(frequency, damping_ratio, *, drag=0.0, **options):
    """A Sway of one upright branch with a given spring."""
    tree = wg.Tree(
        position=[[0, 0, 0]], direction=[[0, 0, 1]], length=[1.0], volume=[0.01], area=[0.0],
        kind=[0], parent=[-1],
    )  # fmt: skip
    p = one_branch(frequency, damping_ratio, drag=drag)
    keys = ("mass", "stiffness", "damping", "drag")
    return wg.Sway(tree, sturdy(), parameters={k: p[k] for k in keys}, **options)


def discrete(w0, zeta, dt):
    """Damped frequency and damping ratio of the free semi-implicit step."""
    kappa, gamma = (w0 * dt) ** 2, 2 * zeta * w0 * dt
    f = np.arccos((2 - kappa - gamma) / (2 * np.sqrt(1 - gamma))) / (2 * np.pi * dt)
    sigma = -np.log(1 - gamma) / (2 * dt)
    return f, sigma / np.hypot(sigma, 2 * np.pi * f)


def map_of(ds, dt):
    """Damped frequency and damping ratio that a recorded decay shows."""
    theta = ds.rotation.values[:, 0, 0].astype(float)
    theta = theta[:, np.argmax(np.abs(theta[0]))]
    pairs = np.stack([theta[1:-1], -theta[:-2]], axis=1)
    trace, det = np.linalg.lstsq(pairs, theta[2:], rcond=None)[0]
    f = np.arccos(trace / (2 * np.sqrt(det))) / (2 * np.pi * dt)
    sigma = -np.log(det) / (2 * dt)
    return f, sigma / np.hypot(sigma, 2 * np.pi * f)


@pytest.mark.parametrize(
    ("w0", "zeta", "f", "ratio"),
    [(1.8, 0.051, 0.28659, 0.05107), (1.4, 0.121, 0.22182, 0.12133)],
)
def test_a_recorded_free_decay_shows_the_discrete_frequency_and_damping(
    w0, zeta, f, ratio, tmp_path
):
    """The field's pull-and-release values, from an HDF5 file; the error halves with dt."""
    error = []
    for dt in (1 / 30, 1 / 60):
        ds = wg.pull_and_release(
            pole(w0 / (2 * np.pi), zeta), angle_deg=5, duration=30, dt=dt, record=tmp_path / "a.h5"
        )
        seen = map_of(ds, dt)
        ds.close()
        assert_allclose(seen, discrete(w0, zeta, dt), rtol=2e-5)  # float32 angles, 900 frames
        error.append(seen[0] - w0 * np.sqrt(1 - zeta**2) / (2 * np.pi))
        if dt == 1 / 30:
            assert_allclose(seen, [f, ratio], rtol=5e-5)  # five printed digits
    assert_allclose(error[0] / error[1], 2, rtol=0.1)


def test_fit_decay_reads_the_same_from_a_pull_and_release():
    ds = wg.pull_and_release(pole(0.286, 0.051), angle_deg=5, duration=30)
    fit = wg.fit_decay(ds.time.values, ds.rotation.values[:, 0, 0, 1])
    assert_allclose(fit.frequency, 0.286, rtol=0.01)
    assert_allclose(fit.damping_ratio, 0.051, rtol=0.01)


def test_the_branch_is_pulled_towards_the_side_asked_for():
    tree = sapling(30)
    for towards in ((1, 0, 0), (0, -1, 0)):
        sway = wg.Sway(tree, sturdy(), at=[(0, 0, 0), (3, 0, 0)])
        ds = wg.pull_and_release(sway, 0, 5, 1, towards=towards, channels=["rotation", "tip"])
        assert_allclose(np.linalg.norm(ds.rotation[0, :, 0], axis=-1), np.radians(5), rtol=1e-6)
        moved = ds.tip.values[0, 0, 0] - tree.tip[0]
        assert_allclose(moved @ towards, tree.length[0] * np.sin(np.radians(5)), rtol=1e-5)
        assert not ds.rotation[0, :, 1:].values.any()
    across = wg.pull_and_release(sway, 0, 5, 0.1, towards=(0, 0, 1))
    assert np.isfinite(across.rotation).all()
    for change, message in [
        ({"branch": 99}, "branch"),
        ({"angle_deg": 0}, "angle_deg"),
        ({"towards": (0, 0, 0)}, "towards"),
    ]:
        with pytest.raises(ValueError, match=message):
            wg.pull_and_release(sway, **change)


def test_a_step_gust_overshoots_like_a_damped_spring_and_settles_at_the_static_angle():
    """Light damping: first maximum 1 + exp(-pi zeta / sqrt(1 - zeta^2)) times the static angle,
    for small angles (3 %: cos theta and frames of 1/30 s)."""
    zeta, speed = 0.1, 0.2
    sway = pole(0.3, zeta, drag=1.0, noise=0)
    ds = wg.step_gust(sway, speed, duration=60)
    theta = ds.rotation.values[:, 0, 0, 1]
    static = speed / one_branch(0.3, zeta)["stiffness"][0]
    assert_allclose(theta[-30:].mean(), static, rtol=0.01)
    assert_allclose(
        theta.max() / static, 1 + np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2)), rtol=0.03
    )
    assert not theta[:30].any()


def test_a_frequency_sweep_shows_the_resonance_of_the_discrete_spring():
    """Gain against H(z) = kappa z / (z^2 - (2-kappa-gamma) z + 1-gamma) times d / k."""
    f0, zeta, dt = 0.8, 0.1, 1 / 30
    sway = pole(f0, zeta, drag=0.02, noise=0)
    frequencies = np.array([0.2, 0.6, 0.8, 1.5])
    table = wg.frequency_sweep(sway, frequencies, amplitude=0.5, mean=1.0, settle=20, dt=dt)
    kappa, gamma = (2 * np.pi * f0 * dt) ** 2, 4 * np.pi * zeta * f0 * dt
    z = np.exp(2j * np.pi * frequencies * dt)
    gain = kappa * z / (z**2 - (2 - kappa - gamma) * z + 1 - gamma)
    per_speed = 0.02 / one_branch(f0, zeta)["stiffness"][0]
    assert_allclose(table.gain[:, 0, 0], np.abs(gain) * per_speed, rtol=2e-3)
    # H takes the force at the start of a step; here a step feels the wind of its end: one z more.
    expected = -np.angle(gain * z)
    assert_allclose(np.angle(np.exp(1j * (table.phase[:, 0, 0] - expected))), 0, atol=0.003)
    assert sway.options.noise == 0
    with pytest.raises(ValueError, match="frequencies"):
        wg.frequency_sweep(sway, [20.0])
