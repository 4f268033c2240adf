"""A run's prices: this machine's latest, or weighed before the run begins."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tare.cli.prices_text import not_valid
from tare.cli.weigh import ROUNDS, USUAL
from tare.cli.weigh_parts import What, billable
from tare.cli.weighing import WeighingRequest, weigh_and_keep, weigh_and_keep_parts
from tare.errors import TareError
from tare.machines.facts import local_facts
from tare.records.part_prices import WeighedPart, parts_here
from tare.records.prices import prices_here
from tare.records.run_prices import RunPrices
from tare.report import numbers
from tare.runtimes.declaration import NOT_RECOGNISED
from tare.runtimes.registry import BARE, declared
from tare.study.platform import TO_HOST

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.analysis.billed_ways import BilledWay
    from tare.databases.names import DatabaseName
    from tare.records.layout import RunFiles
    from tare.records.part_prices import PartWeighing
    from tare.records.prices import Operation, Weighing
    from tare.study.plan import Plan

_Found = TypeVar("_Found")
FRESH = timedelta(days=7)
"""Prices change with kernel, engine and firewall; those of another kernel are not used at all."""


def prices_for(
    plan: Plan, files: RunFiles, *, weigh: bool, say: Callable[[str], None]
) -> RunPrices | None:
    """Prices of the study's platforms for a run; None: it has them, needs none, or none of its ways
    are available.

    A run without prices lacks only its bill.

    Args:
        weigh: may weigh for some minutes if there are no prices of the last week.
        say: receives lines of progress.
    """
    database = _database(plan)
    if files.prices.exists() or database is None or not _billable(plan):
        return None
    wanted = _wanted(plan)
    ways = _ways(wanted, database, "request", weigh=weigh, say=say)
    if ways is None:
        return None
    return RunPrices(
        ways,
        _ways(wanted, database, "working", weigh=weigh, say=say),
        _parts(plan, weigh=weigh and bool(wanted), say=say),
    )


_OF_WAYS: dict[Operation, str] = {
    "request": "ways to a server",
    "working": "ways to a server that works",
}


def _ways(
    wanted: set[BilledWay],
    database: DatabaseName,
    operation: Operation,
    *,
    weigh: bool,
    say: Callable[[str], None],
) -> Weighing | None:
    """Prices of the study's ways; None: none are available."""
    what = _OF_WAYS[operation]
    found = prices_here(database, local_facts(), operation=operation)
    if found is not None and _serves(found, wanted):
        say(f"prices of {what}: those of {found.made:%Y-%m-%d %H:%M} UTC (tare weigh)")
        return found
    if not weigh or not wanted:
        return None
    say(f"weighing the {what} first, for some minutes; --no-weigh leaves it out")
    to_host = any(one.name.endswith(f".{TO_HOST}") for one in wanted)
    request = WeighingRequest(_runtimes(wanted), database=database, to_host=to_host)
    failure = f"no prices of {what}"
    found = _unless_it_fails(lambda: weigh_and_keep(say, request, operation), failure, say)
    if found is not None:
        say(f"weighed {numbers.count(len(found.prices), 'price')}")
        for doubt in not_valid(found):
            say(f"prices: {doubt}")
    return found


def _parts(plan: Plan, *, weigh: bool, say: Callable[[str], None]) -> list[PartWeighing]:
    """Prices of system calls, and of storage if the study writes, for a run with prices of ways.

    With them, bills have lines for a database's work beside its packets.

    Args:
        weigh: may weigh for half a minute if prices of the study's platforms are not of the last
            week; for a minute or two with pods and tasks.
        say: receives lines of progress.
    """
    kept = [one for one in parts_here(local_facts()) if datetime.now(UTC) - one.made < FRESH]
    wanted = _parts_wanted(plan)
    lacking = [
        part for part, own in wanted.items() if not any(_prices(one, part, own) for one in kept)
    ]
    if not weigh or not lacking:
        return kept
    parts = " and ".join(_IN_WORDS[part] for part in lacking)
    runtimes = sorted({*USUAL, *wanted["system"]})
    say(f"weighing {parts} first, for half a minute or more")
    found = _unless_it_fails(
        lambda: weigh_and_keep_parts([What(one) for one in lacking], runtimes, ROUNDS, say),
        f"no prices of {parts}",
        say,
    )
    own = billable(found) if found is not None else None
    return kept if own is None else [*kept, own]


_IN_WORDS: dict[WeighedPart, str] = {"system": "system calls", "storage": "storage"}


