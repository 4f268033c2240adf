"""Layers of shipped, team and personal knowledge: the last one wins, and says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tare.errors import KnowledgeError
from tare.knowledge.library import load_library
from tare.knowledge.schema import Finding, KnowledgeFile, Work
from tare.knowledge.write import knowledge_yaml
from tests.knowledge.sample import changed, finding

KNOWN = "grambow-2018.t3.10.read.server"


def base(path: Path, *findings: Finding, name: str = "mine.yaml") -> Path:
    path.mkdir(exist_ok=True)
    content = KnowledgeFile(format=1, work=Work(id="mine", title="Mine"), findings=list(findings))
    (path / name).write_text(knowledge_yaml(content, "for a test"))
    return path


def test_the_shipped_layer_is_always_there() -> None:
    entry = load_library(environment={}).entries[KNOWN]
    assert (entry.origin, entry.overrides) == ("shipped", "")


def test_a_later_layer_replaces_by_id_and_the_origin_is_kept(tmp_path: Path) -> None:
    team = base(tmp_path / "team", changed(9.0, id=KNOWN), finding(id="team-only"))
    own = base(tmp_path / "own", changed(8.0, id=KNOWN))
    environment = {"TARE_KNOWLEDGE": os.pathsep.join([str(team)])}
    entries = load_library([own], environment).entries
    assert entries[KNOWN].origin == str(own)
    assert entries[KNOWN].overrides == str(team)
    assert entries["team-only"].origin == str(team)
    effect = entries[KNOWN].finding.effect
    assert effect is not None
    assert effect.printed == 8.0


def test_one_id_twice_in_one_layer_is_refused(tmp_path: Path) -> None:
    base(tmp_path / "own", finding(), name="a.yaml")
    own = base(tmp_path / "own", finding(), name="b.yaml")
    with pytest.raises(KnowledgeError, match="given twice"):
        load_library([own], {})


def test_a_layer_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="no such knowledge base"):
        load_library([tmp_path / "none"], {})
