"""sar, iostat and dstat: a machine's series are added to the trials of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from tare.analysis.analyse import analyse
from tare.imports import dstat, iostat, sar
from tare.imports.file_content import FileReading, UnreadableError
from tare.imports.tools import Options
from tare.records.reader import read_run
from tests.imports.conftest import DATA

if TYPE_CHECKING:
    from tests.imports.conftest import Import

HEAD = "Linux 5.10.0 (host) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n"
SAR_CPU = "CPU %user %nice %system %iowait %steal %idle"
SAR_DISK = "DEV tps rkB/s wkB/s dkB/s areq-sz aqu-sz await %util"
SAR_NET = "IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s %ifutil"
SAR = (
    HEAD
    + f"""\
09:45:11        {SAR_CPU}
09:45:12        all     40.00      0.00     10.00      5.00      0.00     45.00
09:45:13        all     50.00      0.00     10.00      0.00      0.00     40.00
Average:        all     45.00      0.00     10.00      2.50      0.00     42.50

09:45:11        {SAR_DISK}
09:45:12        sda     10.00  1.00  100.00  0.00  10.00  0.01  0.10  1.00
09:45:12        dm-0    10.00  1.00  100.00  0.00  10.00  0.01  0.10  1.00
09:45:13        sda     10.00  1.00  300.00  0.00  10.00  0.01  0.10  1.00
09:45:13        dm-0    10.00  1.00  300.00  0.00  10.00  0.01  0.10  1.00

09:45:11        {SAR_NET}
09:45:12        lo      100.00 100.00 10.00 10.00 0.00 0.00 0.00 0.00
09:45:12        eth0    50.00  60.00  5.00  6.00  0.00 0.00 0.00 0.00
"""
)
SADF = {"sysstat": {"hosts": [{"nodename": "host", "number-of-cpus": 2, "statistics": [
    {"timestamp": {"date": "2026-11-21", "time": "09:45:12", "utc": 1, "interval": 1},
     "cpu-load": [{"cpu": "all", "user": 40.0, "nice": 0.0, "system": 10.0, "iowait": 5.0,
                   "steal": 0.0, "idle": 45.0}],
     "disk": [{"disk-device": "sda", "tps": 10.0, "rkB": 1.0, "wkB": 100.0}],
     "network": {"net-dev": [{"iface": "eth0", "rxpck": 50.0, "txpck": 60.0, "rxkB": 5.0,
                              "txkB": 6.0}]}}]}]}}  # fmt: skip
IOSTAT_CPU = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
IOSTAT_DISK = "Device            r/s     rkB/s     w/s     wkB/s  %util\n"
IOSTAT = HEAD + "".join(
    f"11/21/26 09:45:{second}\n{IOSTAT_CPU}"
    f"          {user}    0.00   10.00    0.00    0.00   {90 - user:.2f}\n\n"
    f"{IOSTAT_DISK}sda  1.00 2.00 3.00 {write} 1.00\nsda1 1.00 2.00 3.00 {write} 1.00\n\n"
    for second, user, write in ((11, 1.0, 9.0), (12, 40.0, 100.0), (13, 50.0, 300.0))
)
DSTAT = """\
"Dstat 0.7.4 CSV output"
"Author:","Dag Wieers"
"Host:","host",,,,"User:","root"