def _parts_wanted(plan: Plan) -> dict[WeighedPart, set[str]]:
    """Each part that bills list, with the platforms to weigh it on."""
    setups = [one.setup for one in plan.conditions]
    calling = {name for one in setups for name in (one.platform.runtime, one.client.runtime)}
    found: dict[WeighedPart, set[str]] = {"system": calling}
    if not all(one.load.only_reads for one in setups):
        written = {one.platform.runtime for one in setups} - {BARE}
        if written and all(map(_beside_native, written)):
            found["storage"] = {
                f"{one.platform.runtime}.{one.platform.storage}"
                for one in setups
                if one.platform.runtime != BARE
            }
    return found


def _beside_native(runtime: str) -> bool:
    """Whether it keeps its files, as far as known, on the disk of native's files. Prices
    of two disks would be useless to a bill."""
    store, own = declared(runtime).store(), Path(tempfile.gettempdir())
    try:
        return store is None or store.stat().st_dev == own.stat().st_dev
    except OSError:  # only its owner may read it
        return True


def _prices(found: PartWeighing, part: WeighedPart, platforms: set[str]) -> bool:
    """Whether these prices cover a part on all of these platforms that are available here."""
    own = found.only(part)
    if own is None:
        return False
    known = {one.platform for one in own.prices} | found.left_out.keys()
    return all(one in known or one.partition(".")[0] in found.left_out for one in platforms)


def _unless_it_fails(
    weigh: Callable[[], _Found], failure: str, say: Callable[[str], None]
) -> _Found | None:
    """The prices; None if the weighing failed, which does not stop the run."""
    try:
        return weigh()
    except TareError as error:
        say(f"{failure}: {error.what}" + (f", {error.why}" if error.why else ""))
    except OSError as error:  # an engine that falls silent, a full disk
        say(f"{failure}: {error}")
    return None


def _billable(plan: Plan) -> bool:
    """Whether at least two conditions have priced ways. If all are native processes, no way is
    weighed: their run takes kept prices only."""
    from tare.analysis.billed_ways import way_of

    if plan.study.design.slice_s is None:
        return False
    ways = (way_of(one.setup.model_dump(mode="json")) for one in plan.conditions)
    return sum(bool(one.name) for one in ways) > 1


def _wanted(plan: Plan) -> set[BilledWay]:
    """The conditions' ways other than native, between nodes too, that can be weighed; empty if
    they do not run in slices."""
    from tare.analysis.billed_ways import way_of
    from tare.analysis.tariff import NATIVE
    from tare.lab.weighed_servers import RUNTIMES, places

    if plan.study.design.slice_s is None:
        return set()
    plugins = {
        one: _plugin_here(one) for one in {one.setup.platform.runtime for one in plan.conditions}
    }
    clients = {
        way_of(one.setup.model_dump(mode="json"), plugins[one.setup.platform.runtime])
        for one in plan.conditions
    }
    named = clients | {one.between for one in clients if one.between is not None}
    weighed = {name for place in places(RUNTIMES, to_host=True) for name, _ in place.ways}
    return {one for one in named if one.name in weighed - {NATIVE}}


def _plugin_here(runtime: str) -> str:
    """The network plugin of the cluster that is there; empty: no price depends on it, or no cluster
    answers."""
    if not declared(runtime).weighed_by_plugin:
        return ""
    try:
        cluster = declared(runtime).named()
    except TareError:
        return ""
    return cluster.facts.plugin or NOT_RECOGNISED if cluster and cluster.facts else ""


def _database(plan: Plan) -> DatabaseName | None:
    """The database whose protocol is used; None: several, but a price file has only one."""
    kinds = {one.setup.database.kind for one in plan.conditions}
    return kinds.pop() if len(kinds) == 1 else None


def _serves(found: Weighing, wanted: set[BilledWay]) -> bool:
    """Whether these prices are of the last week and cover all wanted ways available here; for a way
    through several network plugins, of which a cluster has one, one of them is enough."""
    from tare.analysis.tariff import Tariff

    tariff = Tariff(found)
    known = {one.name for one in wanted if not one.unpriced(tariff)} | found.left_out.keys()
    names = {one.name for one in wanted}
    missing = {way for way in names - known if way.partition(".")[0] not in found.left_out}
    return datetime.now(UTC) - found.made < FRESH and not missing


def _runtimes(wanted: set[BilledWay]) -> list[str]:
    """The runtimes to weigh for these ways, and the usual ones for later runs."""
    return sorted({*USUAL, *(one.name.partition(".")[0] for one in wanted)})
