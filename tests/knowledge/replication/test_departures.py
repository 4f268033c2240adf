"""Where a run departs from the study, findings are not judged, or are judged with a note."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tare.knowledge.replication.reference import make_reference
from tare.knowledge.replication.scorecard import make_scorecard
from tare.records.layout import RunFiles
from tests.knowledge.replication.published import (
    ANY_LOAD,
    AT_64,
    BRIDGE,
    NATIVE,
    PUBLISHED,
    printed,
    rows,
    scorecard,
)
from tests.knowledge.sample import library

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis
    from tare.knowledge.replication.model import Scorecard
    from tare.knowledge.schema import Finding

HEAP = "  heap: 512MiB\n"
CLIENT = "client:\n  machines: local\n  runtime: native\n  network: host\n"
T64 = "    t64:\n      load:\n        threads: 64\n"


def beside(
    run: Path, analysis: Analysis, place: Path, found: Finding, old: str, new: str
) -> Scorecard:
    """The run against a study that has `new` in place of the run's `old`."""
    text = RunFiles(run).study.read_text(encoding="utf-8")
    assert text.count(old) == 1
    study = place / "study.yaml"
    study.write_text(text.replace(old, new), encoding="utf-8")
    return make_scorecard(run, analysis, make_reference(study, library([found])))


NO_CLIENT = {"baseline": {**NATIVE, "client": None}, "treatment": {**BRIDGE, "client": None}}


@pytest.mark.parametrize(
    ("old", "new", "changes", "reason"),
    [
        (
            "network: bridge",
            "network: published",
            {"treatment": PUBLISHED},
            "platform.network bridge here, published in the study",
        ),
        (
            HEAP,
            f"{HEAP}  consistency: {{read: ONE, write: ONE}}\n",
            {},
            "database.consistency.read QUORUM here, ONE in the study; "
            "database.consistency.write QUORUM here, ONE in the study",
        ),
        (
            HEAP,
            f"{HEAP}  compaction: {{strategy: LCS}}\n",
            {},
            "database.compaction.strategy SizeTieredCompactionStrategy here, "
            "LeveledCompactionStrategy in the study",
        ),
        (
            HEAP,
            f"{HEAP}  key_cache: 0MiB\n",
            {},
            "database.key_cache auto here, 0 in the study",
        ),
        (
            "  nodes: 1\n",
            "  nodes: 3\n  replication_factor: 3\n",
            {"nodes": 3},
            "database.nodes 1 here, 3 in the study; "
            "database.replication_factor 1 here, 3 in the study",
        ),
        (
            "workload: ycsb-a",
            "workload: ycsb-b",
            {"workload": ["ycsb-b"]},
            "load.workload ycsb-a here, ycsb-b in the study",
        ),
        (
            CLIENT,
            "client:\n  machines: local\n  runtime: docker\n  network: bridge\n",
            NO_CLIENT,
            "client.runtime native here, docker in the study; "
            "client.network host here, bridge in the study",
        ),
    ],
)
def test_another_comparison_is_not_run_here(
    run: Path,
    analysis: Analysis,
    tmp_path: Path,
    old: str,
    new: str,
    changes: dict[str, object],
    reason: str,
) -> None:
    found = printed("one", -10.0, **AT_64, **changes)
    row = rows(beside(run, analysis, tmp_path, found, old, new))["one"]
    assert (row.verdict, row.ours) == ("not run here", None)
    assert row.reason == f"not as in the study: {reason}"


def test_another_size_is_judged_and_said(run: Path, analysis: Analysis, tmp_path: Path) -> None:
    new = "  heap: 256MiB\n  settings: {concurrent_writes: 8}\n"
    card = beside(run, analysis, tmp_path, printed("one", -10.0, **AT_64), HEAP, new)
    assert rows(card)["one"].verdict == "agrees"
    assert "heap: 512 MiB here, 256 MiB in the source" in card.differs
    assert "settings: none here, concurrent_writes 8 in the study" in card.differs


def test_pairs_that_are_as_in_the_study_are_judged_and_the_others_named(
    run: Path, analysis: Analysis, tmp_path: Path
) -> None:
    new = f"{T64}      database:\n        key_cache: 0MiB\n"
    found = printed("mean", -10.0, **ANY_LOAD)
    row = rows(beside(run, analysis, tmp_path, found, T64, new))["mean"]
    assert (row.verdict, row.notes) == (
        "agrees",
        [
            "over 1 of 2 pairs of conditions, without threads t64",
            "not as in the study: database.key_cache auto here, 0 in the study",
        ],
    )


@pytest.mark.parametrize(
    ("accelerator", "verdict", "reason"),
    [
        ("kvm", "agrees", ""),
        ("tcg", "not run here", "not as in the study: emulated by QEMU here"),
    ],
)
def test_what_an_emulated_processor_cost_is_not_judged(
    run: Path, tmp_path: Path, accelerator: str, verdict: str, reason: str
) -> None:
    emulated = shutil.copytree(run, tmp_path / "run")
    for path in (emulated / "trials").glob("*docker-bridge*/manifest.json"):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        manifest.setdefault("path", {})["hosts"] = {"one": {"domain": {"accelerator": accelerator}}}
        path.write_text(json.dumps(manifest), encoding="utf-8")
    row = rows(scorecard(emulated, printed("one", -10.0, **AT_64)))["one"]
    assert (row.verdict, row.reason) == (verdict, reason)
