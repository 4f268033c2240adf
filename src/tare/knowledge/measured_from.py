"""Makes the kept form of one of Tare's own replications from its analysis and study."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from tare.analysis.model import Analysis
from tare.knowledge.advice import FAMILIES, family
from tare.knowledge.derived import LONGEST_ID
from tare.knowledge.from_run import COMPUTED, About, findings_of
from tare.knowledge.measured import MeasuredRun
from tare.study.read import load_study

if TYPE_CHECKING:
    from pathlib import Path

    from tare.knowledge.schema import Finding

ANALYSIS = "analysis.json.gz"


def measured_from(directory: Path, about: MeasuredRun) -> MeasuredRun:
    """The run's effects on the kinds of metrics that advice covers.

    Args:
        directory: of docs/replications, with study.yaml and analysis.json.gz.
        about: the run's day, machine and caution; its findings and validity are made anew.
    """
    analysis = Analysis.model_validate_json(gzip.decompress((directory / ANALYSIS).read_bytes()))
    study = load_study(directory / "study.yaml")
    said = About(study=about.run, hardware=about.machine, machines=about.machines)
    made = findings_of(analysis, study, said).findings
    return about.model_copy(
        update={
            "valid": analysis.valid,
            "invalid": [one.summary for one in analysis.checks if one.status == "invalid"],
            "findings": [_kept(one, about.run) for one in made if family(one.metric) in FAMILIES],
        }
    )


def _kept(finding: Finding, run: str) -> Finding:
    """The finding without the analysis's details, under the kept run's name."""
    effect = finding.effect
    return finding.model_copy(
        update={
            "id": f"{run}.{finding.id.partition(COMPUTED)[2]}"[:LONGEST_ID],
            "notes": "",
            "effect": effect.model_copy(update={"mean_of": []}) if effect else None,
        }
    )


def written(run: MeasuredRun) -> str:
    """The text of its file: one finding per line."""
    head = run.model_dump_json(exclude_defaults=True, exclude={"findings"})
    lines = ",\n".join(one.model_dump_json(exclude_defaults=True) for one in run.findings)
    return f'{head[:-1]},"findings":[\n{lines}\n]}}\n'
