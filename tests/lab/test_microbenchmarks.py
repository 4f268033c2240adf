"""The order of turns: each unit has its own, none overlap, and drift cancels out."""

from __future__ import annotations

import contextlib
import subprocess
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import pytest

from tare.analysis.part_prices import PIECES, Turn, WeighedUnit
from tare.artifacts.binaries import find
from tare.errors import RuntimeUnavailableError, UsageError
from tare.lab import microbenchmarks
from tare.lab.microbenchmarks import PASSES, _Plan, _too_long, _units, schedule, weigh_parts

ALL = tuple(piece.name for piece in PIECES if piece.what != "start")
STORAGE = tuple(piece.name for piece in PIECES if piece.what == "storage")
UNITS = [
    WeighedUnit("native", "native", "directory", ALL),
    WeighedUnit("native again", "native", "directory", ALL),
    WeighedUnit("docker.volume", "docker", "volume", STORAGE),
]


def test_every_unit_has_as_many_turns_of_each_of_its_pieces() -> None:
    turns, _ = schedule(UNITS, 1, {})
    counted = Counter((turn.unit, turn.piece) for turn in turns)
    assert counted == {(unit.name, piece): PASSES for unit in UNITS for piece in unit.pieces}


def test_turns_follow_each_other_without_overlap() -> None:
    turns, lasts = schedule(UNITS, 1, {})
    assert all(one.at + one.seconds < after.at for one, after in pairwise(turns))
    assert turns[-1].at + turns[-1].seconds < lasts


def test_a_piece_whose_turns_take_too_long_gets_more_room_in_the_next_round_and_no_other() -> None:
    """Reads of memory are slow on one unit of three, which stood still in another turn; the clock's
    turns have stood still once; appends take seconds; a flush failed at once."""
    took = [
        ("memory_read", "native", 0.0165),
        ("memory_read", "native again", 0.0165),
        ("memory_read", "docker", 0.15),
        ("memory_read", "docker", 0.4),
        ("clock", "native", 0.0161),
        ("clock", "native", 0.3),
        ("append", "native", 9.0),
    ]
    turns = [Turn(piece, unit, at, at, at + long) for at, (piece, unit, long) in enumerate(took)]
    failed = Turn("flush", "native", 9.0, 9.0, 9.9, error="EIO")
    too_long = _too_long([*turns, failed])
    assert too_long == {"memory_read": pytest.approx(0.225), "append": 0.5}
    given, _ = schedule(UNITS, 1, too_long)
    rooms: dict[str, list[float]] = {}
    for one, after in pairwise(given):
        rooms.setdefault(one.piece, []).append(after.at - one.at)
    assert min(rooms["memory_read"]) > 0.225
    assert max(rooms["clock"]) < 0.02
    assert {one.seconds for one in given if one.piece == "memory_read"} == {0.016}


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_drift_is_in_no_difference_but_by_the_order_of_pieces(seed: int) -> None:
    turns, _ = schedule(UNITS, seed, {})
    for piece in ALL:
        own = [turn for turn in turns if turn.piece == piece]
        half = len(own) // PASSES
        first, second = ([turn.unit for turn in part] for part in (own[:half], own[half:]))
        assert second == first[::-1]


def test_rounds_differ_in_their_order_and_a_round_can_be_had_again() -> None:
    assert schedule(UNITS, 1, {}) == schedule(UNITS, 1, {})
    assert schedule(UNITS, 1, {}) != schedule(UNITS, 2, {})


def test_the_names_of_pieces_are_those_of_the_program() -> None:
    asked = subprocess.run(
        [find("tare-micro"), "--pieces", ",".join(ALL), "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert all(f"- {name}" in asked.stdout for name in ALL)


def test_a_runtime_that_cannot_be_weighed_is_refused() -> None:
    with pytest.raises(UsageError, match="jail cannot be weighed"):
        weigh_parts(["system"], ["jail"], 3)


def test_a_runtime_without_images_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_place = SimpleNamespace(images=lambda: None, close=lambda: None)
    declared = SimpleNamespace(orchestrator=False, make=lambda *_: in_place)
    monkeypatch.setattr(microbenchmarks, "declared", lambda name: declared)
    with contextlib.ExitStack() as stack:
        made, _, left_out = microbenchmarks._made_ready(["system"], ["lxc"], stack, print)
    assert made == {}
    assert "of an image" in left_out["lxc"]


def test_pods_are_weighed_with_each_storage_that_a_study_gives_them() -> None:
    units = _units(["system", "storage"], ["docker", "kubernetes"])
    pods = {one.name: one for one in units if one.runtime == "kubernetes"}
    assert [*pods] == [f"kubernetes.{kind}" for kind in ("host-path", "pvc", "emptydir", "layer")]
    assert all("append" in one.pieces for one in pods.values())
    first, *others = pods.values()
    assert "futex_wake" in first.pieces, "one of them measures system calls"
    assert not any("futex_wake" in one.pieces for one in others)


def test_a_pod_is_started_where_clients_reach_it_and_resolves_no_name() -> None:
    units = _units(["name", "start"], ["kubernetes", "swarm"])
    own = [one.name for one in units if one.runtime in ("kubernetes", "swarm")]
    assert own == ["kubernetes.host-port", "swarm.host-port"]


def test_what_an_orchestrator_refuses_is_left_out_with_the_reason_and_the_rest_is_measured() -> (
    None
):
    plan = _Plan(_units(["storage"], ["docker", "kubernetes"]), {}, {}, 0)
    of = {one.name: one for one in plan.units}
    with plan._refusing(of["kubernetes.pvc"]):
        raise RuntimeUnavailableError("a pod does not start", why="no storage class is set")
    assert plan.refused["kubernetes.pvc"].startswith("a pod does not start: no storage class")
    assert {*of} - {one.name for one in plan.had()} == {"kubernetes.pvc"}
    with pytest.raises(RuntimeUnavailableError), plan._refusing(of["docker.volume"]):
        raise RuntimeUnavailableError("no Docker engine answers")
