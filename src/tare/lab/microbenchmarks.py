"""Measures the cost of a platform's parts by single operations, native and in containers.

They take turns on one CPU. Each round starts all processes and containers anew. They get ready,
then sleep until their turns, which are in a file in their configuration directory. While one
measures, the others sleep, so that nothing need be frozen. Turns of one piece follow each other in
a fraction of a second. Starts of units (tare.lab.unit_starts) follow after a round's turns.

Pods and tasks are measured where they run on this machine: they share its clock and its CPUs. Their
configuration cannot be written once they run, so that their turns lie beside their files.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tare import scratch
from tare.analysis.part_prices import (
    PASSES,
    PIECES,
    PartRound,
    PartsWeighed,
    Turn,
    WeighedUnit,
)
from tare.analysis.prices import AGAIN
from tare.analysis.tariff import NATIVE
from tare.artifacts.binaries import Binary, find
from tare.artifacts.image import MICRO, Program
from tare.errors import LoadError, RuntimeUnavailableError, TareError
from tare.lab import unit_starts
from tare.lab.alone import alone
from tare.lab.unit_starts import orchestrated
from tare.lab.weighed_servers import RUNTIMES, message, refuse_unweighable
from tare.machines.addresses import AddressPool
from tare.monitor.meter import Meter, processes_named
from tare.records.part_prices import FileSystem
from tare.runtimes.declaration import LAYER
from tare.runtimes.registry import BARE, declared
from tare.runtimes.unit import Bits, Unit
from tare.study.platform import Limits
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from tare.monitor.meter import CpuReading
    from tare.records.part_prices import WeighedPart
    from tare.runtimes.unit import Running, Runtime

_RUN = "weigh"
_TURNS = "turns.json"
_TURN_S = {"system": 0.016, "machine": 0.016, "storage": 0.05, "name": 0.05}
_GAP_S = {"system": 0.003, "machine": 0.003, "storage": 0.02, "name": 0.01}
"""after a turn: the next unit wakes; after storage, files are removed and the journal settles"""
_MOST_TURN_S = 0.5
"""room that a turn gets at most on a machine where one batch of its piece takes longer than it"""
_SPARE = 1.5
"""room over the length of a turn: they differ"""
_HEAD_START_S = 0.05
"""until the first turn, while all units find their turns; and after the last turn"""
_READY_S = 20.0
_END_S = 10.0
_POLL_S = 0.02
_ORCHESTRATED_WAIT_S = 300.0
"""how long a pod waits for its turns: other pods start after it, one by one"""
_BACKGROUND_S = 0.3
"""how long the use of other programs is watched before starts"""
_IN_PLACE = "its units run the machine's own files, and parts are weighed in containers of an image"
_LOCAL = "localhost"
"""a name of /etc/hosts everywhere"""


def weigh_parts(
    what: Collection[WeighedPart],
    runtimes: Collection[str],
    rounds: int,
    *,
    say: Callable[[str], None] = lambda line: None,
) -> PartsWeighed:
    """Measure the pieces of these parts, natively and on these runtimes.

    Args:
        say: told what is under way.

    Raises:
        UsageError: a runtime cannot be weighed.
        LabBusyError: a run holds this machine.
        RuntimeUnavailableError: a program is missing, or a control group cannot be made.
        LoadError: a process failed.
    """
    refuse_unweighable(runtimes, RUNTIMES)
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        idle_cpus = stack.enter_context(alone(_RUN, say))
        asked = [one for one in RUNTIMES if one in runtimes and one != BARE]
        images, lasting, left_out = _made_ready(what, asked, stack, say)
        cpu = min(os.sched_getaffinity(0))
        plan = _Plan(_units(what, list(images)), images, lasting, cpu)
        done = []
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}: {', '.join(what)}")
            done.append(plan.measure(number))
        return PartsWeighed(
            units=plan.had(),
            rounds=done,
            seconds=time.monotonic() - begun,
            passes=PASSES,
            cpu=cpu,
            idle_cpus=idle_cpus,
            left_out={**left_out, **plan.refused},
        )


def _made_ready(
    what: Collection[WeighedPart],
    runtimes: Sequence[str],
    stack: contextlib.ExitStack,
    say: Callable[[str], None],
) -> tuple[dict[str, dict[Program, str]], dict[str, Runtime], dict[str, str]]:
    """The programs' images by runtime; orchestrators, made once for all rounds; and runtimes that
    are not available, with the reason."""
    programs: dict[Program, Binary] = {"micro": "tare-micro"}
    if "start" in what:
        programs["stub"] = "tare-stub"
    made: dict[str, dict[Program, str]] = {}
    lasting: dict[str, Runtime] = {}
    left_out = {}
    for name in runtimes:
        try:
            work = Path(stack.enter_context(scratch.directory(_RUN)))
            runtime = declared(name).make(_RUN, work, AddressPool())
            stack.callback(runtime.close)
            if declared(name).orchestrator:
                runtime.prepare(say)
                lasting[name] = runtime
            images = runtime.images()
            if images is None:
                left_out[name] = _IN_PLACE
            else:
                made[name] = {
                    one: images.of_program(one, binary, lambda line: None)
                    for one, binary in programs.items()
                }
        except RuntimeUnavailableError as error:
            left_out[name] = message(error)
    return made, lasting, left_out


def _units(what: Collection[WeighedPart], contained: Sequence[str]) -> list[WeighedUnit]:
    """The units of a round.

    - Native ones, twice.
    - Of each other runtime one for each kind of storage; the first also measures the other parts.
    - Of containers one for each resolver.
    - Units whose start is measured.
    """

    def pieces(*parts: WeighedPart) -> tuple[str, ...]:
        return tuple(one.name for one in PIECES if one.what in parts and one.what in what)

    storage, rest = pieces("storage"), pieces("system", "machine")
    names, starts = pieces("name"), pieces("start")
    turned = rest + storage + names
    units = [
        WeighedUnit(name, BARE, "directory", own)
        for own in (turned, starts)
        for name in (NATIVE, AGAIN)
    ]
    resolvers: tuple[Literal["hosts", "dns"], ...] = ("hosts", "dns")
    for runtime in contained:
        kinds, networks = declared(runtime).storages, declared(runtime).networks
        placed = declared(runtime).orchestrator
        usual = declared(runtime).several_on if placed else "host"
        for number, kind in enumerate(kinds if storage else kinds[:1]):
            own = rest + storage if number == 0 else storage
            units.append(WeighedUnit(f"{runtime}.{kind}", runtime, kind, own, usual))
        units += [
            WeighedUnit(f"{runtime}.{one}", runtime, kinds[0], names, "bridge", one)
            for one in resolvers
            if "bridge" in networks
        ]
        units += [
            WeighedUnit(f"{runtime}.{one}", runtime, LAYER if placed else kinds[0], starts, one)
            for one in (("host-port",) if placed else ("host", "bridge"))
            if one in networks
        ]
    return [unit for unit in units if unit.pieces]


@dataclass(frozen=True)
class Scheduled:
    """One turn: a piece of one unit, seconds after the first turn's start."""

    unit: str
    piece: str
    at: float
    seconds: float