"epoch","total cpu usage",,,,,,"dsk/total",,"net/total",
"epoch","usr","sys","idl","wai","hiq","siq","read","writ","recv","send"
1795254311.0,1.0,1.0,98.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0
1795254312.0,40.0,8.0,45.0,5.0,0.0,2.0,1024.0,102400.0,5120.0,6144.0
1795254313.0,50.0,8.0,40.0,0.0,0.0,2.0,1024.0,307200.0,5120.0,6144.0
"""
START = datetime(2026, 11, 21, 9, 45, 11, tzinfo=UTC).timestamp()


def table(reading: FileReading) -> dict[tuple[float, str], float]:
    """(seconds after the start, metric) to value."""
    return {(one.t - START, one.metric): one.value for one in reading.samples}


def one(readings: list[FileReading]) -> FileReading:
    (reading,) = readings
    return reading


def test_sar_in_the_probes_names_and_units() -> None:
    found = table(one(sar.read(SAR.encode())))
    assert found[1.0, "cpu_user"] == pytest.approx(0.8), "40% of two CPUs, in cores"
    assert found[2.0, "cpu_idle"] == pytest.approx(0.8)
    assert found[1.0, "disk_write_bytes_per_s"] == 102_400, "dm-0 writes to sda: counted once"
    assert found[1.0, "net_rx_bytes_per_s"] == 15 * 1024
    assert found[1.0, "lo_rx_bytes_per_s"] == 10 * 1024
    assert found[1.0, "net_tx_packets_per_s"] == 160
    assert not any(t == 3.0 for t, _ in found), "averages are no interval"


def test_time_of_virtual_machines_counts_as_user_time_also_in_sadf() -> None:
    """`-u ALL` prints this time in a separate column, and %usr excludes it."""
    document = json.loads(json.dumps(SADF))
    (entry,) = document["sysstat"]["hosts"][0]["statistics"]
    entry["cpu-load"] = [{"cpu": "all", "usr": 30.0, "guest": 10.0, "sys": 10.0, "idle": 50.0}]
    assert table(one(sar.read(json.dumps(document).encode())))[1.0, "cpu_user"] == pytest.approx(
        0.8
    )


def test_sadf_says_the_same() -> None:
    text, document = one(sar.read(SAR.encode())), one(sar.read(json.dumps(SADF).encode()))
    first, same = table(text), table(document)
    for metric in ("cpu_user", "cpu_system", "cpu_idle", "disk_write_bytes_per_s"):
        assert first[1.0, metric] == same[1.0, metric]
    assert same[1.0, "net_rx_bytes_per_s"] == 5 * 1024


def test_real_files_of_one_measurement_say_the_same() -> None:
    text = table(one(sar.read((DATA / "sar.txt").read_bytes())))
    document = table(one(sar.read((DATA / "sadf.json").read_bytes())))
    assert text.keys() == document.keys()
    assert len({t for t, _ in text}) == 3
    assert {"cpu_softirq", "ctxt_per_s", "intr_per_s", "load1"} <= {metric for _, metric in text}
    assert text == pytest.approx(document, rel=1e-6)
    first = min(t for t, _ in text)
    assert text[first, "cpu_nice"] == pytest.approx(2 * 0.5567)
    assert text[first, "ctxt_per_s"] == 10829
    assert text[first, "disk_read_bytes_per_s"] == 91544 * 1024


def test_real_iostat_as_text_and_as_json() -> None:
    for name in ("iostat.txt", "iostat.json"):
        samples = one(iostat.read((DATA / name).read_bytes(), None, None)).samples
        assert len({sample.t for sample in samples}) == 2, "the first report is left out"
        assert {"cpu_user", "disk_read_bytes_per_s"} <= {sample.metric for sample in samples}
        cores = [s.value for s in samples if s.metric.startswith("cpu_")]
        assert sum(cores) == pytest.approx(2 * 2, rel=1e-2), "two CPUs, twice"


def test_sar_with_twelve_hours_passes_midnight() -> None:
    text = HEAD + (
        "11:59:58 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
        "11:59:59 PM     all     40.00      0.00     10.00      5.00      0.00     45.00\n"
        "12:00:00 AM     all     50.00      0.00     10.00      0.00      0.00     40.00\n\n"
        "11:59:58 PM    proc/s   cswch/s\n"
        "11:59:59 PM      1.00   1000.00\n"
        "12:00:00 AM      1.00   2000.00\n"
    )
    samples = one(sar.read(text.encode())).samples
    times = sorted({sample.t for sample in samples})
    assert times[1] - times[0] == 1.0
    assert datetime.fromtimestamp(times[1], UTC).isoformat() == "2026-11-22T00:00:00+00:00"
    assert [s.value for s in samples if s.metric == "ctxt_per_s"] == [1000.0, 2000.0]


def test_a_date_that_could_be_two_days_is_noted() -> None:
    assert one(sar.read(SAR.encode())).notes == []
    ambiguous = one(sar.read(SAR.replace("11/21/26", "03/04/26").encode()))
    assert "month/day/year" in ambiguous.notes[0]
    iso = one(sar.read(SAR.replace("11/21/26", "2026-11-21").encode()))
    assert table(iso) == table(one(sar.read(SAR.encode())))


def test_iostat_without_its_first_report() -> None:
    found = table(one(iostat.read(IOSTAT.encode(), None, None)))
    assert {t for t, _ in found} == {1.0, 2.0}
    assert found[1.0, "cpu_user"] == pytest.approx(0.8)
    assert found[2.0, "disk_write_bytes_per_s"] == 300 * 1024, "sda1 is a part of sda"


def test_iostats_dates_are_read_alike_in_a_file_and_noted_where_they_could_be_two_days() -> None:
    assert one(iostat.read(IOSTAT.encode(), None, None)).notes[1:] == []
    ambiguous = one(iostat.read(IOSTAT.replace("11/21/26 ", "03/04/26 ").encode(), None, None))
    assert any("month/day/year" in note for note in ambiguous.notes)
    german = IOSTAT.replace("11/21/26 09:45:11", "31/10/26 23:59:59")
    german = german.replace("11/21/26 09:45:1", "01/11/26 00:00:0")
    times = sorted({s.t for s in one(iostat.read(german.encode(), None, None)).samples})
    assert datetime.fromtimestamp(times[0], UTC).date().isoformat() == "2026-11-01"


def test_iostat_json() -> None:
    statistics = [
        {"timestamp": f"11/21/26 09:45:{second}",
         "avg-cpu": {"user": 40.0, "nice": 0.0, "system": 10.0, "iowait": 0.0, "steal": 0.0,
                     "idle": 50.0},
         "disk": [{"disk_device": "nvme0n1", "r/s": 1.0, "wkB/s": 100.0, "util": 1.0}]}
        for second in (11, 12)
    ]  # fmt: skip
    host = {"nodename": "host", "number-of-cpus": 2, "statistics": statistics}
    text = json.dumps({"sysstat": {"hosts": [host]}})
    found = table(one(iostat.read(text.encode(), None, None)))
    assert found[1.0, "cpu_user"] == pytest.approx(0.8)
    assert found[1.0, "disk_write_bytes_per_s"] == 102_400


def test_iostat_without_times_needs_the_interval() -> None:
    text = "\n".join(line for line in IOSTAT.splitlines() if not line.startswith("11/21/26"))
    with pytest.raises(UnreadableError, match="give --interval"):
        iostat.read(text.encode(), None, None)
    reading = one(iostat.read(text.encode(), None, 5.0))
    assert not reading.samples_absolute
    assert {sample.t for sample in reading.samples} == {5.0, 10.0}


def test_dstat_does_not_say_how_many_cpus() -> None:
    with pytest.raises(UnreadableError, match="give --cpus"):
        dstat.read(DSTAT.encode(), None, None)
    found = table(one(dstat.read(DSTAT.encode(), 2, None)))
    assert found[1.0, "cpu_user"] == pytest.approx(0.8)
    assert found[1.0, "cpu_softirq"] == pytest.approx(0.04)
    assert found[2.0, "disk_write_bytes_per_s"] == 307_200


@pytest.mark.parametrize("title", ["total usage", "total cpu usage"])
def test_both_titles_of_dstats_cpu_columns(title: str) -> None:
    text = DSTAT.replace("total cpu usage", title)
    assert table(one(dstat.read(text.encode(), 2, None)))[1.0, "cpu_user"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("read", "text", "why"),
    [
        (sar.read, "nothing", "cut off, or not sar"),
        (sar.read, IOSTAT, "use tare import iostat"),
        (sar.read, SAR[: SAR.index("09:45:13") + 40], "cut off or damaged"),
        (sar.read, SAR.replace("40.00", "NaN"), "is NaN"),
        (sar.read, SAR.replace("09:45:12", "29:45:12"), "no time of day"),
        (sar.read, SAR.replace("11/21/26", "99/99/99"), "no date"),
        (sar.read, json.dumps(SADF)[:200], "cut off or damaged JSON"),
        (sar.read, "{}", "not sysstat's JSON"),
        (sar.read, json.dumps(SADF).replace("40.0", '"x"'), "user is x"),
        (lambda d: iostat.read(d, None, None), IOSTAT[: IOSTAT.index("11/21/26 09:45:12")],
         "no series"),
        (lambda d: iostat.read(d, None, None), IOSTAT.replace("(2 CPU)", ""), "give --cpus"),
        (lambda d: iostat.read(d, None, None), SAR, "use tare import sar"),
        (lambda d: dstat.read(d, 2, None), DSTAT[:-40], "cut off or damaged"),
        (lambda d: dstat.read(d, 2, None), SAR, "use tare import sar"),
        (lambda d: dstat.read(d, 2, None), DSTAT.replace("epoch", "time"), "give --interval"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    read: Callable[[bytes], list[FileReading]], text: str, why: str
) -> None:
    with pytest.raises(UnreadableError, match=why):
        read(text.encode())


@pytest.fixture
def trial(import_: Import, tmp_path: Path) -> Path:
    """A run with one trial of two seconds and a known start time."""
    report = json.loads((DATA / "latte-mixed-report.json").read_bytes())
    report["result"] |= {"start_time": "2026-11-21T09:45:11Z", "elapsed_time_s": 2.0}
    report["result"]["log"] = report["result"]["log"][:2]
    path = tmp_path / "docker_many_1.txt"
    path.write_text(json.dumps(report), encoding="utf-8")
    import_("latte", path)
    return path


def test_a_series_joins_the_trial_of_its_condition(import_: Import, trial: Path, run: Path) -> None:
    trial.write_text(SAR, encoding="utf-8")
    assert import_("sar", trial).trials == ["D1-B01-docker.many"]
    (record,) = read_run(run).trials
    assert record.manifest.source is not None
    assert [file.tool for file in record.manifest.source.files] == ["latte", "sar"]
    analysis = analyse(run)
    assert analysis.trials[0].values["cpu.util"] == pytest.approx(55.0)
    assert analysis.trials[0].values["disk.write_kbps"] == pytest.approx(200 * 1.024)
    (series,) = analysis.series
    assert series.values["machine_cpu"] == [pytest.approx(1.0), pytest.approx(1.2)]
    assert "already" in import_("sar", trial).skipped[0].reason


def test_machines_of_one_trial_are_told_apart(import_: Import, trial: Path, run: Path) -> None:
    trial.write_text(SAR, encoding="utf-8")
    import_("sar", trial)
    import_("sar", trial, options=Options(scope="client"))
    (record,) = read_run(run).trials
    frame = pd.read_parquet(record.files.samples)
    assert sorted(frame["scope"].unique()) == ["client", "machine"]
    assert (frame["scope"] == "client").sum() == len(frame) / 2


def test_a_second_tool_completes_the_series_of_the_first(
    import_: Import, trial: Path, run: Path
) -> None:
    trial.write_text(SAR, encoding="utf-8")
    import_("sar", trial)
    before = pd.read_parquet(read_run(run).trials[0].files.samples)
    trial.write_text(DSTAT, encoding="utf-8")
    import_("dstat", trial, options=Options(cpus=2))
    (record,) = read_run(run).trials
    frame = pd.read_parquet(record.files.samples)
    packets, kept = (
        one[one["metric"] == "net_rx_packets_per_s"].reset_index(drop=True)
        for one in (before, frame)
    )
    assert len(packets)
    assert kept.equals(packets), "dstat has none: sar's stay"
    assert not frame.duplicated(["t", "metric"]).any()
    assert any("from the later of two files" in note for note in record.manifest.notes)


def test_a_series_of_another_time_is_refused(import_: Import, trial: Path, run: Path) -> None:
    trial.write_text(SAR.replace("11/21/26", "11/22/26"), encoding="utf-8")
    (skipped,) = import_("sar", trial).skipped
    assert "it covers 2026-11-22 09:45:12" in skipped.reason
    assert not read_run(run).trials[0].files.samples.exists()


def test_a_series_that_spans_ages_is_refused(import_: Import, trial: Path) -> None:
    trial.write_text(DSTAT.replace("1795254313.0", "195254313000.0"), encoding="utf-8")
    (skipped,) = import_("dstat", trial, options=Options(cpus=2)).skipped
    assert "days" in skipped.reason


def test_a_trial_without_a_time_takes_that_of_its_series_and_says_so(
    import_: Import, tmp_path: Path, run: Path
) -> None:
    path = tmp_path / "docker_many_1.txt"
    path.write_bytes((DATA / "ycsb-cassandra-a-t.txt").read_bytes())
    import_("ycsb", path)
    path.write_text(SAR, encoding="utf-8")
    import_("sar", path)
    (record,) = read_run(run).trials
    assert record.manifest.measure_start == START
    assert record.manifest.measure_end == START + 20.401
    assert any("taken from its series" in note for note in record.manifest.notes)


def test_a_series_without_a_trial_is_named(import_: Import, trial: Path, tmp_path: Path) -> None:
    other = tmp_path / "native_few_1.txt"
    other.write_text(SAR, encoding="utf-8")
    (skipped,) = import_("sar", other).skipped
    assert skipped.reason == "the run has no trial of native.few, repetition 1"
