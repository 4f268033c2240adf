"""Progress of several clients is read as it comes; every failure has a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from tare.errors import ClusterError, LoadError
from tare.load.client import (
    ClientInstallation,
    LoadClient,
    await_better_reason,
    progress,
    result_of,
)
from tare.machines.addresses import AddressPool
from tare.runtimes.native import NativeRuntime
from tare.runtimes.poll import AT_MOST_EVERY_S
from tare.runtimes.unit import Bits
from tare.study.schema import Client

RESULT: dict[str, Any] = {
    "event": "result", "stopped": True, "client": "c1", "hlog": "", "measured_s": 1.0,
    "start_unix": 1.0, "ok": 5, "errors": 0, "throughput": 5.0, "operations": [],
    "errors_by_kind": {}, "cpu_us_per_op": 6.0, "cpu_share": 0.1, "send_lateness_p99_us": None,
    "rate_error": None, "saturated": False, "saturation_reasons": [], "version": "0.1.0",
}  # fmt: skip


class Launch(Protocol):
    def __call__(self, script: str, name: str = "c1") -> LoadClient: ...


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Launch]:
    """Clients whose tare-load is a shell script: the tests are about reading it."""
    runtime = NativeRuntime("test-client", tmp_path / "work", AddressPool())
    launched: list[LoadClient] = []

    def launch(script: str, name: str = "c1") -> LoadClient:
        binary = tmp_path / f"load-{name}"
        binary.write_text(f"#!/bin/sh\n{script}\n")
        binary.chmod(0o755)
        files = ClientInstallation(str(binary), Bits("x"))
        launched.append(LoadClient(name, f"u-{name}", runtime, files, Client(), "g"))
        launched[-1].launch({"name": "t"})
        return launched[-1]

    yield launch
    for one in launched:
        one.discard()
    runtime.close()


def nothing() -> None:
    """A check that never complains."""


def at_once(seconds: float) -> None:
    """A pause that takes no time."""


def test_lines_of_all_clients_come_and_each_ends(client: Launch, tmp_path: Path) -> None:
    script = """echo '{"event": "ready"}'; echo '{"event": "interval"}'"""
    clients = [client(script, name) for name in ("c1", "c2")]
    lines = list(progress(clients, nothing, pause=at_once))
    for one in clients:
        own = [line.event for line in lines if line.client is one]
        assert own == [{"event": "ready"}, {"event": "interval"}, None]


def test_an_error_event_ends_it_with_the_client_s_words(client: Launch, tmp_path: Path) -> None:
    event = json.dumps({"event": "error", "what": "no node answers", "why": "refused"})
    one = client(f"echo '{event}'; exit 1")
    with pytest.raises(LoadError, match="no node answers"):
        list(progress([one], nothing, pause=at_once))


def test_output_that_is_not_tare_load_s_is_refused(client: Launch, tmp_path: Path) -> None:
    one = client("echo Segmentation fault")
    with pytest.raises(LoadError, match="unreadable"):
        list(progress([one], nothing, pause=at_once))


def test_a_silent_client_is_given_up(client: Launch, tmp_path: Path) -> None:
    one = client("exec sleep 600")
    with pytest.raises(LoadError, match="no word"):
        list(progress([one], nothing, every_s=0.01, silence_s=0.05))


def test_a_dead_node_is_noticed_while_the_client_waits(client: Launch, tmp_path: Path) -> None:
    def dead() -> None:
        raise ClusterError("a database node died")

    one = client("exec sleep 600")
    with pytest.raises(ClusterError):
        list(progress([one], dead, every_s=0.01))


def test_the_specification_and_nothing_else_is_what_the_client_gets(
    client: Launch, tmp_path: Path
) -> None:
    one = client('echo "{\\"event\\": \\"$1 $2 $3\\"}"')
    first = next(progress([one], nothing, pause=at_once)).event
    assert first == {"event": f"run --spec {one.site.conf}/load.json"}
    assert json.loads((one.site.conf_on_host / "load.json").read_text()) == {"name": "t"}


def test_a_result_becomes_a_record(client: Launch, tmp_path: Path) -> None:
    one = client("true")
    assert result_of(one, RESULT).hlog == "latency-c1.hlog"
    list(progress([one], nothing, pause=at_once))
    with pytest.raises(LoadError, match="without a result"):
        result_of(one, None)
    with pytest.raises(LoadError, match="not of this version"):
        result_of(one, {name: value for name, value in RESULT.items() if name != "ok"})
    assert result_of(one, {**RESULT, "a fact of a later version": 1}).ok == 5


def test_histograms_that_did_not_come_are_told_of_the_client(
    client: Launch, tmp_path: Path
) -> None:
    one = client("true")
    with pytest.raises(LoadError, match="histograms are not there") as caught:
        one.keep_histogram(tmp_path)
    assert caught.value.where == one.site.name
    one.hlog_on_host.write_text("#abc", encoding="utf-8")
    one.keep_histogram(tmp_path)
    assert (tmp_path / "latency-c1.hlog").read_text(encoding="utf-8") == "#abc"


def test_a_dead_node_is_told_rather_than_the_client_that_failed_because_of_it(
    client: Launch, tmp_path: Path
) -> None:
    def dead() -> None:
        raise ClusterError("a database node died")

    event = json.dumps({"event": "error", "what": "no node answers", "why": "refused"})
    one = client(f"echo '{event}'; exit 1")
    with pytest.raises(ClusterError, match="node died"):
        list(progress([one], dead, pause=at_once))


def test_an_orchestrator_is_asked_twice_before_a_client_is_blamed() -> None:
    pauses: list[float] = []
    await_better_reason(lambda: None, pauses.append)
    assert sum(pauses) > 2 * AT_MOST_EVERY_S


@pytest.mark.parametrize("script", ["""echo '{"event": "error"}'; exit 1""", "exit 1"])
def test_a_node_that_is_seen_to_be_dead_only_later_is_waited_for(
    client: Launch, tmp_path: Path, script: str
) -> None:
    looks: list[float] = []

    def dying() -> None:
        if len(looks) == 3:
            raise ClusterError("a database node died")

    one = client(script)
    with pytest.raises(ClusterError, match="node died"):
        list(progress([one], dying, every_s=60, pause=looks.append))
