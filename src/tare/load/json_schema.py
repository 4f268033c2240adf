"""The JSON Schema of tare-load's input."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

FILE = "specification.schema.json"


def schema() -> dict[str, Any]:
    """The JSON Schema of a load specification, draft 2020-12."""
    text = (resources.files("tare.load") / FILE).read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
