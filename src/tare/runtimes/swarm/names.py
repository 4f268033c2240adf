"""Names and labels of everything that Tare makes in a Swarm."""

from __future__ import annotations

import platform

from tare.runtimes.docker_engine import HOST_LABEL, RUN_LABEL
from tare.runtimes.slug import slug

UNIT_LABEL = "tare.unit"
_LONGEST = 63
_SERVICE = 40


def labels_of(run: str, unit: str = "") -> dict[str, str]:
    """Labels of an object of a run."""
    found = {RUN_LABEL: run, HOST_LABEL: platform.node(), UNIT_LABEL: unit}
    return {key: value for key, value in found.items() if value}


def own_labels() -> list[str]:
    """Filters that find everything that any run on this machine made."""
    return [RUN_LABEL, f"{HOST_LABEL}={platform.node()}"]


def service_of(run: str, unit: str) -> str:
    """The service of a unit; all services of a Swarm share one space of names."""
    return f"tare-{slug(f'{run}-{unit}', _SERVICE)}"


def network_of(run: str, group: str) -> str:
    """The network of a group of units."""
    return f"tare-{slug(f'{run}-{group}', _SERVICE)}"


def config_of(service: str, file: str) -> str:
    """The Swarm's config that holds a file of a service's."""
    return slug(f"{service}-{file}", _LONGEST)


def volume_of(service: str) -> str:
    """The volume that a service's task finds filled on its node."""
    return f"{service}-data"


def own_name(service: str) -> str:
    """The name of a service's one task, for itself and all others, in any endpoint mode.

    The engine's DNS answers with the task's own address. For the task itself, its hosts file
    answers from its first moment, because this is its host name too.
    """
    return f"tasks.{service}"