def schedule(
    units: Sequence[WeighedUnit], seed: int, too_long: Mapping[str, float]
) -> tuple[list[Scheduled], float]:
    """All turns of a round, and the end of the last one.

    Pieces come in random order. So do units within a piece; in the next pass, in reverse order.

    Args:
        too_long: piece to the room for a turn, seconds, where turns take longer than they should.
    """
    shuffled = random.Random(seed)  # noqa: S311 - an order, no secret
    orders = {
        piece.name: shuffled.sample(own, len(own))
        for piece in PIECES
        if piece.what in _TURN_S and (own := [unit for unit in units if piece.name in unit.pieces])
    }
    turns, at = [], 0.0
    for number in range(PASSES):
        pieces = [piece for piece in PIECES if piece.name in orders]
        for piece in shuffled.sample(pieces, len(pieces)):
            order = orders[piece.name]
            for unit in reversed(order) if number % 2 else order:
                seconds = _TURN_S[piece.what]
                turns.append(Scheduled(unit.name, piece.name, at, seconds))
                at += too_long.get(piece.name, seconds) + _GAP_S[piece.what]
    return turns, at


@dataclass(frozen=True)
class _Started:
    """A running unit, and what it told when it was ready."""

    unit: WeighedUnit
    running: Running
    missing: Mapping[str, str]
    file_system: FileSystem


