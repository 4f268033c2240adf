"""`tare doctor --database mongodb`: how to get a mongod, and whether a named one works."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path

import typer

from tare.artifacts.image import named_image
from tare.cli.doctor_checks import tell
from tare.databases.mongodb import checkup
from tare.doctor_check import DoctorCheck
from tare.errors import RuntimeUnavailableError, TareError
from tare.machines.addresses import AddressPool
from tare.runtimes.registry import CONTAINER, declared


def check(home: Path | None, image: str, json: bool) -> None:
    """Print the checks of the named server; exit status 1 if it cannot be used."""
    if not all(one.ok for one in tell(_checked(home, image), json=json)):
        raise typer.Exit(1)


def _checked(home: Path | None, image: str) -> Iterator[DoctorCheck]:
    machine = platform.machine()
    if home is not None:
        yield from checkup.check_home(home, machine, checkup.features_here())
    if image:
        yield from _of_image(image)
    if home is None and not image:
        yield checkup.how_to_get_one(checkup.system_here(), machine)


def _of_image(name: str) -> Iterator[DoctorCheck]:
    try:
        if fault := declared(CONTAINER).fault():
            raise RuntimeUnavailableError(f"{CONTAINER} cannot run here", why=fault)
        made = declared(CONTAINER).make(checkup.RUN, Path(), AddressPool()).images()
        if made is None:
            raise RuntimeUnavailableError(f"{CONTAINER} runs nothing from images")
        identity, _ = named_image(made.engine, name)
    except TareError as error:
        yield DoctorCheck("image", False, f"{error.what}: {error.why}", error.remedy)
        return
    yield DoctorCheck("image", True, f"{name}, {identity}")
    yield from checkup.check_started(checkup.image(made.engine, identity, made.labels))
