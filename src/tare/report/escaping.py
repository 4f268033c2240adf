"""Foreign text made harmless: names, reasons and facts come from files that others wrote."""

from __future__ import annotations

import re
import unicodedata

REPLACEMENT = "\ufffd"

# Cc: control characters (terminal escapes; most are not even allowed in XML). Cf: among them the
# bidirectional overrides that show a text in another order than it has. Cs: lone surrogates,
# which cannot be encoded. Cn: XML forbids two of the unassigned ones.
_REFUSED = {"Cc", "Cf", "Cs", "Cn"}
_UNUSUAL = re.compile(r"[^\n -~]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def plain(text: object) -> str:
    """One line without control, format and unpaired characters; white space becomes a blank."""
    line = str(text)
    if line.isascii() and line.isprintable():
        return line
    return "".join(
        " " if c.isspace() else REPLACEMENT if unicodedata.category(c) in _REFUSED else c
        for c in line
    )


def shown(text: object) -> str:
    """Lines for a terminal, each as `plain` has it; the line ends and the length stay."""
    return "\n".join(plain(line) for line in str(text).split("\n"))


def escaped_json(document: str) -> str:
    """The same JSON document, with the characters that `plain` removes as escape sequences.

    Except for its line ends, such characters occur only within JSON's strings.
    """
    return _UNUSUAL.sub(_unit, document)


def _unit(found: re.Match[str]) -> str:
    if unicodedata.category(found[0]) not in _REFUSED:
        return found[0]
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def shorten(text: object, length: int) -> str:
    """The text, or its beginning and an ellipsis, in at most `length` characters."""
    line = plain(text)
    return line if len(line) <= length else line[: max(1, length - 1)] + "\u2026"


def no_formula(text: str) -> str:
    """The text of a CSV file's cell, behind an apostrophe if a spreadsheet would compute it (CSV
    injection)."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
