"""`tare schema`: the JSON Schemas of study files, of load specifications, of what Tare writes."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from tare.cli.console import say_document


class SchemaName(StrEnum):
    """What has a schema."""

    STUDY = "study"
    ANALYSIS = "analysis"
    COMPARISON = "comparison"
    MANIFEST = "manifest"
    PRICES = "prices"
    PART_PRICES = "part-prices"
    LOAD = "load-specification"


def text(document: SchemaName) -> str:
    """The schema as it is printed and published."""
    from tare.load import json_schema as load
    from tare.report import json_schema as written
    from tare.study import json_schema as study

    own = {SchemaName.STUDY: study.schema, SchemaName.LOAD: load.schema}
    found = own[document]() if document in own else written.schema(document.value)
    return json.dumps(found, indent=1) + "\n"


def command(
    document: Annotated[
        SchemaName,
        typer.Argument(
            help="Of study files, `analysis.json`, comparisons, trial manifests, what `tare weigh` "
            "finds, or what `tare load run` reads.",
            metavar="DOCUMENT",
        ),
    ] = SchemaName.STUDY,
) -> None:
    """Print the JSON Schema of study files, of load specifications, or of a file of Tare's."""
    say_document(text(document))
