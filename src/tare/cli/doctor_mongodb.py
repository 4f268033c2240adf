"""`tare doctor --database mongodb`: how to get a mongod, and whether a named one works."""

from __future__ import annotations

import json as json_module
import platform
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import typer
from rich.text import Text

from tare.artifacts.image import named_image
from tare.cli.console import Terminal, say_json
from tare.databases.mongodb import checkup
from tare.doctor_check import DoctorCheck
from tare.errors import RuntimeUnavailableError, TareError
from tare.machines.addresses import AddressPool
from tare.runtimes.registry import CONTAINER, declared


def check(home: Path | None, image: str, json: bool) -> None:
    """Say what is known of the server that is named; exit status 1 where it cannot be used."""
    found: list[DoctorCheck] = []
    console = Terminal()
    for one in _checked(home, image):
        found.append(one)
        if not json:
            mark = Text("ok     ", "green") if one.ok else Text("missing", "red")
            console.print(mark, f" {one.what}: ", one.says, sep="")
            if one.remedy:
                console.print("        try: ", one.remedy, sep="")
    if json:
        say_json(json_module.dumps([asdict(one) for one in found], indent=1))
    if not all(one.ok for one in found):
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
