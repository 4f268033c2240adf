"""Whether a file's facts on its load agree with the study's condition that it is for.

Only what the study's file itself says is compared: nobody stated a default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.databases.registry import names
from tare.study.said import KIND, Paths, said_paths, says

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tare.imports.file_content import FileReading
    from tare.study.conditions import Condition
    from tare.study.schema import Study

TOOLS = ("ycsb", "cassandra-stress")
"""Tools whose operations are the same as the study's workloads'."""
SHARES: Mapping[str, Mapping[str, float]] = {
    "ycsb-a": {"read": 0.5, "update": 0.5},
    "ycsb-b": {"read": 0.95, "update": 0.05},
    "ycsb-c": {"read": 1.0},
    "ycsb-d": {"read": 0.95, "insert": 0.05},
    "ycsb-e": {"scan": 0.95, "insert": 0.05},
    "ycsb-f": {"read": 0.5, "rmw": 0.25, "update": 0.25},
    "stress-mixed": {"read": 0.5, "write": 0.5},
    "stress-read": {"read": 1.0},
    "stress-write": {"write": 1.0},
}
"""Workload to its operations and their shares: YCSB's core workloads, cassandra-stress's types.

As printed: both halves of F's read-modify-writes are also counted among reads and updates.
"""
SHARE_SLACK = 0.1
"""Shares may differ by this much: operations are drawn at random, and some fail. The ratio of
cassandra-stress's mixed load is not compared, because it draws whole clusters of one operation."""
LEAST_OPERATIONS = 500
"""With fewer, a rare operation may be absent by chance: (1 - 0.05)^500 is below 1e-11."""

_WORKLOAD = ("load", "workload")
_THREADS = ("load", "threads")


@dataclass
class StatedLoads:
    """The study's statements on each condition's load, compared with files."""

    study: Study
    _said: dict[str, Paths] = field(default_factory=dict)

    def contradiction(self, tool: str, condition: Condition, reading: FileReading) -> str:
        """Why the file cannot be of this condition; empty if nothing contradicts it."""
        if not reading.summary or tool not in TOOLS:
            return ""
        return next(self._contradictions(condition, reading), "")

    def unchecked(self, tool: str, condition: Condition, reading: FileReading) -> list[str]:
        """A sentence on what the study says and the file does not; none if the file says it."""
        if not reading.summary:
            return []
        open_ = []
        if self._workload(condition) and (tool not in TOOLS or not reading.counts):
            open_.append("workload")
        if self._says(condition, _THREADS) and "threads" not in reading.facts:
            open_.append("threads")
        if any(
            self._says(condition, ("database", "consistency", side)) for side in ("read", "write")
        ) and not (_consistency(reading) or "consistency" in reading.facts):
            open_.append("consistency")
        if not open_:
            return []
        return [f"not checked against the study, for the file does not tell it: {', '.join(open_)}"]

    def _contradictions(self, condition: Condition, reading: FileReading) -> Iterator[str]:
        kind, binding = condition.setup.database.kind, reading.told.get("database binding")
        if binding in names() and binding != kind and self._says(condition, KIND):
            yield f"the study says {kind} for {condition.name}, its content was of {binding}"
        workload = self._workload(condition)
        if workload and (reason := _other_operations(workload, reading.counts)):
            yield reason
        threads = reading.facts.get("threads")
        said = str(condition.setup.load.threads)
        if threads is not None and self._says(condition, _THREADS) and threads != said:
            yield f"the study says {said} threads for {condition.name}, its content {threads}"
        found = _consistency(reading)
        for side, wanted in condition.setup.database.consistency:
            told = found.get(side)
            if not told or told == str(wanted).upper():
                continue
            if self._says(condition, ("database", "consistency", side)):
                yield (
                    f"the study says consistency {wanted} ({side}s) for {condition.name}, its "
                    f"content {told}"
                )

    def _workload(self, condition: Condition) -> str:
        """The study's workload, or the one in the name of a level that changes nothing."""
        if self._says(condition, _WORKLOAD):
            return condition.setup.load.workload
        for factor, level in condition.levels.items():
            if level in SHARES and not self.study.factors[factor][level]:
                return level
        return ""

    def _says(self, condition: Condition, path: tuple[str, ...]) -> bool:
        """Whether the study's file sets this field for the condition."""
        if condition.name not in self._said:
            self._said[condition.name] = said_paths(self.study, condition.levels)
        return says(self._said[condition.name], path)


def _other_operations(workload: str, counts: Mapping[str, float]) -> str:
    """How a file's operations differ from the workload's; empty: they do not."""
    total = sum(counts.values())
    if not total:
        return ""
    expected = SHARES.get(workload)
    if expected is None:
        return ""
    has = " and ".join(sorted(counts))
    words = f"the study says {workload} ({' and '.join(expected)})"
    if set(counts) == {"insert"} and workload.startswith("ycsb-"):
        return f"{words}, its content has insert only: the load phase, in which tables are filled"
    if set(counts) - set(expected) or (total >= LEAST_OPERATIONS and set(expected) - set(counts)):
        return f"{words}, its content has {has}"
    for operation, share in expected.items():
        found = counts.get(operation, 0.0) / total
        far = abs(found - share) > SHARE_SLACK and total >= LEAST_OPERATIONS
        if far and workload != "stress-mixed":
            return f"{words} with {share:.0%} {operation}, its content has {found:.0%}"
    return ""


def _consistency(reading: FileReading) -> dict[str, str]:
    """Read or write to the level that the file prints for it, if any."""
    both = reading.facts.get("consistency")
    sides = {
        side: level
        for side in ("read", "write")
        if (level := reading.told.get(f"{side} consistency", both)) is not None
    }
    used = {"read": "read" in reading.counts, "write": bool(reading.counts.keys() - {"read"})}
    return {side: level.upper() for side, level in sides.items() if used[side]}
