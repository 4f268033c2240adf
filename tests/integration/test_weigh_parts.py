"""Real processes and containers, measured in turns: system calls, storage and the machine."""

from __future__ import annotations

import signal
import subprocess
import time

import pytest

from tare.analysis.part_prices import PIECES
from tare.analysis.prices import AGAIN
from tare.analysis.tariff import NATIVE
from tare.lab import microbenchmarks
from tare.lab.microbenchmarks import weigh_parts
from tare.records.part_prices import PartPrice, PartWeighing

from .conftest import FROM_A_TERMINAL, TARE, leftovers, weighed_json

pytestmark = pytest.mark.engine

PARTS = "system,storage,machine"


def weighed(*words: str, **environment: str) -> PartWeighing:
    """What the command says in JSON."""
    return PartWeighing.model_validate_json(weighed_json(["--what", *words], environment, {0}))


CREATE = "create a file"


def of(found: PartWeighing, piece: str, platform: str) -> PartPrice:
    return next(one for one in found.prices if (one.piece, one.platform) == (piece, platform))


def test_each_piece_has_a_price_native_and_in_a_container() -> None:
    found = weighed(PARTS)
    assert leftovers() == []
    platforms = {(one.piece, one.platform) for one in found.prices}
    docker = {"storage": ["docker.directory", "docker.volume", "docker.layer"]}
    wanted = {
        (piece.name, platform)
        for piece in PIECES
        if piece.what in PARTS.split(",")
        for platform in [NATIVE, AGAIN, *docker.get(piece.what, ["docker"])]
        if not (piece.name == "create" and "without a journal" in found.left_out.get(CREATE, ""))
    }
    # what a machine cannot do is said; all that is needed for it is there on most
    assert wanted - platforms == set() or found.left_out
    assert len(wanted - platforms) <= 4, found.left_out
    assert found.late <= found.turns / 4
    assert found.file_systems["docker.layer"].kind == "overlay"
    for piece in ("futex_wake", "read", "dependent", "clock"):
        for platform in (NATIVE, "docker"):
            price = of(found, piece, platform)
            assert price.cpu.ns.low > 0
            assert price.cpu.ns.value < 20_000
    # the same instructions take the same time wherever they run: an interval never says otherwise
    step = of(found, "dependent", "docker").cpu.percent
    assert step is not None
    assert step.low < 10
    assert step.high > -10


def test_a_name_costs_more_where_a_server_is_asked_and_a_start_more_in_a_container() -> None:
    found = weighed("name,start")
    assert leftovers() == []
    native, hosts, dns = (
        of(found, "resolve", name) for name in (NATIVE, "docker.hosts", "docker.dns")
    )
    assert native.cpu.ns.value < 100_000
    assert hosts.wall.ns.value < dns.wall.ns.value
    assert dns.cpu.added is not None
    assert dns.cpu.added.low > 0
    started = of(found, "start", NATIVE)
    for name in ("docker.host", "docker.bridge"):
        added = of(found, "start", name).wall.added
        assert added is not None
        assert added.low > started.wall.ns.value


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGHUP, marks=pytest.mark.long), signal.SIGKILL]
)
def test_nothing_stays_of_what_is_stopped_once_clean_has_run(how: int) -> None:
    command = [*FROM_A_TERMINAL, TARE, "weigh", "--what", PARTS]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("round 1 of")
        time.sleep(4)  # into the turns: any instant will do
        running.send_signal(how)
        assert running.wait(60) == (-how if how == signal.SIGKILL else 130)
    finally:
        running.kill()
    if how == signal.SIGKILL:
        subprocess.run([TARE, "clean"], check=True, timeout=60)
        words = [TARE, "clean", "--dry-run"]
        told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
        assert "nothing was left" in told.stdout
    assert leftovers() == []


def test_nothing_stays_after_an_error_within_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("in the middle of a round")

    monkeypatch.setattr(microbenchmarks, "_tell", breaks)
    with pytest.raises(RuntimeError, match="in the middle"):
        weigh_parts(["system", "storage"], ["native", "docker"], 3)
    assert leftovers() == []


def test_without_an_engine_native_is_weighed_and_without_a_disk_no_storage() -> None:
    found = weighed("machine,storage", DOCKER_HOST="unix:///nowhere/docker.sock", TMPDIR="/dev/shm")  # noqa: S108 - it is in memory
    assert {one.platform for one in found.prices} == {NATIVE, AGAIN}
    assert "no Docker engine answers" in found.left_out["docker"]
    storage = [piece for piece in PIECES if piece.what == "storage"]
    assert {one.piece for one in found.prices}.isdisjoint(piece.name for piece in storage)
    titles = tuple(piece.title for piece in storage)
    reasons = [why for name, why in found.left_out.items() if name.startswith(titles)]
    assert reasons
    assert all("in memory" in why for why in reasons)
