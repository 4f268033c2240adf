"""The database of an imported trial: as the study or the files say, and no default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.databases.registry import names
from tare.study.said import KIND, said_paths, says

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tare.analysis.model import Analysis
    from tare.records.manifest import ImportSource
    from tare.study.schema import Study

NOT_SAID = "not said"
_OF_ONE = {"cassandra-stress": "cassandra"}
"""Tools that load one database and no other."""
_BINDING = "database binding"


def stated_database(
    study: Study, levels: Mapping[str, str], kind: str, source: ImportSource
) -> str:
    """`cassandra`, `mongodb`, or empty where neither says it.

    Args:
        levels: the condition's.
        kind: the database in its document, which may be the default.
        source: what the trial was imported from.
    """
    if says(said_paths(study, levels), KIND):
        return kind
    told = source.told.get(_BINDING, "").lower()
    found = next((one for one in names() if one in told), "")
    return found or _OF_ONE.get(source.tool, "")


def said_of(analysis: Analysis, condition: str) -> Mapping[str, Any]:
    """What an imported run's study says of a condition, and the database of its files."""
    settings: Mapping[str, Any] = analysis.provenance.get("settings", {})
    return dict(settings.get(condition, {}))


def database_said(analysis: Analysis, conditions: Iterable[str]) -> str:
    """The database of all these conditions of an imported run; empty: not stated, or not the
    same."""
    kinds = {said_of(analysis, one).get("database", {}).get("kind", "") for one in conditions}
    return "" if len(kinds) != 1 or NOT_SAID in kinds else str(kinds.pop())
