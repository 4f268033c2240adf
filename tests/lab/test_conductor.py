"""The conductor keeps to the schedule, thaws one deployment at a time, reads at both ends of loads.

Time, control groups and counters are scripted; real ones are under tests/integration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tare.errors import UnitGoneError
from tare.lab import conductor as module
from tare.lab.conductor import Conductor, Driven, TrialHere
from tare.lab.slice_records import measured_slices, slices_record, summed
from tare.machines.cgroups import Accounting
from tare.monitor.meter import CpuReading
from tare.study.slice_schedule import READ_LEAD_S, Cut, Schedule, make_schedule

SCHEDULE = make_schedule(["a", "b"], Cut(0.25, 1.0, 0.25, 0.03), seed=7)


class Scene:
    """A machine of two servers; each uses half of its thawed time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, thaw_s: float = 0.0) -> None:
        self.now = 100.0
        self.thawed: set[str] = set()
        self.seen: list[tuple[float, frozenset[str]]] = []
        self.used: dict[str, float] = {"a": 0.0, "b": 0.0}
        self.gone: set[str] = set()
        self.clients: dict[str, list[Accounting]] = {}
        self.thaw_s = thaw_s
        monkeypatch.setattr(module.cgroups, "freeze", self.freeze)

    def freeze(self, paths: Mapping[str, str], frozen: bool) -> None:
        name = paths["freezer"]
        self.thawed = self.thawed - {name} if frozen else self.thawed | {name}
        if not frozen:
            self.now += self.thaw_s
        self.seen.append((self.now, frozenset(self.thawed)))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        for name in self.thawed:
            self.used[name] += seconds / 2

    def read(
        self, units: Mapping[str, Sequence[Accounting]], servers: Sequence[Accounting]
    ) -> CpuReading:
        if self.gone & set(units):
            raise UnitGoneError("a unit's control group has gone")
        kernel, others = 0.01 * self.now, 0.02 * self.now
        machine = sum(self.used.values()) + kernel + others
        return CpuReading(machine, 0.0, 0.0, kernel, {name: self.used[name] for name in units}, {})

    def poll(self) -> None:
        """No kernel thread comes here."""

    def conduct(
        self,
        schedule: Schedule = SCHEDULE,
        poll: Any = lambda: None,
        calls: Any = None,
        *,
        freezes: bool = True,
        tap: Any = None,
        read_s: float = 0.0,
    ) -> list[Driven]:
        self.parts = [
            TrialHere(
                [Accounting({"freezer": name})], {name: [Accounting()], **self.clients}, tap=own
            )
            for name, own in (("a", tap), ("b", None))
        ]
        meter: Any = self
        made = Conductor(
            schedule,
            self.parts,
            meter,
            freezes,
            poll,
            calls,
            read_s,
            clock=lambda: self.now,
            wall=lambda: self.now + 1e9,
            wait=self.wait,
        )
        driven = made.conduct(self.now + 1e9 + 2.0)
        made.release()
        return driven


def test_one_server_at_a_time_is_thawed_and_all_are_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch)
    scene.conduct()
    *during, _, last = scene.seen
    assert max(len(thawed) for _, thawed in during) == 1
    assert last[1] == {"a", "b"}


