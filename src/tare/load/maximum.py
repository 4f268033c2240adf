"""The largest load that a cluster can take, by `tare-load find-max`, and shares of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import ValidationError

from tare.errors import LoadError
from tare.load.client import LoadClient, progress
from tare.records.maximum import Maximum
from tare.study.load import Load


def words(load: Load, shares: Iterable[float]) -> tuple[str, ...]:
    """The arguments of `tare-load` that search for the maximum and these shares, before --spec."""
    search = load.search
    made = ["find-max", "--by", str(load.sought), "--within", f"{search.within:g}"]
    made += ["--budget", f"{search.budget:g}s", "--step", f"{search.step:g}s"]
    made += [word for one in shares for word in ("--fraction", f"{one:g}")]
    return (*made, *(("--latency", search.latency) if search.latency else ()))


def search(client: LoadClient, check: Callable[[], None], told: Callable[[Any], None]) -> Any:
    """Wait for a launched search; gives the event with which it ended.

    Args:
        client: launched with `words`.
        check: called about once a second; what it raises ends the search.
        told: given every event before that.

    Raises:
        LoadError: the search failed, or ended without an answer.
    """
    found: dict[str, Any] | None = None
    for line in progress([client], check):
        if line.event is None:
            continue
        if "verdict" in line.event:
            found = line.event
        else:
            told(line.event)
    if found is None:
        raise LoadError(
            "the search for the maximum ended without an answer",
            where=client.site.name,
            remedy="see its stderr.log in the logs directory",
        )
    return found


def maximum(event: dict[str, Any], reference: str, where: str) -> Maximum:
    """The maximum that was found, as a record.

    Raises:
        LoadError: the client was the limit, or no maximum can be given.
    """
    try:
        found = Maximum.model_validate(
            {k: v for k, v in event.items() if k in Maximum.model_fields} | {"of": reference}
        )
    except ValidationError as error:
        raise LoadError(
            "a search's answer is not of this version", where=where, why=str(error)
        ) from error
    if found.verdict == "client_limit":
        raise LoadError(
            "the load client was the limit, not the cluster: no maximum is known",
            where=where,
            why="; ".join(found.reasons),
            remedy="give the client more CPUs (client.limits), or the database fewer",
        )
    if found.level is None or found.throughput is None:
        raise LoadError(
            "the search found no maximum",
            where=where,
            why="; ".join(found.reasons),
            remedy="raise load.search.budget, or load.search.within",
        )
    return found


def settled(load: Load, found: Maximum) -> Load:
    """The load with the found number in the place of the share."""
    level = found.at(load.share or 1.0)
    if load.sought == "threads":
        return load.settled(threads=max(1, round(level)))
    return load.settled(rate=level)