@dataclass(frozen=True)
class _Plan:
    """What every round does.

    Attributes:
        images: of the programs by runtime, for containers.
        lasting: runtimes that are made once for all rounds.
        refused: units that an orchestrator did not start, with the reason; they are not tried
            again.
        too_long: piece to seconds for a turn, if in the last round it took longer than it should.
    """

    units: Sequence[WeighedUnit]
    images: Mapping[str, Mapping[Program, str]]
    lasting: Mapping[str, Runtime]
    cpu: int
    refused: dict[str, str] = field(default_factory=dict)
    too_long: dict[str, float] = field(default_factory=dict)

    def had(self) -> list[WeighedUnit]:
        """The units without the refused ones."""
        return [unit for unit in self.units if unit.name not in self.refused]

    def measure(self, number: int) -> PartRound:
        """One round with its own units, which are all removed at its end."""
        starting = [unit for unit in self.had() if unit_starts.PIECE in unit.pieces]
        turned = [unit for unit in self.had() if unit not in starting]
        found = self._in_turns(turned, number) if turned else _background()
        if not starting:
            return found
        with contextlib.ExitStack() as stack:
            runtimes = self._runtimes(starting, stack)
            stubs = {name: own["stub"] for name, own in self.images.items()}
            starts = unit_starts.start_all(starting, runtimes, stubs, number, self.refused)
        return replace(found, turns=[*found.turns, *starts])

    def _runtimes(
        self, units: Sequence[WeighedUnit], stack: contextlib.ExitStack
    ) -> dict[str, Runtime]:
        """The runtimes of these units, for one round."""
        work, pool = Path(stack.enter_context(scratch.directory(_RUN))), AddressPool()
        made: dict[str, Runtime] = {}
        for name in sorted({unit.runtime for unit in units}):
            if name in self.lasting:
                made[name] = self.lasting[name]
            else:
                made[name] = declared(name).make(_RUN, work, pool)
                stack.callback(made[name].close)
        return made

    def _in_turns(self, units: Sequence[WeighedUnit], number: int) -> PartRound:
        with contextlib.ExitStack() as stack:
            logs = Path(stack.enter_context(scratch.directory(_RUN)))
            runtimes = self._runtimes(units, stack)
            started = self._begin(units, runtimes, logs, stack)
            turns, lasts = schedule([one.unit for one in started], number, self.too_long)
            engine = {name for one in runtimes.values() for name in one.engine_processes}
            meter = Meter(processes_named(engine) if engine else ())
            stack.callback(meter.close)
            accountings = {one.unit.name: [one.running.accounting()] for one in started}
            begins = time.time() + _HEAD_START_S
            for one in started:
                _tell(one, turns, begins, lasts)
            _sleep_until(begins)
            before = meter.read(accountings)
            engine_cores = _engine_in(turns, begins, meter)
            _sleep_until(begins + lasts)
            used = meter.read(accountings).since(before)
            measured = [
                replace(turn, engine_cores=engine_cores.get((turn.unit, turn.at), 0.0))
                for one in started
                for turn in _turns(one, turns, begins, logs)
            ]
            self.too_long.clear()
            self.too_long.update(_too_long(measured))
            return PartRound(
                turns=measured,
                missing={one.unit.name: one.missing for one in started},
                file_systems={
                    one.unit.name: one.file_system
                    for one in started
                    if any(piece in _STORAGE for piece in one.unit.pieces)
                },
                steal=_steal(used, lasts),
                other_cores=used.others / lasts,
            )

    def _begin(
        self,
        units: Sequence[WeighedUnit],
        runtimes: Mapping[str, Runtime],
        logs: Path,
        stack: contextlib.ExitStack,
    ) -> list[_Started]:
        """Start all units and wait until they are prepared; pods and tasks, the slowest, first.

        A unit that is not available is refused, and the rest is measured.
        """
        running: dict[str, Running] = {}
        ready: dict[str, _Started] = {}
        for place, unit in enumerate(sorted(units, key=lambda one: not orchestrated(one))):
            with self._refusing(unit):
                running[unit.name] = self._start(place, unit, runtimes[unit.runtime], stack)
        for unit in units:
            if unit.name in running:
                with self._refusing(unit):
                    ready[unit.name] = _ready(unit, running[unit.name], logs)
        return [ready[unit.name] for unit in units if unit.name in ready]

    @contextlib.contextmanager
    def _refusing(self, unit: WeighedUnit) -> Iterator[None]:
        """Leave out a unit that an orchestrator cannot start; other failures are errors."""
        try:
            yield
        except TareError as error:
            if not orchestrated(unit):
                raise
            self.refused[unit.name] = message(error)

    def _start(
        self, place: int, unit: WeighedUnit, runtime: Runtime, stack: contextlib.ExitStack
    ) -> Running:
        name = f"micro{place}"
        site = runtime.site(
            name, role="database", network=unit.network, storage=unit.storage, group=name
        )
        stack.callback(runtime.release_group, name)
        images = self.images.get(unit.runtime)
        program = MICRO if images else str(find("tare-micro"))
        resolved = declared(unit.runtime).dns_name(_RUN, name) if unit.resolver == "dns" else _LOCAL
        told = f"{site.data if orchestrated(unit) else site.conf}/{_TURNS}"
        stays = ["--stays", "--wait", f"{_ORCHESTRATED_WAIT_S:.0f}"] if orchestrated(unit) else []
        running = runtime.launch(
            Unit(
                site=site,
                role="database",
                command=[program, "--pieces", ",".join(unit.pieces), "--turns", told,
                         "--data", site.data, "--cpu", str(self.cpu), "--name", resolved, *stays],
                environment={},
                limits=Limits(),
                bits=Bits("", image=images["micro"] if images else ""),
                storage=unit.storage,
                ports=(unit_starts.PORT,) if orchestrated(unit) else (),  # its service has one
                grace_s=0,  # it has nothing to save
            )
        )  # fmt: skip
        stack.callback(running.stop)
        if not running.accounting().pid:
            raise RuntimeUnavailableError(
                "it runs on another machine", why="turns are told and taken on this one alone"
            )
        return running


