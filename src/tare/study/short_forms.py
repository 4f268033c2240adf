"""One word that stands for several fields: `consistency: QUORUM`, the level of reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.study.database import both_levels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tare.study.document import Document
    from tare.study.origins import FieldPath

WORDS: Mapping[FieldPath, Callable[[object], object]] = {("database", "consistency"): both_levels}
"""The field that may be such a word, and the function that gives the fields it stands for."""


def in_full(path: FieldPath, value: Any) -> Any:
    """The fields that the value at the path stands for; the value itself where it is no word."""
    form = WORDS.get(path)
    return form(value) if form else value


def write_in_full(document: Document) -> None:
    """Puts fields in the place of each such word of the base document; levels are patches.

    If one of the fields is set later, the others keep the word's values.
    """
    for path in WORDS:
        *above, last = path
        place = document.data
        for key in above:
            place = place.get(key) if isinstance(place, dict) else None
        if not isinstance(place, dict) or last not in place:
            continue
        word = place[last]
        place[last] = fields = in_full(path, word)
        if fields is not word and path in document.at:
            document.at |= {(*path, name): document.at[path] for name in fields}