@pytest.mark.parametrize("seed", range(4))
def test_a_server_stands_still_after_its_turn_when_a_trial_of_it_has_failed(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Another trial of the server goes on, in turns; some turns end on the failed trial."""
    scene = Scene(monkeypatch)
    scene.used["x"], scene.gone = 0.0, {"x"}
    cut = Cut(warmup_s=0.0, measure_s=2.0, length_s=0.25, drain_s=0.03, whole=True)
    schedule = make_schedule(["a", "x", "b"], cut, seed, deployments=["a", "a", "b"])
    trials = [
        TrialHere([Accounting({"freezer": server})], {name: [Accounting()]})
        for name, server in (("a", "a"), ("x", "a"), ("b", "b"))
    ]
    meter: Any = scene
    made = Conductor(
        schedule, trials, meter, True,
        clock=lambda: scene.now, wall=lambda: scene.now + 1e9, wait=scene.wait,
    )  # fmt: skip
    driven = made.conduct(scene.now + 1e9 + 2.0)
    assert [trial.fault != "" for trial in trials] == [False, True, False]
    assert len([one for one in driven if one.slot.trial == 0]) == schedule.measured(0)
    assert max(len(thawed) for _, thawed in scene.seen) == 1


def test_a_node_that_cannot_be_thawed_keeps_no_other_one_frozen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thawed: list[str] = []

    def freeze(paths: Mapping[str, str], frozen: bool) -> None:
        if paths["freezer"] == "gone":
            raise OSError("no such group")
        thawed.extend([] if frozen else [paths["freezer"]])

    monkeypatch.setattr(module.cgroups, "freeze", freeze)
    nodes = [Accounting({"freezer": name}) for name in ("gone", "b", "c")]
    trial, meter = TrialHere(nodes, {}), Scene(monkeypatch)
    monkeypatch.setattr(module.cgroups, "freeze", freeze)
    Conductor(SCHEDULE, [trial], meter, True).release()  # type: ignore[arg-type]  # reads nothing
    assert thawed == ["b", "c"]
    assert trial.fault == "no such group"


def test_a_slice_uses_what_its_server_used_and_begins_on_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch)
    driven = scene.conduct()
    assert [one.slot for one in driven] == SCHEDULE.slots
    for one in driven:
        assert one.unix == pytest.approx(100.0 + 1e9 + 2.0 + one.slot.at)
        assert not one.late
        if one.slot.trial is not None:
            name = "ab"[one.slot.trial]
            assert one.used.units[name] == pytest.approx((READ_LEAD_S + 0.25) / 2)


def test_what_a_client_does_between_its_slices_of_a_turn_is_no_part_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server uses half of its thawed time, also between its slices of a turn."""
    cut = Cut(warmup_s=0.0, measure_s=1.0, length_s=0.25, drain_s=0.03, whole=True)
    schedule = make_schedule(["a", "b"], cut, seed=1, shares=[3, 3])
    driven = Scene(monkeypatch).conduct(schedule)
    assert any(not one.slot.last for one in driven)
    for one in driven:
        assert one.seconds == pytest.approx(READ_LEAD_S + 0.25)
        if one.slot.trial is not None:
            used = one.used.units["ab"[one.slot.trial]]
            assert used == pytest.approx(one.seconds / 2)


def test_empty_slices_and_other_programs_are_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    driven = Scene(monkeypatch).conduct()
    sums = summed(driven, 0)
    assert sums.machine_s - sums.background_s == pytest.approx(sums.units["a"])
    own = measured_slices(driven, 0)
    assert sum(one.used.others for one in own) == pytest.approx(
        0.02 * sum(one.seconds for one in own)
    )
    record = slices_record(
        driven, 0, SCHEDULE, undrained=3, why_not_frozen="", why_not_paced="no rights"
    )
    assert (record.count, record.empty, record.late, record.undrained) == (4, 2, 0, 3)
    assert record.frozen


def test_a_server_runs_on_from_slice_to_slice_of_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = Cut(0.05, 0.5, 0.05, 0.01, whole=True)
    whole = make_schedule(["a", "b"], cut, 7, deployments=["a", "b"], shares=[3, 1])
    scene = Scene(monkeypatch)
    driven = scene.conduct(whole)
    turns = sum(slot.last for slot in whole.slots if slot.trial is not None)
    assert sum(len(thawed) == 0 for _, thawed in scene.seen[2:-2]) == turns
    assert not any(one.late for one in driven)
    assert len(measured_slices(driven, 0)) == whole.measured(0) == 30


def test_what_a_server_does_in_its_drain_is_no_part_of_a_slice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    longer = make_schedule(["a", "b"], Cut(0.25, 1.0, 0.25, 0.2), seed=7)
    short, long = (Scene(monkeypatch).conduct(one) for one in (SCHEDULE, longer))
    used = [[one.used.units for one in driven] for driven in (short, long)]
    assert used[0] == [pytest.approx(units) for units in used[1]]


def test_with_the_drain_is_read_what_is_asked_for_so(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)
    driven = scene.conduct(read_s=0.28)
    assert all(one.seconds == pytest.approx(READ_LEAD_S + 0.28) for one in driven)
    assert not any(one.late for one in driven)


def test_a_server_is_frozen_after_its_drain_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)
    scene.conduct()
    frozen = [at - 102.0 for at, thawed in scene.seen[2:-2] if not thawed]
    own = [slot for slot in SCHEDULE.slots if slot.trial is not None]
    assert frozen == [pytest.approx(slot.at + 0.25 + 0.03) for slot in own]


def test_a_slow_thaw_makes_a_late_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    driven = Scene(monkeypatch, thaw_s=0.02).conduct()
    late = [one.late for one in driven if one.slot.trial is not None]
    assert all(late)