_STORAGE = {piece.name for piece in PIECES if piece.what == "storage"}
_NAMES = {piece.name for piece in PIECES if piece.what == "name"}


def _too_long(turns: Sequence[Turn]) -> dict[str, float]:
    """Pieces whose turns take longer than they should on some unit, with the seconds to give them.

    A unit's shortest turn counts: another may have stood still.
    """
    shortest: dict[tuple[str, str], float] = {}
    for turn in turns:
        if not turn.error:
            key = turn.piece, turn.unit
            shortest[key] = min(turn.ended - turn.began, shortest.get(key, math.inf))
    found = {}
    for piece in PIECES:
        longest = max(
            (took for (name, _), took in shortest.items() if name == piece.name), default=0
        )
        if longest and longest > _TURN_S[piece.what] + _GAP_S[piece.what]:
            found[piece.name] = min(_SPARE * longest, _MOST_TURN_S)
    return found


def _engine_in(
    turns: Sequence[Scheduled], begins: float, meter: Meter
) -> dict[tuple[str, float], float]:
    """Cores that the engine uses while names are resolved, by a unit's turn and its begin.

    The engine does a part of this work.
    """
    found = {}
    for turn in turns:
        if turn.piece in _NAMES:
            at = begins + turn.at
            _sleep_until(at)
            before, since = meter.read({}).engine, time.monotonic()
            _sleep_until(at + turn.seconds)
            used_s = meter.read({}).engine - before
            found[turn.unit, at] = used_s / (time.monotonic() - since)
    return found


def _background() -> PartRound:
    """What the machine does while nothing is measured."""
    meter = Meter()
    before = meter.read({})
    time.sleep(_BACKGROUND_S)
    used = meter.read({}).since(before)
    meter.close()
    return PartRound(
        turns=[],
        steal=_steal(used, _BACKGROUND_S),
        other_cores=used.others / _BACKGROUND_S,
    )


