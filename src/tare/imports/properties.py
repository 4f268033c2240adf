"""Settings that a load generator prints: hosts, record counts, properties.

They are kept as facts under PREFIX, so that a report can name differences between conditions that
the study does not know. Secrets are not kept.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

PREFIX = "property "
MOST, LONGEST = 60, 200
"""Number of properties kept of one file, and of characters of a value."""
_SECRET = re.compile(
    r"pass|secret|token|credential|user(name)?$|keystore|truststore", re.IGNORECASE
)
_LOGIN = re.compile(r"(?<=://)[^/@\s]*@")
_ELSEWHERE = frozenset(
    {
        "threadcount",
        "cassandra.readconsistencylevel",
        "cassandra.writeconsistencylevel",
        "exportfile",
        "measurement.raw.output_file",
        "hdrhistogram.output.path",
    }
)
"""Kept under a name of their own, or names of files that each run has to itself."""
_OPTIONS: Mapping[str, str] = {"-target": "target", "-P": "workload file", "-db": ""}
_QUOTED = re.compile(r'"([\w.-]{1,80})"="([^"]*)"')
_COMMAND = "Command line:"
_SETTINGS_HEAD = re.compile(r"\*+ Stress Settings \*+")
_SECTION = re.compile(r"([A-Z][\w -]{0,40}):\s*")
_SETTING = re.compile(r"  ([A-Za-z][\w ()-]{0,60}): (.+)")
_STRESS_ELSEWHERE = frozenset({"Type", "Thread Count", "Consistency Level", "File", "Graph File"})


def of_command_line(lines: Iterable[str]) -> dict[str, str]:
    """YCSB's command line: `-p name=value`, `-target`, `-P`."""
    line = next((one for one in lines if one.startswith(_COMMAND)), "")
    return _kept(_options(line.removeprefix(_COMMAND).split()))


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for option, value in pairwise(words):
        if option == "-p":
            name, equals, text = value.partition("=")
            if equals:
                yield name, text
        elif _OPTIONS.get(option):
            yield _OPTIONS[option], value.rsplit("/", 1)[-1]


def of_quoted(lines: Iterable[str]) -> dict[str, str]:
    """go-ycsb's list of `"name"="value"`, in an order that differs from run to run."""
    found = (_QUOTED.fullmatch(line.strip()) for line in lines)
    return _kept(sorted((one[1], one[2]) for one in found if one is not None))


def of_settings(lines: Iterable[str]) -> dict[str, str]:
    """cassandra-stress's head: sections, and in them `Key: value`."""
    return _kept(_settings(lines))


def _settings(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    section, inside = "", False
    for line in lines:
        if _SETTINGS_HEAD.match(line):
            inside = True
        elif inside and (found := _SECTION.fullmatch(line)):
            section = found[1]
        elif inside and section and (found := _SETTING.fullmatch(line)):
            if found[1] not in _STRESS_ELSEWHERE:
                yield f"{section}: {found[1]}", found[2].strip()
        elif inside and section and line.strip() and not line.startswith(" "):
            return


def of_report(settings: Mapping[str, Any]) -> dict[str, str]:
    """A report's settings in JSON: `connection.addresses`, and lists in one line."""
    return _kept(_flat(settings))


def _flat(settings: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        whole = f"{path}{name}"
        if isinstance(value, dict):
            if not _SECRET.search(name):
                yield from _flat(value, f"{whole}.")
        elif isinstance(value, list):
            yield whole, ", ".join(map(_in_line, value))
        elif value is not None:
            yield whole, str(value)


def _in_line(value: Any) -> str:
    """One entry of a list: read 3.0."""
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def _kept(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in found:
        if name.lower() in _ELSEWHERE or _SECRET.search(name) or not name.isprintable():
            continue
        text = _LOGIN.sub("", "".join(c for c in value if c.isprintable()))[:LONGEST]
        if text and len(kept) < MOST:
            kept[f"{PREFIX}{name[:80]}"] = text
    return kept