def test_a_unit_that_ends_ends_its_own_trial_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)
    polls = 0

    def poll() -> None:
        nonlocal polls
        polls += 1
        if polls == 2:
            scene.gone = {"b"}

    driven = scene.conduct(poll=poll)
    assert "gone" in scene.parts[1].fault
    assert len(measured_slices(driven, 0)) == SCHEDULE.measured(0)
    assert len(measured_slices(driven, 1)) < SCHEDULE.measured(1)


class Calls:
    """Each server makes ten calls per second of thawed time."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.taken: dict[str, float] = {}
        self.closed_at: float | None = None

    def take(self, units: Mapping[str, Sequence[Accounting]]) -> dict[str, dict[str, int]]:
        assert self.closed_at is None
        (name,) = units
        made = 20 * self.scene.used[name]
        since = made - self.taken.get(name, 0.0)
        self.taken[name] = made
        return {name: {"calls": round(100 * since)}}

    def close(self) -> None:
        self.closed_at = self.closed_at or self.scene.now


def test_system_calls_are_counted_in_the_warm_up_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)
    calls = Calls(scene)
    driven = scene.conduct(calls=calls)
    first = next(one for one in driven if one.slot.counts)
    assert calls.closed_at is not None
    assert calls.closed_at <= first.unix - 1e9
    for one in driven:
        assert bool(one.calls) == (not one.slot.counts)
    warm = [one for one in driven if not one.slot.counts and one.slot.trial == 0]
    assert [one.calls["a"]["calls"] for one in warm] == [288]  # 10 a second of 0.288 s, by 100


def test_what_a_server_that_runs_on_calls_between_its_slices_is_in_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch)
    scene.thawed = {"a", "b"}
    driven = scene.conduct(calls=Calls(scene), freezes=False)
    warm = [one for one in driven if not one.slot.counts]
    assert [one.slot.trial for one in warm] in ([0, 1], [1, 0])
    for one in warm:
        assert one.calls == {"ab"[one.slot.trial or 0]: {"calls": 288}}


def test_without_a_measured_slice_counting_ends_with_the_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch)
    calls = Calls(scene)
    warm = [slot for slot in SCHEDULE.slots if not slot.counts]
    scene.conduct(Schedule(warm, 0.25, 0.03), calls=calls)
    assert calls.closed_at is not None


def test_what_a_client_calls_while_it_waits_for_its_slice_is_in_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Servers stand still then, and a client looks up every 20 ms before its first slice."""
    scene = Scene(monkeypatch)
    scene.clients, scene.used["client"] = {"client": [Accounting(pids=(7,))]}, 0.0

    class Wakes(Calls):
        def take(self, units: Mapping[str, Sequence[Accounting]]) -> dict[str, dict[str, int]]:
            since = {name: self.scene.now - self.taken.get(name, 0.0) for name in units}
            self.taken |= dict.fromkeys(units, self.scene.now)
            return {name: {"calls": round(1000 * passed)} for name, passed in since.items()}

    driven = scene.conduct(calls=Wakes(scene))
    warm = [one for one in driven if not one.slot.counts]
    assert [one.calls["client"]["calls"] for one in warm] == [288, 288]


class Tap:
    """A packet passes every ten milliseconds, whoever is driven."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.taken_at = 0.0
        self.closed_at: float | None = None

    def take(self) -> int:
        assert self.closed_at is None
        since = self.scene.now - self.taken_at
        self.taken_at = self.scene.now
        return round(100 * since)

    def close(self) -> None:
        self.closed_at = self.scene.now


def test_clients_packets_are_tapped_in_their_slices_of_the_warm_up_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch)
    tap = Tap(scene)
    driven = scene.conduct(tap=tap)
    first = next(one for one in driven if one.slot.counts)
    assert tap.closed_at is not None
    assert tap.closed_at <= first.unix - 1e9
    told = {one.slot: one.client_packets for one in driven if one.client_packets is not None}
    assert list(told.values()) == [29], "0.288 s from before the load until after its drain"
    assert all(slot.trial == 0 and not slot.counts for slot in told)


def test_a_tap_ends_with_the_block_where_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(monkeypatch)
    tap = Tap(scene)
    warm = [slot for slot in SCHEDULE.slots if not slot.counts]
    scene.conduct(Schedule(warm, 0.25, 0.03), tap=tap)
    assert tap.closed_at is not None
