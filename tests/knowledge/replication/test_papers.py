"""The list of shipped studies in `tare replicate --list`."""

from __future__ import annotations

from pathlib import Path

import pytest

import tare.knowledge.replication
from tare.knowledge.library import load_library
from tare.knowledge.replication import papers
from tare.knowledge.replication.papers import count_judged, kept_counts, shipped_papers, study_file
from tests.knowledge.sample import finding

LIBRARY = load_library(environment={})
KEPT = Path(tare.knowledge.replication.__path__[0]) / "judged.json"


def test_a_study_counts_the_findings_that_it_has_conditions_for() -> None:
    found = {one.name: one for one in shipped_papers(LIBRARY)}
    guests, volume = found["shirinbab-2020-guests"], found["grambow-2018-volume"]
    assert (guests.published, guests.findings) == (124, 0)
    assert 0 < volume.findings < volume.published == found["grambow-2018"].published


@pytest.mark.parametrize("paper", shipped_papers(LIBRARY), ids=lambda one: str(one.name))
def test_what_is_kept_is_what_is_counted(paper: papers.Paper) -> None:
    assert paper.findings == count_judged(study_file(paper.name), LIBRARY)


def test_counts_are_kept_of_the_studies_as_they_are() -> None:
    made = kept_counts(LIBRARY)
    assert KEPT.read_text(encoding="utf-8") == made, "write kept_counts(LIBRARY) to judged.json"


def test_with_other_findings_they_are_counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A team's knowledge base may add findings to a study."""
    monkeypatch.setattr(papers, "shipped_names", lambda: ["grambow-2018-volume"])
    before = shipped_papers(LIBRARY)[0]
    more = load_library(environment={})
    one = finding(id="grambow-2018.mine", study="grambow-2018")
    more.entries[one.id] = type(next(iter(more.entries.values())))(
        one, next(iter(more.entries.values())).work, "mine"
    )
    assert shipped_papers(more)[0].published == before.published + 1
