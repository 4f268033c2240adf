"""A small study, and the resources of a lab that starts nothing: for tests that script the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.lab import run as lab_run
from tare.lab.run import Lab
from tare.lab.trial import failed_manifest

if TYPE_CHECKING:
    import pytest

    from tare.records.manifest import TrialManifest
    from tare.study.plan import Plan, PlannedTrial

TEXT = """\
study: small
load: {threads: 4}
factors: {platform: {native: {}, docker: {platform: {runtime: docker, network: bridge}}}}
baseline: {platform: native}
design: {idle_cpus: halt, blocks: 1, slice: off}
"""


class NoResources:
    runtimes: Any = None

    def environment(self) -> dict[str, Any]:
        return {}

    def close(self) -> list[Any]:
        return []


def without_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labs prepare nothing, take no lock, and remove nothing that dead runs left."""
    monkeypatch.setattr(lab_run, "prepare", lambda *_: NoResources())
    monkeypatch.setattr(lab_run, "RunLock", lambda *_: memoryview(b""))
    monkeypatch.setattr(Lab, "_sweep", lambda *_: None)


def measured(plan: Plan, trial: PlannedTrial) -> TrialManifest:
    """The record of a good trial, with nothing in it."""
    failed = failed_manifest("small", trial, plan.condition(trial.condition), 1, "", "")
    return failed.model_copy(update={"status": "done"})
