"""Parts of mongod.conf that would prevent starting, watching or comparing a member."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tare.databases.mongodb.wired_tiger import SMALLEST_CACHE, chosen_cache
from tare.study.quantities import GIB
from tare.study.setting_names import no_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.problems import ConditionProblems, Problem
    from tare.study.schema import Setup

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,99}")
"""Keys of the file's sections; a name with dots is refused with its own remedy."""
_ALWAYS_JOURNALS = (6, 1)
"""First release without storage.journal.enabled.
Source: MongoDB manual, Configuration File Settings and Command-Line Options Mapping."""
_OURS = "Tare sets it for each member, and finds the member by it"
_REFUSED = {
    "net.port": _OURS,
    "net.bindIp": _OURS,
    "net.bindIpAll": _OURS,
    "net.unixDomainSocket.pathPrefix": _OURS,
    "storage.dbPath": _OURS,
    "replication.replSetName": _OURS,
    "systemLog.path": "Tare collects the log where it has put it",
    "systemLog.destination": "Tare collects the log where it has put it",
    "processManagement.pidFilePath": _OURS,
    "processManagement.fork": "the server would leave the process that Tare watches",
    "security.authorization": "Tare forms the set without a user, on the study's own network",
    "security.keyFile": "it turns on authorization; Tare forms the set without a user",
    "storage.wiredTiger.engineConfig.cacheSizePct": "it is a share of the memory that the server "
    "sees, which may be the host's and not the unit's",
}
"""Settings and why they are refused, whatever their value."""


def setting_problems(setup: Setup, problems: ConditionProblems) -> Iterator[Problem]:
    """Parts of this condition's `database.settings` that cannot work."""
    settings = setup.database.settings
    yield from no_names(settings, _KEY, "storage", problems.origins)
    for name in _dotted(settings):
        nested = "{" + ": {".join(name.split(".")) + ": ...}" + "}" * name.count(".")
        why = "its parts could not be told from those that Tare sets"
        yield _problem(problems, name, why, f"write it nested: {nested}")
    for name, why in _REFUSED.items():
        if _of(settings, name) is not None:
            yield _problem(problems, name, why, "remove it")
    cache = chosen_cache(settings)
    if cache is not None and cache < SMALLEST_CACHE:
        yield _problem(
            problems,
            "storage.wiredTiger.engineConfig.cacheSizeGB",
            f"mongod takes no less than {SMALLEST_CACHE / GIB:g}",
            f"set it to at least {SMALLEST_CACHE / GIB:g}",
        )
    release = tuple(int(part) for part in setup.database.version.split("."))
    if _of(settings, "storage.journal.enabled") is not None and release >= _ALWAYS_JOURNALS:
        why = "MongoDB 6.1 and newer always keep a journal, and do not start with this setting"
        yield _problem(problems, "storage.journal.enabled", why, "remove it")


def _dotted(settings: Mapping[str, Any]) -> Iterator[str]:
    """Keys with dots, which mongod.conf may have, too; names of parameters are left alone."""
    for key, value in settings.items():
        if "." in key:
            yield key
        elif isinstance(value, Mapping) and key != "setParameter":
            yield from _dotted(value)


def _of(settings: Mapping[str, Any], name: str) -> object:
    place: Any = settings
    for part in name.split("."):
        place = place.get(part) if isinstance(place, Mapping) else None
    return place


def _problem(problems: ConditionProblems, name: str, why: str, remedy: str) -> Problem:
    field = "database.settings"
    return problems.of(field, name, why, remedy, at=f"{field}.{name}", against=field)
