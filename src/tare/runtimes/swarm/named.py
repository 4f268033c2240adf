"""The Swarm that is named here, if any: its facts, or why it cannot be used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tare.errors import TareError
from tare.runtimes.swarm.facts import SwarmFacts, read_facts
from tare.runtimes.swarm.manager import EngineManager
from tare.runtimes.swarm.settings import (
    VARIABLE,
    SwarmSettings,
    connect_engine,
    swarm_settings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANSWER_S = 5


def manager_of(settings: SwarmSettings, timeout_s: int = 60) -> EngineManager:
    """The manager that the settings name.

    Raises:
        RuntimeUnavailableError: its engine does not answer.
    """
    return EngineManager(connect_engine(settings.manager, timeout_s), settings.where)


def ask_swarm(environment: Mapping[str, str] = os.environ) -> SwarmFacts | TareError | None:
    """The Swarm's facts, or why it cannot be asked; None: none is named.

    Docker's own choice of an engine names a Swarm only if that engine manages one.
    """
    try:
        settings = swarm_settings(environment)
        return read_facts(manager_of(settings, _ANSWER_S), local=settings.local)
    except TareError as error:
        return error if environment.get(VARIABLE) else None


def swarm_fault(environment: Mapping[str, str] = os.environ) -> str | None:
    """Why the Swarm cannot be used, with the remedy; None: it can."""
    found = ask_swarm(environment)
    if found is None:
        return "docker's engine manages no Swarm (docs/swarm.md)"
    if isinstance(found, TareError):
        return f"{found.what}: {found.why} ({found.remedy})"
    return None if found.usable else "no node of the Swarm can take a task (docker node ls)"
