"""The provenance as flat facts: nested sections become dotted names, long values are cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tare.report.text import plain

# A page shows this much of one value and of one section; analysis.json holds all of it.
VALUE_LENGTH = 2_000
SECTION_LENGTH = 400
_DEPTH = 12


def sections(provenance: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """(section, [(fact, value)]) in the order given; facts outside any section come first."""
    loose: list[tuple[str, str]] = []
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for name, content in provenance.items():
        facts = list(_flatten(content, "", 0))
        if not isinstance(content, Mapping | list):
            loose.append((plain(name), facts[0][1]))
            continue
        if len(facts) > SECTION_LENGTH:
            more = len(facts) - SECTION_LENGTH
            facts = [*facts[:SECTION_LENGTH], ("\u2026", f"{more:,} more in analysis.json")]
        found.append((plain(name), facts))
    return [("general", loose), *found] if loose else found


def _flatten(content: object, name: str, depth: int) -> Iterator[tuple[str, str]]:
    nested = depth < _DEPTH
    if isinstance(content, Mapping) and content and nested:
        for key, value in content.items():
            yield from _flatten(value, f"{name}.{plain(key)}" if name else plain(key), depth + 1)
    elif (
        isinstance(content, list)
        and nested
        and any(isinstance(item, Mapping | list) for item in content)
    ):
        for i, item in enumerate(content, 1):
            yield from _flatten(item, f"{name} {i}".strip(), depth + 1)
    else:
        yield name, _value(content)


def _value(content: object) -> str:
    if isinstance(content, list):
        text = " ".join(str(item) for item in content) if content else "none"
    elif content is None:
        text = "none"
    elif isinstance(content, bool):
        text = "yes" if content else "no"
    else:
        text = str(content)
    lines = "\n".join(plain(one) for one in text[: VALUE_LENGTH + 1].splitlines())
    return lines if len(text) <= VALUE_LENGTH else lines[:VALUE_LENGTH] + " \u2026"
