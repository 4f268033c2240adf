"""Names by which a part of a setup finds its runtime: by the machines, and how they run a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes.registry import declared
from tare.study.platform import Platform

if TYPE_CHECKING:
    from tare.runtimes.declaration import Declaration
    from tare.study.platform import Client

_ON_HOSTS = "ssh-"
"""before a runtime that runs units on machines that SSH reaches"""
_OF = "@"
"""between a runtime on hosts and their group"""


def runtime_key(part: Platform | Client) -> str:
    """The runtime's name in the study; on hosts over SSH ssh-native or ssh-docker.

    The group that the study names follows there, as in ssh-docker@vmware.
    """
    if not part.source.over_ssh:
        return part.runtime
    return of_group(on_ssh(part.runtime), part.group if isinstance(part, Platform) else "")


def on_ssh(runtime: str) -> str:
    """The key of a runtime on hosts that SSH reaches."""
    return f"{_ON_HOSTS}{runtime}"


def is_on_ssh(key: str) -> bool:
    """Whether the key's runtime runs units on machines that SSH reaches."""
    return key.startswith(_ON_HOSTS)


def of_group(runtime: str, group: str) -> str:
    """The key of a runtime on the hosts of a group; empty: those that take nodes or clients."""
    return f"{runtime}{_OF}{group}" if group else runtime


def runtime_and_group(key: str) -> tuple[str, str]:
    """The key's runtime on hosts, and their group."""
    runtime, _, group = key.partition(_OF)
    return runtime, group


def declaration_of(key: str) -> Declaration:
    """The declaration of the key's runtime."""
    return declared(runtime_and_group(key)[0].removeprefix(_ON_HOSTS))
