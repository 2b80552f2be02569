"""Measured winds: real sonic files, and files made to be awkward."""

import gzip
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from windgrove import RecordedWind, Wind

TEN_HERTZ = "diive-wind/exampledata_GENERIC-TXT-EDDY-COVARIANCE-10Hz-2023-06-24-03-30_LGRData.txt"
TOA5 = "diive-wind/exampledata_ETH-RECORD-TOA5-CSVGZ-20HZ_CH-FRU_ec_20240404-1300.csv.gz"


def test_the_ten_hertz_record_has_its_published_statistics(data):
    """Computed independently from the file's columns, four digits (an instruction file's table)."""
    wind = RecordedWind.read(data / TEN_HERTZ)
    report = wind.report
    assert (report.rows, report.repeated + report.backward, report.missing) == (17932, 164, 0)
    assert [round(gap.duration, 1) for gap in report.gaps] == [4.0]
    assert report.columns == ("Date_LGR", "x", "y", "z")
    assert_allclose(report.mean, (-0.1816, 0.6813, 0.0403), atol=5e-5)
    assert_allclose(report.sd, (0.2781, 0.3247, 0.0704), atol=5e-5)
    assert_allclose(
        (report.speed_mean, report.speed_sd, report.speed_max), (0.7788, 0.2711, 1.9841), atol=5e-5
    )
    assert 0.092 <= report.interval <= 0.093
    assert wind.rate == 10.0
    assert abs(wind.duration - 1799.979) < 0.1
    assert np.isfinite(wind.samples).all()
    # The even record holds the same wind: each mean within the error of its own sampling.
    assert_allclose(wind.samples.mean(axis=0), report.mean, atol=0.003)
    assert_allclose(wind.samples.std(axis=0), report.sd, rtol=0.02)


def test_a_record_may_be_resampled(data):
    slow = RecordedWind.read(data / TEN_HERTZ, rate=4.0)
    assert len(slow.samples) == 7200
    assert np.isfinite(slow.samples).all()


def test_the_toa5_record_takes_its_rate_from_the_name(data):
    wind = RecordedWind.read(data / TOA5)
    report = wind.report
    assert (report.layout, report.rows, report.rate_source) == ("TOA5", 96, "name of the file")
    assert wind.rate == 20.0
    assert report.columns == ("", "U", "V", "W")
    assert wind.samples[0].tolist() == [0.8, -3.09, 0.14]
    assert RecordedWind.read(data / TOA5, rate=10).duration == 9.5


def test_a_recorded_wind_drives_the_grids(data):
    record = RecordedWind.read(data / TEN_HERTZ)
    wind = Wind(record, cells=(4, 4, 4), levels=2, turbulence=0.0, start_time=100.0)
    wind.step()
    assert_allclose(wind.velocity(1)[:, 0, 0, 0], record.velocity(wind.time), rtol=1e-6)


def write(tmp_path, text, name="wind.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "time,u,v,w\n0,1,2,0.1\n0.5,2,2,0.1\n1.0,3,2,0.1\n",
        "t;U (m/s);V (m/s);W (m/s)\n0;1;2;0,1\n0,5;2;2;0,1\n1,0;3;2;0,1\n",
        "# made by hand\nTIMESTAMP\tUx\tUy\tUz\tTs\n0\t1\t2\t0.1\t20\n"
        "0.5\t2\t2\t.1\t20\n1\t3\t2\t.1\t20\n",
        "seconds  wind_x wind_y wind_z\n0 1 2 0.1\n0.5 2 2 0.1\n1 3 2 0.1\n",
        "W,V,U,datetime\n0.1,2,1,2024-01-01T00:00:00\n0.1,2,2,2024-01-01T00:00:00.5\n"
        "0.1,2,3,2024-01-01T00:00:01\n",
        "\ufeffTime,u,v,w\n05.03.2024 10:00:00.0,1,2,0.1\n05.03.2024 10:00:00.5,2,2,0.1\n"
        "05.03.2024 10:00:01,3,2,0.1\n",
    ],
)
def test_usual_headers_and_clocks_are_understood(tmp_path, text):
    wind = RecordedWind.read(write(tmp_path, text), rate=2.0)
    assert_allclose(wind.samples, [[1, 2, 0.1], [2, 2, 0.1], [3, 2, 0.1]], rtol=1e-12)
    assert wind.report.rows == 3


def test_repeated_stamps_are_spread_and_backward_ones_left_out(tmp_path):
    rows = [(0, 0), (1, 1), (3, 2), (3, 3), (2.5, 99), (4, 4), (5, 5), (6, 6), (7, 7)]
    text = "time,u,v,w\n" + "".join(f"{t},{u},0,0\n" for t, u in rows)
    wind = RecordedWind.read(write(tmp_path, text), rate=1.0)
    assert (wind.report.repeated, wind.report.backward) == (1, 1)
    assert_allclose(wind.samples[:, 0], np.arange(8), rtol=1e-12)


