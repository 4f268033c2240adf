"""A tool runs instead of tare-load: the same JSON lines, the same histogram log."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from hdrh.histogram import HdrHistogram

from tare.load.client import ClientInstallation, LoadClient, progress, result_of
from tare.machines.addresses import AddressPool
from tare.records.hlog import read_hlog
from tare.runtimes.native import NativeRuntime
from tare.runtimes.unit import Bits
from tare.study.schema import Client

from .conftest import Specify
from .test_cassandra_stress import RESULTS


def stand_in(where: Path, body: str) -> list[str]:
    """A tool that is a shell script: the tests are about running and reading it."""
    program = where / "tool.sh"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return [str(program)]


def stress_like(where: Path, count: int = 4, status: int = 0) -> list[str]:
    """Prints like cassandra-stress, and writes its log to the given file."""
    histogram = HdrHistogram(1, 10_000_000_000, 3)
    histogram.record_value(200_000, count)
    line = f"Tag=READ-st,0.0,1.0,0.2,{histogram.encode().decode()}"
    log = "#Logging op latencies for Cassandra Stress"
    results = RESULTS.replace("\nResults:", "\nRunning READ with 8 threads\nResults:", 1)
    return stand_in(
        where,
        'for word; do case "$word" in hdrfile=*) log=${word#hdrfile=};; esac; done\n'
        f"printf '%s\\n' '{log}' '{line}' > \"$log\"\ncat <<'END_OF_IT'\n{results}END_OF_IT\n"
        f"exit {status}",
    )


def run(specification: dict[str, Any], command: list[str], where: Path) -> list[dict[str, Any]]:
    tool = {"name": "cassandra-stress", "version": "3", "command": command}
    file = where / "load.json"
    file.write_text(json.dumps({**specification, "tool": tool}))
    done = subprocess.run(
        [sys.executable, "-m", "tare.load.tools.drive", "--spec", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_ends_with_a_result_and_a_log_of_both_times(specify: Specify, tmp_path: Path) -> None:
    events = run(specify(workload="stress-read"), stress_like(tmp_path), tmp_path)
    assert [one["event"] for one in events] == ["ready", "measure_start", "measure_end", "result"]
    result = events[-1]
    assert (result["tool"], result["ok"], result["throughput"]) == ("cassandra-stress", 4, 4.0)
    totals = read_hlog(tmp_path / "latency-c1.hlog").totals
    assert {tag: part.total for tag, part in totals.items()} == {"READ-st": 4, "READ-rt": 4}


def test_an_open_loop_with_one_kind_of_time_is_a_response_time(
    specify: Specify, tmp_path: Path
) -> None:
    run(specify(workload="stress-read", rate=4.0), stress_like(tmp_path), tmp_path)
    assert "READ-rt" in read_hlog(tmp_path / "latency-c1.hlog").totals


def test_a_result_that_its_own_histograms_contradict_is_refused(
    specify: Specify, tmp_path: Path
) -> None:
    events = run(specify(workload="stress-read"), stress_like(tmp_path, count=9), tmp_path)
    assert events[-1]["event"] == "error"
    assert "histograms hold 9 operations, it printed 4" in events[-1]["why"]


def test_failures_that_a_tool_has_in_its_histograms_are_no_successes(
    specify: Specify, tmp_path: Path
) -> None:
    command = stress_like(tmp_path)
    script = Path(command[0])
    text = script.read_text()
    errors = "Total errors              :          0 [READ: 0]"
    script.write_text(text.replace(errors, errors.replace(" 0 [READ: 0]", " 1 [READ: 1]")))
    result = run(specify(workload="stress-read"), command, tmp_path)[-1]
    assert (result["ok"], result["errors"], result["errors_by_kind"]) == (3, 1, {"read failed": 1})
    assert result["throughput"] == pytest.approx(3.0)
    script.write_text(text.replace(errors, errors.replace(" 0 [READ: 0]", " 4 [READ: 4]")))
    failed = run(specify(workload="stress-read"), command, tmp_path)[-1]
    assert failed["what"] == "no operation of the tool succeeded"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("exit 7", "ended with status 7"),
        ("echo hello", "never began to measure"),
        ("echo 'Running READ with 8 threads'", "cannot be read"),
    ],
)
def test_a_tool_that_fails_is_an_error_with_its_reason(
    specify: Specify, tmp_path: Path, body: str, says: str
) -> None:
    events = run(specify(workload="stress-read"), stand_in(tmp_path, body), tmp_path)
    assert events[-1]["event"] == "error"
    assert says in events[-1]["what"]
    assert (tmp_path / "tool.log").is_file()


def test_a_tool_whose_output_cannot_be_kept_is_ended(specify: Specify, tmp_path: Path) -> None:
    (tmp_path / "tool.log").symlink_to("/dev/full")
    command = stand_in(tmp_path, f"echo $$ >{tmp_path}/pid; echo hello; exec sleep 600")
    events = run(specify(workload="stress-read"), command, tmp_path)
    assert "No space left" in events[-1]["what"]
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_the_lab_launches_it_as_any_client(specify: Specify, tmp_path: Path) -> None:
    runtime = NativeRuntime("test-tool", tmp_path / "work", AddressPool())
    tool = {"name": "cassandra-stress", "version": "3", "command": stress_like(tmp_path)}
    installation = ClientInstallation(
        sys.executable, Bits("x"), words=("-m", "tare.load.tools.drive"), tool=tool
    )
    client = LoadClient("c1", "u-c1", runtime, installation, Client(), "g")
    try:
        client.launch(specify(workload="stress-read") | {"hlog": client.hlog})
        events = [line.event for line in progress([client], lambda: None)]
        result = next(one for one in events if one and one["event"] == "result")
        assert result_of(client, result).tool == "cassandra-stress"
    finally:
        client.discard()
        runtime.close()
