"""Waits after a failure until the runtimes answer again, so that the run can go on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.runtimes.key import runtime_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tare.runtimes.unit import Runtime
    from tare.study.schema import Setup

_BACK_S = 60.0
"""an engine or a manager that is started again is back by then"""
_POLL_S = 2.0


def await_runtimes(
    runtimes: Mapping[str, Runtime],
    setup: Setup,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until the runtimes of a setup can be used, not for long.

    Args:
        runtimes: of the run, by `runtime_key`.
        setup: of the trial that failed.
        clock, wait: monotonic seconds, and letting them pass.

    Raises:
        RuntimeUnavailableError: a runtime cannot be used. Every further trial would fail likewise,
            and only an interrupted run is resumed, not a finished one.
    """
    deadline = clock() + _BACK_S
    for key in sorted({runtime_key(setup.platform), runtime_key(setup.client)}):
        while (fault := runtimes[key].probe()) is not None:
            if clock() > deadline:
                raise RuntimeUnavailableError(
                    "the run cannot go on",
                    where=key,
                    why=fault,
                    remedy="fix that, then the same command again: it goes on where this ended",
                )
            wait(_POLL_S)
