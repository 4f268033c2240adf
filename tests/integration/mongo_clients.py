"""MongoDB's own drivers, ready to run, and the failures that one driver's monitors saw.

If one is not available, its tests are skipped with the reason and the command that helps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest
from bench.mongo_wire import clients
from pymongo.monitoring import ServerHeartbeatListener

from tare.errors import TareError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pymongo.monitoring import ServerHeartbeatFailedEvent

Made = TypeVar("Made")


class Heartbeats(ServerHeartbeatListener):
    """How many greetings of the Python driver's monitors failed."""

    def __init__(self) -> None:
        self.failures = 0

    def started(self, event: object) -> None:
        pass

    def succeeded(self, event: object) -> None:
        pass

    def failed(self, event: ServerHeartbeatFailedEvent) -> None:
        self.failures += 1


def rust_driver(test: str) -> str:
    """The runner of MongoDB's Rust driver, for this file of tests."""
    return _ready("Rust driver", clients.driver_program, test)


def java_ycsb(test: str) -> tuple[str, ...]:
    """The words that start YCSB 0.17.0 on MongoDB's Java driver, for this file of tests."""
    return _ready("YCSB", clients.ycsb_command, test)


def _ready(name: str, make: Callable[[Callable[[str], None]], Made], test: str) -> Made:
    try:
        return make(print)
    except TareError as why:
        pytest.skip(f"no {name}: {why.what}; {why.remedy}; then: pytest {test}")
