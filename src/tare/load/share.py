"""Threads, rate, inserts and keys in turn, split among the clients of one cluster."""

from __future__ import annotations

from typing import Any


def share_of(made: dict[str, Any], part: int, of: int) -> dict[str, Any]:
    """The specification of one of several clients, which together send what `made` asks for.

    Threads and rates are divided. Keys in turn and inserted rows are shared out by the load
    generator, which is told which client of how many it is (tare_draw::Share): client i takes the
    numbers i, i + of, i + 2 of, ...

    Args:
        made: of a single client.
        part: which one, from 0.
        of: how many there are.
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
