"""`tare doctor`: what can run on this machine, and how to get what cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.errors import UsageError

SECONDS = 60.0
LEAST_SECONDS = 15.0
"""A shorter pilot has too few passes to tell bursts from the rest."""


def command(
    machines: Annotated[
        bool, typer.Option("--machines", help="Ask the hosts of the inventory (TARE_INVENTORY).")
    ] = False,
    noise: Annotated[
        bool,
        typer.Option(
            "--noise", help="Measure for a minute how noisy this machine is, and what that allows."
        ),
    ] = False,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            help="How long --noise measures.",
            min=LEAST_SECONDS,
            max=3600.0,
        ),
    ] = SECONDS,
    database: Annotated[
        str, typer.Option("--database", help="mongodb: how to get a mongod, or check one.")
    ] = "",
    home: Annotated[
        Path | None, typer.Option("--home", help="Check the mongod of this directory.")
    ] = None,
    image: Annotated[str, typer.Option("--image", help="Check the mongod of this image.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what can run on this machine, or on its inventory's hosts, and how to get what cannot."""
    if database not in ("", "mongodb"):
        raise UsageError(
            f"--database {database}: only mongodb is looked for; Tare fetches Cassandra itself",
            remedy="tare doctor --database mongodb",
        )
    if (home is not None or image) and not database:
        raise UsageError(
            "--home and --image are of --database mongodb",
            remedy="tare doctor --database mongodb --home DIRECTORY",
        )
    asked = {"--database": bool(database), "--machines": machines, "--noise": noise}
    given = [option for option, is_given in asked.items() if is_given]
    if len(given) > 1:
        raise UsageError(
            f"{' and '.join(given)} are questions of their own",
            remedy="; ".join(
                f"tare doctor {one}{' mongodb' if one == '--database' else ''}" for one in given
            ),
        )
    if database:
        from tare.cli import doctor_mongodb

        doctor_mongodb.check(home, image, json)
        return
    if machines:
        from tare.cli import doctor_machines

        doctor_machines.machines(json)
        return
    if noise:
        from tare.cli import doctor_noise

        doctor_noise.noise(seconds, json)
        return
    from tare.cli.doctor_checks import show

    if not show(json=json):
        raise typer.Exit(1)
