"""`tare schema`: the JSON Schema of study files, for editors."""

from __future__ import annotations

import json

import typer

from tare.study import json_schema


def command() -> None:
    """Print the JSON Schema of study files."""
    typer.echo(json.dumps(json_schema.schema(), indent=1))
