"""Series on one grid, from what clients and the sampler reported."""

from __future__ import annotations

import numpy as np
import pytest

from tare.analysis.series import client_series, machine_means, sampled_series
from tare.records.hlog import HistogramLog, Latencies, Responses
from tare.records.manifest import TrialManifest
from tare.records.reader import ProgressInterval
from tare.records.samples import Samples
from tests.analysis.test_metrics import client, manifest


def told(client: str, t: float, rate: float, p99: float | None = 5.0) -> ProgressInterval:
    return ProgressInterval(client, t, rate, p99)


def log(start: float, *values_us: int) -> HistogramLog:
    """One second's READ-rt with bins of 1.024 us."""
    part = Latencies(np.bincount(values_us), unit=10, half=10)
    own = Responses(start, 1.0, part.quantiles_us([99.0])[0], part)
    return HistogramLog({"READ-rt": part}, [own], start_s=start)


def test_throughput_is_the_sum_of_the_clients_where_all_reported() -> None:
    intervals = [told("c1", 1.0, 10), told("c2", 1.01, 20), told("c1", 2.0, 11)]
    found = client_series(intervals, ["c1", "c2"], [], 3)
    assert found["throughput"] == [30, None, None]
    assert found["p99"] == [None, None, None]


def test_a_short_last_interval_does_not_count_twice() -> None:
    found = client_series([told("c1", 1.0, 10), told("c1", 1.02, 500)], ["c1"], [], 1)
    assert found["throughput"] == [10]


def test_p99_of_several_clients_comes_from_merged_histograms() -> None:
    """99 fast requests on one client and one slow on another: no mean of p99s would say 1 us."""
    found = client_series([], ["c1", "c2"], [log(0.0, *[1] * 99), log(0.0, 900)], 1)
    assert found["p99"] == pytest.approx([2.047], abs=0.001)


def test_one_client_without_log_is_taken_at_its_word() -> None:
    assert client_series([told("c1", 1.0, 1, 7.0)], ["c1"], [], 1)["p99"] == [7.0]


def trial() -> TrialManifest:
    units = [
        {
            "name": name, "role": role, "runtime": "native", "network": "host",
            "storage": "directory", "endpoint": "", "command": [], "bits": "", "limits": {},
            "parity": {},
        }
        for name, role in (("n1", "database"), ("n2", "database"), ("c1", "client"))
    ]  # fmt: skip
    return manifest([client("c1", 1, 1.0, 1.0)], units=units, measure_start=100.0)


def samples(*rows: tuple[float, str, str, float]) -> Samples:
    return Samples.of(rows)


def test_units_add_up_and_moments_without_all_of_them_are_gaps() -> None:
    found = sampled_series(
        samples(
            (99.2, "n1", "cpu", 9.0),  # before the measured part
            (101.2, "n1", "cpu", 0.5),
            (101.2, "n2", "cpu", 0.25),
            (102.2, "n1", "cpu", 0.5),
            (103.2, "n1", "cpu", float("nan")),
            (103.2, "n2", "cpu", 0.5),
            (101.2, "c1", "cpu", 0.125),
            (101.2, "machine", "cpu_user", 1.0),
            (101.2, "machine", "cpu_softirq", 0.5),
            (101.2, "machine", "cpu_idle", 0.5),
        ),
        trial(),
        3,
    )
    assert found == {
        "server_cpu": [0.75, None, None],
        "client_cpu": [0.125, None, None],
        "machine_cpu": [1.5, None, None],
    }


def test_several_samples_in_a_second_are_averaged() -> None:
    found = sampled_series(
        samples((100.9, "c1", "cpu", 0.2), (101.3, "c1", "cpu", 0.4)), trial(), 1
    )
    assert found["client_cpu"] == pytest.approx([0.3])


def test_several_machines_are_told_as_one_sum() -> None:
    busy = ("machine@db1", "cpu_user", 0.5), ("machine@db2", "cpu_user", 0.25)
    found = sampled_series(samples(*((101.2, *one) for one in busy)), trial(), 1)
    assert found["machine_cpu"] == [0.75]


def test_means_of_several_machines_stay_apart() -> None:
    stolen = ("machine@db1", "cpu_steal", 0.5), ("machine@db2", "cpu_steal", 0.0)
    begun = trial().model_copy(update={"measure_end": 110.0})
    found = machine_means(samples(*((101.2, *one) for one in stolen)), begun)
    assert found == {"machine@db1": {"cpu_steal": 0.5}, "machine@db2": {"cpu_steal": 0.0}}
