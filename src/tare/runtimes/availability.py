"""What this version cannot run at all, whatever the machine: the reason, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.schema import Setup

RUNTIMES = ("native", "docker")
"""Runtimes that this version has, as a study names them."""
_ELSEWHERE = "measure it with another load generator and bring its files in with `tare import`"
_INSIDE = (
    "run the other conditions once on the physical machine and once inside the virtual one, each "
    "by its own Tare, then `tare compare` both runs"
)
_SAME_LOAD = (
    "; give both the same fixed threads or rate (`--scale printed` where the study has it, else in "
    "its file), since each run would search a maximum of its own"
)
_NAMES = {"kvm": "KVM", "vmware": "VMware"}


@dataclass(frozen=True)
class Obstacle:
    """Why a setup cannot be run.

    Attributes:
        field: path of the first field that asks for what there is not.
        why: the reason; several are joined by semicolons.
        remedy: what to do about the first.
    """

    field: tuple[str, ...]
    why: str
    remedy: str


def obstacle(setup: Setup) -> Obstacle | None:
    """What hinders this setup in this version, on every machine; None where nothing does.

    A Docker engine that does not answer is no such thing: it may answer after one command, and
    `tare plan` refuses the study until it does.
    """
    found = list(_obstacles(setup))
    if not found:
        return None
    return Obstacle(found[0].field, "; ".join(one.why for one in found), found[0].remedy)


def _obstacles(setup: Setup) -> Iterator[Obstacle]:
    database, platform = setup.database, setup.platform
    if database.kind == "mongodb":
        yield from _without_server(setup)
        yield from _without_binding(setup)
    if platform.machines != "local":
        why = f"this version makes no {_named(platform.machines)} machines"
        remedy = _INSIDE + (_SAME_LOAD if setup.load.sought is not None else "")
        yield Obstacle(("platform", "machines"), why, remedy)
    if platform.runtime not in RUNTIMES:
        why = f"this version has no runtime for {platform.runtime}"
        yield Obstacle(("platform", "runtime"), why, _ELSEWHERE)
    if platform.address:
        why = f"this version gives machines no {platform.address}"
        yield Obstacle(("platform", "address"), why, _ELSEWHERE)


def _without_server(setup: Setup) -> Iterator[Obstacle]:
    """No public package has MongoDB's server: it is the user's own, or an image's."""
    database, runtime = setup.database, setup.platform.runtime
    if runtime == "docker" and database.image is None:
        why = "MongoDB's server cannot be fetched, and no image is named"
        remedy = "set database.image to an image of MongoDB, then `tare plan` again"
        yield Obstacle(("database", "kind"), why, remedy)
    elif runtime != "docker" and database.home is None:
        why = "MongoDB's server cannot be fetched, and no directory of it is named"
        remedy = "set database.home to the directory of a mongod, then `tare plan` again"
        yield Obstacle(("database", "kind"), why, remedy)


def _without_binding(setup: Setup) -> Iterator[Obstacle]:
    """YCSB itself is fetched with its binding for CQL only."""
    if setup.client.tool == "ycsb":
        why = "this version runs YCSB's own client with CQL only"
        remedy = "set client.tool to tare, which sends the same documents, then `tare plan` again"
        yield Obstacle(("client", "tool"), why, remedy)


def _named(word: str) -> str:
    """The word as its owners write it."""
    return _NAMES.get(word, word)
