"""Samples become a table in long format that any tool can read."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tare.machines.cgroups import Accounting
from tare.monitor.probe import probe_cpu_seconds, watch_list, write_samples

SAMPLES = [
    {
        "event": "sample",
        "unix": 100.0 + second,
        "dt": 1.0,
        "machine": {"cpu_user": 0.5},
        "units": {"n1": {"cpu": 0.25, "gone": False}, "n2": {"gone": True}},
        "probe": {"cpu_s": 0.001 * (second + 1)},
    }
    for second in range(3)
]


def test_every_number_is_a_row_with_time_scope_and_metric(tmp_path: Path) -> None:
    write_samples(SAMPLES, tmp_path / "samples.parquet")
    rows = pq.read_table(tmp_path / "samples.parquet").to_pylist()
    assert {"t": 100.0, "scope": "n1", "metric": "cpu", "value": 0.25} in rows
    assert {"t": 102.0, "scope": "machine", "metric": "cpu_user", "value": 0.5} in rows
    assert not [row for row in rows if row["scope"] == "n2"]


def test_a_trial_without_samples_keeps_an_empty_table(tmp_path: Path) -> None:
    write_samples([], tmp_path / "samples.parquet")
    table = pq.read_table(tmp_path / "samples.parquet")
    assert table.num_rows == 0
    assert table.column_names == ["t", "scope", "metric", "value"]


def test_the_probe_s_own_cost_is_its_last_count() -> None:
    assert probe_cpu_seconds(SAMPLES) == 0.003
    assert probe_cpu_seconds([]) == 0.0


def test_units_are_watched_by_group_and_process_and_the_engine_by_name() -> None:
    groups = {"cpuacct": "/g/cpuacct", "freezer": "/g/freezer"}
    watched = watch_list({"n1": Accounting(groups, (7,))}, ("dockerd",))
    assert watched == [
        {"name": "n1", "cgroups": {"cpuacct": "/g/cpuacct"}, "pids": [7]},
        {"name": "engine", "comm": ["dockerd"]},
    ]


def test_units_of_other_machines_are_not_watched_here() -> None:
    assert watch_list({"n1": Accounting()}) == []
