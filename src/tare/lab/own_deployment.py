"""A separate deployment that makes what others start from: a snapshot, a class archive."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tare.errors import ClusterError
from tare.lab.deployment import Deployment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tare.lab.progress import Watcher
    from tare.lab.run_resources import RunResources
    from tare.runtimes.unit import Exit, Running
    from tare.study.schema import Design, Setup

_POLL_S = 0.1


@contextmanager
def own_deployment(
    name: str, setup: Setup, design: Design, resources: RunResources, watcher: Watcher
) -> Iterator[Deployment]:
    """A deployment that is not begun yet; it is always taken down at the end."""
    made = Deployment(name, [setup], design.warm, resources, watcher)
    try:
        yield made
    finally:
        for fault in made.destroy():
            watcher.say(f"something was left: {fault}")


def end_by_themselves(
    nodes: Sequence[Running],
    within_s: float,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> list[Exit]:
    """Let nodes end together and write everything; how each ended.

    Raises:
        ClusterError: a node did not end in time.
    """
    for node in nodes:
        node.terminate()
    deadline = clock() + within_s
    ends: list[Exit] = []
    for node in nodes:
        while (ended := node.exited()) is None:
            if clock() > deadline:
                raise ClusterError("a node did not stop", where=node.unit.site.name)
            wait(_POLL_S)
        ends.append(ended)
    return ends