def _steal(used: CpuReading, seconds: float) -> float:
    return used.modes["steal"] / (seconds * (os.cpu_count() or 1))


def _sleep_until(unix: float) -> None:
    time.sleep(max(unix - time.time(), 0.0))


def _tell(one: _Started, turns: Sequence[Scheduled], begins: float, lasts: float) -> None:
    """Write a unit's turns where it looks for them; it never sees half a file."""
    told = {
        "turns": [
            {"at": begins + turn.at, "ms": turn.seconds * 1000, "pieces": [turn.piece]}
            for turn in turns
            if turn.unit == one.unit.name
        ],
        "ends": begins + lasts + _HEAD_START_S,  # while their CPU time is read, they still are
    }
    site = one.running.unit.site
    place = site.conf_on_host
    if orchestrated(one.unit):
        root = Path(f"/proc/{one.running.accounting().pid}/root")
        place = root / site.data.lstrip("/")
    replace_file(place / _TURNS, json.dumps(told))


def _ready(unit: WeighedUnit, running: Running, logs: Path) -> _Started:
    """Wait until a unit has prepared its pieces.

    Raises:
        LoadError: it ended, or takes too long.
    """
    ends = time.monotonic() + _READY_S
    while not (told := _told(running, logs, "ready")):
        if running.exited() is not None:
            raise _failed(unit, running, logs, "did not start")
        if time.monotonic() > ends:
            raise _failed(unit, running, logs, f"was not ready in {_READY_S:.0f} s")
        time.sleep(_POLL_S)
    file_system = FileSystem(kind=told[0]["file_system"], device=told[0]["device"])
    return _Started(unit, running, told[0]["missing"], file_system)


def _turns(one: _Started, turns: Sequence[Scheduled], begins: float, logs: Path) -> list[Turn]:
    """What a unit measured, once it has ended; a pod or task, which stays, once it has told.

    Raises:
        LoadError: it failed, or does not end.
    """
    own = [turn for turn in turns if turn.unit == one.unit.name]
    measured = sum(turn.piece not in one.missing for turn in own)
    ends = time.monotonic() + _END_S
    while (ended := one.running.exited()) is None:
        if orchestrated(one.unit) and len(_told(one.running, logs, "turn")) >= measured:
            break
        if time.monotonic() > ends:
            raise _failed(one.unit, one.running, logs, "did not end after its last turn")
        time.sleep(_POLL_S)
    if ended is not None and ended.status != 0:
        raise _failed(one.unit, one.running, logs, f"failed: {ended.detail}")
    lines = _told(one.running, logs, "turn")
    if len(lines) < measured:
        raise _failed(one.unit, one.running, logs, "did not tell of all its turns")
    return [
        Turn(
            piece=line["piece"],
            unit=one.unit.name,
            at=begins + own[line["turn"]].at,
            began=line["began"],
            ended=line["ended"],
            cpu_ns=line.get("cpu_ns", 0.0),
            wall_ns=line.get("wall_ns", 0.0),
            error=line.get("error", ""),
        )
        for line in lines
    ]


def _told(running: Running, logs: Path, key: str) -> list[dict[str, Any]]:
    """The lines of JSON with this key that a unit has printed so far."""
    found = []
    for line in _text(running, logs).splitlines():
        with contextlib.suppress(ValueError):
            document = json.loads(line)
            if isinstance(document, dict) and key in document:
                found.append(document)
    return found


def _text(running: Running, logs: Path) -> str:
    """What a unit has written, to either output."""
    running.collect_logs(logs)
    log = logs / f"{running.unit.site.name}-stderr.log"
    return log.read_text("utf-8", errors="replace") if log.exists() else ""


def _failed(unit: WeighedUnit, running: Running, logs: Path, how: str) -> LoadError:
    said = [line for line in _text(running, logs).splitlines() if not line.startswith("{")]
    return LoadError(
        f"the process that measures {how}",
        where=unit.name,
        why="; ".join(said) or "it said nothing",
        remedy="give the same command again; tare doctor says what can run here",
    )
