"""Splits threads, rate, inserts and sequential keys among the clients of one cluster."""

from __future__ import annotations

from typing import Any


def share_of(made: dict[str, Any], part: int, of: int) -> dict[str, Any]:
    """The specification of one of several clients that together send what `made` asks for.

    Threads and rates are divided. The load generator shares out sequential keys and inserted rows.
    It is told its number and the number of clients (tare_draw::Share): client i takes the numbers
    i, i + of, i + 2 of, ...

    Args:
        made: the specification of a single client.
        part: the client's number, from 0.
        of: the number of clients.
    """
    if of == 1:
        return made
    threads, more = divmod(made["threads"], of)
    shared = {
        **made,
        "client": {"name": made["client"], "index": part, "of": of},
        "threads": max(threads + (part < more), 1),
    }
    if made.get("rate") is not None:
        shared["rate"] = made["rate"] / of
    if made.get("schedule"):
        shared["schedule"] = [{**one, "rate": one["rate"] / of} for one in made["schedule"]]
    return shared
