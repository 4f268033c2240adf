"""The provenance as flat facts: nested names dotted, facts shared by conditions once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tare.enumeration import first_of
from tare.report.escaping import plain

# A page shows this much of one value and of one section; analysis.json holds all of it.
VALUE_LENGTH = 2_000
SECTION_LENGTH = 200
DECLARED = "what the study declares; the files do not tell"
"""Instead of "settings", for imported runs."""
_DEPTH = 12
_NAMED = 3
Levels = Mapping[str, Mapping[str, str]]


def sections(
    provenance: Mapping[str, Any], conditions: Levels | None = None
) -> list[tuple[str, list[tuple[str, str]]]]:
    """(section, [(fact, value)]) in the order given; facts outside any section come first.

    Args:
        conditions: condition to its levels. In a section by condition, a value that all conditions
            share is written once; other values once each, with the conditions that have them.
    """
    conditions = conditions or {}
    of_files = bool(provenance.get("sources"))
    loose: list[tuple[str, str]] = []
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for name, content in provenance.items():
        if isinstance(content, Mapping) and len(content) > 1 and content.keys() <= set(conditions):
            facts = _by_condition(content, conditions)
        else:
            facts = list(_flatten(content, "", 0))
        if not isinstance(content, Mapping | list):
            loose.append((plain(name), facts[0][1]))
            continue
        if len(facts) > SECTION_LENGTH:
            more = len(facts) - SECTION_LENGTH
            facts = [*facts[:SECTION_LENGTH], ("\u2026", f"{more:,} more in analysis.json")]
        found.append((DECLARED if name == "settings" and of_files else plain(name), facts))
    return [("general", loose), *found] if loose else found


def _by_condition(content: Mapping[str, Any], conditions: Levels) -> list[tuple[str, str]]:
    holders: dict[tuple[str, str], list[str]] = {}
    has: dict[str, set[str]] = {}
    for condition, own in content.items():
        for fact, value in _flatten(own, "", 0):
            holders.setdefault((fact, value), []).append(condition)
            has.setdefault(fact, set()).add(condition)
    within = {name: conditions[name] for name in content}
    facts = []
    for (fact, value), names in holders.items():
        everywhere = len(names) == len(content) or (len(names) == len(has[fact]) and bool(fact))
        where = "" if everywhere else f" ({_in_words(names, within)})"
        facts.append((f"{fact}{where}".strip(), value))
    return facts


def _in_words(names: Collection[str], conditions: Levels) -> str:
    """Some of the conditions, by the levels that only they have; else by name."""
    own = [conditions[name] for name in names]
    levels = {factor: dict.fromkeys(one[factor] for one in own) for factor in own[0]}
    every = {factor: {one.get(factor) for one in conditions.values()} for factor in own[0]}
    limited = {f: found for f, found in levels.items() if len(found) < len(every[f])}
    same = [
        c for c in conditions.values() if all(c.get(f) in found for f, found in limited.items())
    ]
    if limited and len(same) == len(names):
        parts = (f"{plain(f)} {' or '.join(map(plain, found))}" for f, found in limited.items())
        return ", ".join(parts)
    return first_of([plain(name) for name in names], _NAMED)


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
