"""A published study for tests: the study of a synthetic run, with findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis.analyse import analyse
from tare.knowledge.replication.reference import make_reference
from tare.knowledge.replication.scorecard import make_scorecard
from tare.records.layout import RunFiles
from tests.knowledge.sample import changed, finding, library
from tests.synthetic_run import docker
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis
    from tare.knowledge.replication.model import Row, Scorecard
    from tare.knowledge.schema import Finding

NATIVE = {"runtime": "native", "network": "host", "storage": "directory", "client": "native"}
BRIDGE = {"runtime": "docker", "network": "bridge", "storage": "volume", "client": "native"}
PUBLISHED = {**BRIDGE, "network": "published"}
PAIR = {"native": Truth(), "docker-bridge": Truth(throughput=0.90, patch=docker("bridge"))}
"""Throughput in Docker is 90% of native."""
AT_64 = {"load": {"share": None, "threads": 64}}
ANY_LOAD = {"load": {"share": None, "threads": None, "label": "all"}}
_THROUGHPUT = {
    "study": "synthetic",
    "baseline": NATIVE,
    "treatment": BRIDGE,
    "operation": "all",
    "load": {"share": None, "threads": 32},
    "metric": "throughput",
    "unit": "operations/s",
}


def printed(name: str, percent: float, **changes: Any) -> Finding:
    """A finding that prints a change of throughput."""
    return changed(percent, id=name, **{**_THROUGHPUT, **changes})


def direction(name: str, word: str, **changes: Any) -> Finding:
    """A finding that states only a direction."""
    effect = {"ratio": None, "direction": word, "how": "direction"}
    values = {"baseline": None, "treatment": None}
    return finding(id=name, effect=effect, values=values, **{**_THROUGHPUT, **changes})


def scorecard(run: Path, *findings: Finding, analysis: Analysis | None = None) -> Scorecard:
    """The scorecard of the run against these findings of its study."""
    reference = make_reference(RunFiles(run).study, library(findings))
    return make_scorecard(run, analysis or analyse(run), reference)


def rows(card: Scorecard) -> dict[str, Row]:
    """Finding to its row."""
    return {row.finding: row for row in card.rows}
