"""`tare doctor --noise`: how noisy this machine's slices are, and what that lets a study decide."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tare.cli.background_load import STOOD_STILL, STOP_THEM, disturbance
from tare.cli.console import Terminal, say, say_json
from tare.errors import LoadError
from tare.machines.facts import local_facts
from tare.monitor.background_load import BUSY_CORES
from tare.records.kept_measurements import MeasuredMachine, keep, kept_here
from tare.records.noise import Noise
from tare.report import numbers

if TYPE_CHECKING:
    from tare.lab.pilot import Piloted

MINUTES = (1, 5, 15)
"""of slices, for which half-widths are shown"""
COMMAND = "tare doctor --noise"
CANNOT_TELL = (
    "These are the least widths on this machine: the pilot's servers are no database. It cannot "
    "tell what a database adds within a deployment (collections, compaction, operations of "
    "different cost), nor how identical deployments differ (a JVM's compiler, the state of the "
    "storage), which is most of the width where one server is compared with another."
)
_TITLES = {"service_demand": "service demand", "throughput": "throughput"}


def noise(seconds: float, json: bool) -> None:
    """Measure the noise, keep it and show it.

    Raises:
        TareError: the noise could not be measured.
    """
    from tare.lab.pilot import pilot  # with the analysis it takes a second to import

    if not json:
        say(f"three clients of a server without a database in turn, for {seconds:.0f} s ...")
    found = noise_found(pilot(seconds, say=(lambda line: None) if json else say))
    file = keep(found)
    if json:
        say_json(found.model_dump_json(indent=1))
        return
    console = Terminal()
    for line in [*noise_lines(found), f"kept in {file} for `tare plan` and `tare doctor`"]:
        console.print(line, soft_wrap=True)


def noise_found(measured: Piloted) -> Noise:
    """The noise of the pilot's slices.

    Raises:
        LoadError: the slices are too few, or too disturbed to have a cost.
    """
    from tare.analysis.slice_noise import noise_of
    from tare.analysis.slices import COSTS, logs_of

    metrics = {}
    for metric, cost in COSTS.items():
        logs = logs_of(measured.rows, cost)
        one = None if logs is None else noise_of(logs, measured.order)
        if one is None:
            raise LoadError(
                "the pilot's slices tell nothing",
                why=f"too few, or drowned in other work: {measured.other_cores:.1f} cores of it",
                remedy=f"{STOP_THEM}; then {COMMAND}",
            )
        metrics[metric] = one
    return Noise(
        made=datetime.now(UTC),
        machine=MeasuredMachine.of(local_facts()),
        seconds=measured.seconds,
        servers=len(measured.rows),
        slices=len(measured.rows[0]),
        turn=measured.turn,
        slice_s=measured.slice_s,
        drain_s=measured.drain_s,
        pinned=measured.pinned,
        frozen=measured.frozen,
        idle_cpus=measured.idle_cpus,
        late=measured.late,
        steal=measured.steal,
        other_cores=measured.other_cores,
        gap_s=measured.gap_s,
        metrics=metrics,
    )


def noise_lines(found: Noise) -> list[str]:
    """The pilot's result for people."""
    correlated = ", ".join(
        f"{_correlation(value)} {_after(lag)}"
        for lag, value in found.metrics["service_demand"].correlations.items()
    )
    together = found.turn == "pass"
    between = "turns" if together else "slices"
    lines = [
        f"a slice of {found.slice_s * 1000:.0f} ms differs by {_sd(found, 'service_demand')} in "
        f"service demand and {_sd(found, 'throughput')} in throughput (sd, {found.slices} slices "
        f"of {found.servers} {'clients of one server' if together else 'identical servers'} each)",
        f"service demand of a slice correlates {correlated}; conditions that take turns share that",
        f"{disturbance(found.steal, found.other_cores)}; {numbers.count(found.late, 'slice')} late",
        f"servers and clients {_pinned(found)}; servers {_frozen(found)} between their {between}; "
        f"idle CPUs: {found.idle_cpus}",
    ]
    if found.other_cores > BUSY_CORES:
        lines.append(f"note: other programs disturbed the pilot: stop them, then `{COMMAND}` again")
    if found.stood_still:
        lines.append(f"note: {STOOD_STILL.format(gap_s=found.gap_s)}, then `{COMMAND}` again")
    for metric, title in _TITLES.items():
        widths = ", ".join(
            f"±{half} after {minutes} min" for minutes, half in _halves(found, metric)
        )
        lines.append(f"two endpoints of one deployment, {title}: {widths}")
    return [*lines, CANNOT_TELL]


def kept_line() -> tuple[bool, str]:
    """Whether this machine's noise is known, and what `tare doctor` says of it in one line."""
    found = kept_here(Noise, local_facts())
    if found is None:
        return False, "not measured on this machine"
    from tare.analysis.slice_noise import half_width, slices_in

    minutes = MINUTES[1]
    slices = slices_in(minutes, found)
    half = width(half_width(found.metrics["service_demand"], slices))
    return True, (
        f"measured {age(found.made)}: at least ±{half} of service demand for two endpoints of one "
        f"deployment after {minutes} min"
    )


def age(made: datetime, now: datetime | None = None) -> str:
    """The age of a measurement, in words."""
    seconds = max(((now or datetime.now(UTC)) - made).total_seconds(), 0.0)
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{numbers.count(int(seconds // size), unit)} ago"
    return "just now"


def width(half: float) -> str:
    """A half-width as a percentage, with two decimals below one percent."""
    return f"{half * 100:.2f}%" if half < 0.00995 else numbers.share(half)


def _halves(found: Noise, metric: str) -> list[tuple[int, str]]:
    from tare.analysis.slice_noise import half_width, slices_in

    one = found.metrics[metric]
    return [(minutes, width(half_width(one, slices_in(minutes, found)))) for minutes in MINUTES]


def _sd(found: Noise, metric: str) -> str:
    return numbers.share(found.metrics[metric].sd)


def _correlation(value: float | None) -> str:
    return "(too short a pilot)" if value is None else f"{value:.2f}"


def _after(lag: int) -> str:
    return "with the next one's" if lag == 1 else f"after {lag}"


def _pinned(found: Noise) -> str:
    return "had a CPU each" if found.pinned else "shared all CPUs"


def _frozen(found: Noise) -> str:
    return "stood still" if found.frozen else "went on running"