def test_missing_values_and_gaps_are_bridged_and_counted(tmp_path):
    rows = ["0,0,0,0", "1,NAN,0,0", "2,2,0,0", "3,,0,0", "4,4,0,0", "20,20,0,0", "21,-9999,0,0"]
    wind = RecordedWind.read(write(tmp_path, "time,u,v,w\n" + "\n".join(rows)), rate=1.0, gap=3.0)
    assert wind.report.missing == 3
    assert [(gap.start, gap.duration) for gap in wind.report.gaps] == [(4.0, 16.0)]
    assert_allclose(wind.samples[:, 0], np.arange(21), rtol=1e-12)


def test_a_gzipped_file_is_read_whatever_its_name(tmp_path):
    path = tmp_path / "wind.dat"
    path.write_bytes(gzip.compress(b"time,u,v,w\n0,1,0,0\n1,2,0,0\n"))
    assert RecordedWind.read(path).samples[:, 0].tolist() == [1, 2]


def test_columns_and_clock_may_be_named(tmp_path):
    text = "when,a,b,c,u\n0,1,2,3,9\n1,1,2,3,9\n"
    wind = RecordedWind.read(write(tmp_path, text), columns=("a", "b", "c"), clock="when")
    assert wind.samples.tolist() == [[1, 2, 3], [1, 2, 3]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("1,2,3\n4,5,6\n", "no header line"),
        ("time,u,v\n0,1,2\n", "no column for the wind component w"),
        ("time,u,v,w\n", "a header but no rows"),
        ("time,u,v,w\n0,1,2,3\n1,1,2\n", "row 1: 3 values"),
        ("time,u,v,w\n0,1,2,3\n1,1,oops,3\n", "row 1: column 'v' holds 'oops'"),
        ("u,v,w\n1,2,3\n1,2,3\n", "no column with a time"),
        ("time,u,v,w\n0,1,2,3\n1,nan,2,3\n", "fewer than two rows"),
        ('"TOA5","station"\n"U","V","W"\n', "four header lines"),
    ],
)
def test_a_bad_file_is_named_with_the_reason(tmp_path, text, words):
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=words) as caught:
        RecordedWind.read(path)
    assert str(path) in str(caught.value)


def test_broken_and_foreign_files_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        RecordedWind.read(tmp_path / "none.csv")
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(b"time,u,v,w\n" + b"0,1,2,3\n" * 1000)[:40])
    with pytest.raises(ValueError, match="damaged gzip"):
        RecordedWind.read(cut)
    binary = tmp_path / "binary.csv"
    binary.write_bytes(bytes(range(256)))
    with pytest.raises(ValueError, match="not a text file"):
        RecordedWind.read(binary)
    with pytest.raises(ValueError, match="columns"):
        RecordedWind.read(write(tmp_path, "time,u,v,w\n0,1,2,3\n"), columns=("a", "b", "c"))
    with pytest.raises(ValueError, match="clock"):
        RecordedWind.read(write(tmp_path, "time,u,v,w\n0,1,2,3\n"), clock="clock")


def test_the_end_of_a_record_is_refused_held_or_repeated():
    samples = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    with pytest.raises(ValueError, match="time: the record spans 0 to 2 s"):
        RecordedWind(samples, rate=1.0).velocity(2.5)
    assert RecordedWind(samples, rate=1.0).velocity(2.0)[0] == 2
    assert RecordedWind(samples, rate=1.0, end="hold").velocity(9)[0] == 2
    repeated = RecordedWind(samples, rate=1.0, end="repeat")
    assert [repeated.velocity(t)[0] for t in (2, 2.5, 3, 4.25, 301)] == [2, 1, 0, 1.25, 1]


def test_a_record_may_be_aligned_and_scaled():
    rng = np.random.default_rng(0)
    wind = RecordedWind(rng.normal(loc=(-1, 2, 0.1), size=(50, 3)), rate=5.0)
    turned = wind.aligned((0, 1, 0)).scaled(3.0)
    mean = turned.samples.mean(axis=0)
    assert abs(mean[0]) < 1e-12 and mean[1] > 0
    assert_allclose(turned.samples[:, 2], 3 * wind.samples[:, 2])
    assert_allclose(
        np.linalg.norm(turned.samples, axis=1), 3 * np.linalg.norm(wind.samples, axis=1)
    )


def test_a_recorded_wind_pickles_and_has_labels():
    wind = RecordedWind([[1, 2, 0], [3, 4, 0]], rate=2.0, end="repeat")
    assert pickle.loads(pickle.dumps(wind)).velocity(0.3).tolist() == wind.velocity(0.3).tolist()
    table = wind.dataset()
    assert table.velocity.dims == ("time", "component")
    assert float(table.velocity.sel(component="y", time=0.5)) == 4
