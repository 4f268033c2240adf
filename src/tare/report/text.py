"""Foreign text made harmless: names, reasons and facts come from files that others wrote."""

from __future__ import annotations

import unicodedata

REPLACEMENT = "\ufffd"

# Cc: control characters (terminal escapes; most are not even allowed in XML). Cf: among them the
# bidirectional overrides that show a text in another order than it has. Cs: lone surrogates,
# which cannot be encoded. Cn: XML forbids two of the unassigned ones.
_REFUSED = {"Cc", "Cf", "Cs", "Cn"}


def plain(text: object) -> str:
    """One line without control, format and unpaired characters; white space becomes a blank."""
    line = str(text)
    if line.isascii() and line.isprintable():
        return line
    return "".join(
        " " if c.isspace() else REPLACEMENT if unicodedata.category(c) in _REFUSED else c
        for c in line
    )


def shorten(text: object, length: int) -> str:
    """The text, or its beginning and an ellipsis, in at most `length` characters."""
    line = plain(text)
    return line if len(line) <= length else line[: max(1, length - 1)] + "\u2026"
