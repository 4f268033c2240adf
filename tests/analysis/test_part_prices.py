"""Prices of parts from scripted turns: the analysis finds the cost put in, without disturbances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tare.analysis.part_prices import (
    AGAIN,
    NATIVE,
    PIECES,
    PartRound,
    PartsWeighed,
    Turn,
    WeighedUnit,
    apart,
    part_prices,
)
from tare.records.part_prices import FileSystem, PartPrice, PartWeighing

from .test_prices import MACHINE

SYSTEM = ("futex_wake", "fault_2m")
STORAGE = ("append",)
UNITS = (
    WeighedUnit(NATIVE, "native", "directory", SYSTEM + STORAGE),
    WeighedUnit(AGAIN, "native", "directory", SYSTEM + STORAGE),
    WeighedUnit("docker.directory", "docker", "directory", SYSTEM + STORAGE),
    WeighedUnit("docker.layer", "docker", "layer", STORAGE),
)
TRUE_NS = {"futex_wake": 100.0, "fault_2m": 90_000.0, "append": 50_000.0}
ADDED_NS = {"docker.directory": 30.0, "docker.layer": 5000.0}
DISKS = {unit.name: FileSystem(kind="ext4", device="254:0") for unit in UNITS}
Change = Callable[[int, Turn], Turn]


def weighed(
    noise: float = 0.0,
    rounds: int = 5,
    seed: int = 1,
    change: Change = lambda _, turn: turn,
    missing: dict[str, dict[str, str]] | None = None,
) -> PartsWeighed:
    """Two turns of each piece and unit in a round, whose mood all units share."""
    generator = np.random.default_rng(seed)
    made = []
    for number in range(rounds):
        turns, at = [], 0.0
        mood = generator.lognormal(0, 0.1)
        for _ in range(2):
            for piece in SYSTEM + STORAGE:
                for unit in (unit for unit in UNITS if piece in unit.pieces):
                    true = TRUE_NS[piece] + ADDED_NS.get(unit.name, 0.0)
                    ns = true * mood * generator.lognormal(0, noise)
                    turn = Turn(piece, unit.name, at, at + 0.001, at + 0.02, ns, ns * 3)
                    turns.append(change(number, turn))
                    at += 0.025
        made.append(PartRound(turns, missing or {}, DISKS, 0.01, 0.02))
    return PartsWeighed(UNITS, made, 12.0, 2, 0, "poll", {})


def of(found: PartWeighing, piece: str, platform: str) -> PartPrice:
    return next(one for one in found.prices if (one.piece, one.platform) == (piece, platform))


def platforms(found: PartWeighing, piece: str) -> list[str]:
    return [one.platform for one in found.prices if one.piece == piece]


def only(piece: str, *units: str) -> Callable[[Turn], bool]:
    return lambda turn: turn.piece == piece and turn.unit in units


def test_what_a_platform_adds_is_found_in_nanoseconds_and_percent() -> None:
    found = part_prices(weighed(), MACHINE)
    native, docker = (of(found, "futex_wake", name) for name in (NATIVE, "docker"))
    assert native.cpu.added is None
    assert docker.cpu.added is not None
    assert docker.cpu.percent is not None
    assert docker.cpu.added.value == pytest.approx(0.3 * native.cpu.ns.value)
    assert docker.cpu.percent.value == pytest.approx(30.0)
    assert docker.wall.ns.value == pytest.approx(3 * docker.cpu.ns.value)


def test_percent_is_free_of_the_machine_s_speed_which_differs_between_rounds() -> None:
    cost = of(part_prices(weighed(), MACHINE), "futex_wake", "docker").cpu
    assert cost.added is not None
    assert cost.added.high - cost.added.low > 0.05 * cost.added.value
    assert cost.percent is not None
    assert cost.percent.high - cost.percent.low == pytest.approx(0.0, abs=1e-9)


def test_files_are_told_by_their_kind_and_the_rest_by_the_runtime() -> None:
    found = part_prices(weighed(), MACHINE)
    assert platforms(found, "futex_wake") == [NATIVE, AGAIN, "docker"]
    assert platforms(found, "append") == [NATIVE, AGAIN, "docker.directory", "docker.layer"]
    assert [one.storage for one in found.prices if one.piece == "append"][-1] == "layer"
    assert of(found, "futex_wake", "docker").storage == ""
    assert found.left_out == {}


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    held, studies = 0, 200
    for seed in range(studies):
        found = part_prices(weighed(noise=0.02, seed=seed), MACHINE)
        added = of(found, "futex_wake", AGAIN).cpu.added
        assert added is not None
        held += added.low <= 0 <= added.high
    assert 0.9 * studies <= held <= 0.99 * studies


def test_native_again_that_differs_is_named() -> None:
    assert apart(part_prices(weighed(), MACHINE)) == []

    def dearer(_: int, turn: Turn) -> Turn:
        slower = only("append", AGAIN)(turn)
        return replace(turn, wall_ns=turn.wall_ns * 1.5) if slower else turn

    found = apart(part_prices(weighed(noise=0.001, change=dearer), MACHINE))
    assert [one.piece for one in found] == ["append"]


def test_a_time_that_is_not_shown_is_not_judged() -> None:
    def slower(_: int, turn: Turn) -> Turn:
        one = only("futex_wake", AGAIN)(turn)
        return replace(turn, wall_ns=turn.wall_ns * 1.5) if one else turn

    assert apart(part_prices(weighed(noise=0.001, change=slower), MACHINE)) == []


def test_a_turn_that_began_late_does_not_count() -> None:
    seen: list[Turn] = []

    def late(number: int, turn: Turn) -> Turn:
        if number == 2 and only("futex_wake", "docker.directory")(turn) and not seen:
            seen.append(turn)
            return replace(turn, began=turn.at + 0.01, cpu_ns=1e6)
        return turn

    found = part_prices(weighed(change=late), MACHINE)
    assert found.late == 1
    assert of(found, "futex_wake", "docker").cpu.percent == pytest.approx(
        of(part_prices(weighed(), MACHINE), "futex_wake", "docker").cpu.percent
    )


def test_turns_that_overlap_both_do_not_count() -> None:
    def longer(number: int, turn: Turn) -> Turn:
        run_over = number == 0 and turn.at == 0.0
        return replace(turn, ended=turn.at + 0.027, cpu_ns=1e6) if run_over else turn

    found = part_prices(weighed(change=longer), MACHINE)
    assert found.late == 2
    assert of(found, "futex_wake", "docker").cpu.ns.value < 1000


def test_an_operation_that_takes_longer_than_its_turn_is_left_out_with_the_time_it_took() -> None:
    def longer(_: int, turn: Turn) -> Turn:
        return replace(turn, ended=turn.at + 0.3) if turn.piece == "append" else turn

    found = part_prices(weighed(change=longer), MACHINE)
    assert platforms(found, "append") == []
    (why,) = [why for name, why in found.left_out.items() if "fdatasync" in name]
    assert "299 ms" in why


def test_a_turn_that_runs_over_several_others_spoils_all_of_them() -> None:
    def longer(number: int, turn: Turn) -> Turn:
        run_over = number == 0 and turn.at == 0.0
        return replace(turn, ended=turn.at + 0.06) if run_over else turn

    assert part_prices(weighed(change=longer), MACHINE).late == 3


def test_a_round_in_which_one_platform_has_no_turn_is_not_counted_there_and_is_elsewhere() -> None:
    def stands_still(number: int, turn: Turn) -> Turn:
        still = number == 2 and only("append", "docker.layer")(turn)
        return replace(turn, began=turn.at + 0.01, cpu_ns=1e6) if still else turn

    found = part_prices(weighed(change=stands_still), MACHINE)
    counted = {one.platform: one.rounds for one in found.prices if one.piece == "append"}
    assert counted == {NATIVE: 5, AGAIN: 5, "docker.directory": 5, "docker.layer": 4}
    percent = of(found, "append", "docker.layer").cpu.percent
    assert percent is not None
    assert percent.value == pytest.approx(10.0)
    assert found.left_out == {}


def test_a_price_needs_three_rounds_and_more_than_half() -> None:
    def native_in(rounds: int) -> Change:
        def spoil(number: int, turn: Turn) -> Turn:
            still = number >= rounds and only("append", NATIVE)(turn)
            return replace(turn, began=turn.at + 0.01) if still else turn

        return spoil

    def priced(rounds: int, of_all: int) -> bool:
        found = part_prices(weighed(rounds=of_all, change=native_in(rounds)), MACHINE)
        return bool(platforms(found, "append"))

    assert priced(3, 5)
    assert not priced(2, 3)
    assert not priced(3, 6)
    assert priced(4, 7)
    assert not priced(3, 7)


def test_what_one_platform_cannot_do_is_left_out_there_alone() -> None:
    def failing(_: int, turn: Turn) -> Turn:
        failed = only("append", "docker.layer")(turn)
        return replace(turn, error="no fsync here") if failed else turn

    found = part_prices(weighed(change=failing), MACHINE)
    assert platforms(found, "append") == [NATIVE, AGAIN, "docker.directory"]
    assert found.left_out == {"append 4 KiB, fdatasync, docker.layer": "no fsync here"}


def test_what_fails_in_one_round_has_no_price_and_the_reason_is_the_failure_s() -> None:
    def failing(unit: str) -> Change:
        def fail(number: int, turn: Turn) -> Turn:
            failed = number == 1 and only("append", unit)(turn)
            return replace(turn, error="EIO") if failed else turn

        return fail

    found = part_prices(weighed(change=failing("docker.layer")), MACHINE)
    assert found.left_out == {"append 4 KiB, fdatasync, docker.layer": "EIO"}
    assert platforms(found, "append") == [NATIVE, AGAIN, "docker.directory"]
    for unit in (NATIVE, AGAIN):
        found = part_prices(weighed(change=failing(unit)), MACHINE)
        assert found.left_out == {"append 4 KiB, fdatasync": "EIO"}


def test_what_native_cannot_do_is_left_out_everywhere() -> None:
    why = "MADV_HUGEPAGE gives nothing"
    lacks = {unit.name: {"fault_2m": why} for unit in UNITS[:2]}
    without: Sequence[str] = [unit.name for unit in UNITS[:2]]

    def none(_: int, turn: Turn) -> Turn:
        return replace(turn, error=why) if only("fault_2m", *without)(turn) else turn

    found = part_prices(weighed(missing=lacks, change=none), MACHINE)
    assert platforms(found, "fault_2m") == []
    assert found.left_out == {"page fault, 2 MiB": why}


def test_where_nothing_can_be_measured_only_the_reasons_are_left() -> None:
    memory = {unit.name: dict.fromkeys(unit.pieces, "in memory") for unit in UNITS}
    nothing = [PartRound([], memory, DISKS)] * 3
    found = part_prices(replace(weighed(), rounds=nothing), MACHINE)
    assert found.prices == []
    assert set(found.left_out.values()) == {"in memory"}


def test_the_document_tells_how_it_was_measured_and_can_be_read_again() -> None:
    found = part_prices(weighed(), MACHINE)
    assert (found.rounds, found.passes, found.turns, found.late) == (5, 2, 100, 0)
    assert (found.steal, found.other_cores) == (pytest.approx(0.01), pytest.approx(0.02))
    assert found.file_systems == DISKS
    assert PartWeighing.model_validate_json(found.model_dump_json()) == found


def test_names_of_pieces_are_different_and_so_are_their_titles() -> None:
    assert len({one.name for one in PIECES}) == len(PIECES) == len({one.title for one in PIECES})


def test_what_the_engine_does_of_an_operation_is_part_of_its_cpu_time() -> None:
    def shared(_: int, turn: Turn) -> Turn:
        return replace(turn, engine_cores=0.5) if turn.unit == "docker.directory" else turn

    alone = of(part_prices(weighed(), MACHINE), "futex_wake", "docker")
    both = of(part_prices(weighed(change=shared), MACHINE), "futex_wake", "docker")
    assert both.cpu.ns.value == pytest.approx(alone.cpu.ns.value + 0.5 * alone.wall.ns.value)
    assert both.wall == alone.wall


def test_names_and_starts_are_told_by_their_resolver_and_network() -> None:
    dns = WeighedUnit("docker.dns", "docker", "directory", ("resolve",), "bridge", "dns")
    assert dns.platform("name") == "docker.dns"
    assert WeighedUnit("docker.host", "docker", "directory", ("start",)).platform("start") == (
        "docker.host"
    )
