"""Obstacles for a study of MongoDB here: no server, or no tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.runtimes.obstacle import Obstacle
from tare.runtimes.registry import declared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.schema import Setup


def obstacles(setup: Setup) -> Iterator[Obstacle]:
    """What prevents this setup, on any platform."""
    yield from _without_server(setup)
    yield from _without_binding(setup)


def _without_server(setup: Setup) -> Iterator[Obstacle]:
    """No public package has MongoDB's server: it is the user's own, or an image's, or missing.

    The stub stands in for a server that nobody names, but not for one whose image is named: else
    another server would run in place than in containers.
    """
    database = setup.database
    if database.home is not None or database.stubbed:
        return
    without = "; without one, database.stand_in: true has the stub in its place, for what the "
    without += "platform costs alone"
    # one reason for both, told once of a study that has both
    why = "MongoDB's server cannot be fetched, and none is named"
    if not declared(setup.platform.runtime).in_place:
        if database.image is None:
            remedy = "set database.image to an image of MongoDB, or database.home to the directory "
            remedy += "of a mongod, of which Tare makes one, then `tare plan` again"
            yield Obstacle(("database", "kind"), why, remedy + without)
    else:
        remedy = "set database.home to the directory of a mongod, then `tare plan` again"
        yield Obstacle(("database", "kind"), why, remedy + without)


def _without_binding(setup: Setup) -> Iterator[Obstacle]:
    """YCSB itself is fetched with its binding for CQL only."""
    if setup.client.tool == "ycsb":
        why = "this version runs YCSB's own client with CQL only"
        remedy = "set client.tool to tare, which sends the same documents, then `tare plan` again"
        yield Obstacle(("client", "tool"), why, remedy)
