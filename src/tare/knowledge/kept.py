"""Knowledge files that were read before, kept as JSON: YAML takes a hundred times as long."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

import tare.knowledge
import tare.study
from tare.artifacts.tree import default_cache
from tare.knowledge.schema import KnowledgeFile
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

_READERS = (
    (tare.knowledge, ("read.py", "schema.py")),
    (tare.study, ("document.py", "question.py", "quantities.py")),
)
"""The code that makes findings of a text: the YAML parser, the models, and the sources of their
types."""


def kept_or_parsed(text: str, parse: Callable[[], KnowledgeFile]) -> KnowledgeFile:
    """The findings in the text: from the cache if this code has read the same text before.

    Only texts without mistakes are kept, so that mistakes are always reported with their lines. A
    cache that cannot be written or read costs only time.
    """
    digest = hashlib.sha256(_code() + text.encode("utf-8")).hexdigest()
    path = default_cache() / "knowledge" / f"{digest}.json"
    with contextlib.suppress(OSError, ValidationError):
        return KnowledgeFile.model_validate_json(path.read_bytes())
    found = parse()
    with contextlib.suppress(OSError):
        replace_file(path, found.model_dump_json())
    return found


@cache
def _code() -> bytes:
    """Digest of the code that reads: another version may read the same text differently."""
    sources = [
        (Path(package.__path__[0]) / name).read_bytes()
        for package, names in _READERS
        for name in names
    ]
    return hashlib.sha256(b"\0".join(sources)).digest()
