"""`tare schema`: the JSON Schemas of study files and of what Tare writes."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from tare.report import json_schema as written
from tare.study import json_schema as study


class Document(StrEnum):
    """What has a schema."""

    STUDY = "study"
    ANALYSIS = "analysis"
    COMPARISON = "comparison"
    MANIFEST = "manifest"


def text(document: Document) -> str:
    """The schema as it is printed and published."""
    found = study.schema() if document is Document.STUDY else written.schema(document.value)
    return json.dumps(found, indent=1) + "\n"


def command(
    document: Annotated[
        Document,
        typer.Argument(
            help="Of study files, `analysis.json`, comparisons, or trial manifests.",
            metavar="DOCUMENT",
        ),
    ] = Document.STUDY,
) -> None:
    """Print the JSON Schema of study files, or of a file that Tare writes."""
    typer.echo(text(document), nl=False)
