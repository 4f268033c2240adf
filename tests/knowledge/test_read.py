"""Foreign knowledge files are read in full, or refused with the line; none can do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import KnowledgeError
from tare.knowledge.read import parse_knowledge, read_knowledge

GOOD = """\
format: 1
work: {id: mine, title: My own}
groups:
  - common:
      database: cassandra
      baseline: {runtime: native, network: host}
      treatment: {runtime: docker, network: bridge}
      operation: read
      metric: read.mean
      unit: ms
      hardware: a laptop
    findings:
      - id: mine.one
        values: {baseline: 1.0, treatment: 1.1}
        effect: {ratio: 1.1, direction: higher, how: two values}
        treatment: {network: published}
        source: {where: run 1}
"""


def refused(text: str) -> KnowledgeError:
    with pytest.raises(KnowledgeError) as caught:
        parse_knowledge(text, "mine.yaml")
    return caught.value


def test_common_fields_lie_under_each_finding_and_the_study_is_the_work() -> None:
    [one] = parse_knowledge(GOOD, "mine.yaml").findings
    assert one.study == "mine"
    assert one.treatment is not None
    assert (one.treatment.runtime, one.treatment.network) == ("docker", "published")


def test_an_unknown_field_is_refused_with_its_line() -> None:
    error = refused(GOOD + "        sauce: 1\n")
    assert error.where == "mine.yaml:18"
    assert "sauce" in error.what


def test_a_mistake_in_common_is_reported_where_it_was_written() -> None:
    error = refused(GOOD.replace("unit: ms", "unit: fortnights"))
    assert error.where == "mine.yaml:10"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- 1",
        "format: 1\nwork: {id: a, title: b}\n",
        "format: 2\nwork: {id: a, title: b}\ngroups: []\n",
        "format: 1\nwork: {id: a, title: b}\ngroups: [3]\n",
        "format: 1\nwork: {id: a, title: b}\ngroups: [{findings: [1]}]\n",
        "format: 1\nwork: {id: a, title: b}\ngroups: []\nextra: 1\n",
        "format: 1\nwork: !!python/object/apply:os.system [ls]\ngroups: []\n",
        "a: &a [*a]\n",
        "format: 1\nformat: 1\n",
        "groups: [[[[",
        GOOD.replace("1.1, direction", ".inf, direction"),
        GOOD.replace("id: mine.one", "id: ../../etc"),
        GOOD.replace("hardware: a laptop", 'hardware: "\\e[2J cleared"'),
    ],
)
def test_what_is_no_knowledge_file_is_refused(text: str) -> None:
    assert refused(text).where.startswith("mine.yaml")


def test_aliases_that_expand_without_end_are_refused() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    for last, name in zip("abcdef", "bcdefg", strict=True):
        bomb += f"{name}: &{name} [{','.join([f'*{last}'] * 10)}]\n"
    assert "too many" in refused(bomb).what


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_text("#" * (1024 * 1024 + 1))
    with pytest.raises(KnowledgeError, match="too large"):
        read_knowledge(path)


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(KnowledgeError, match="not text"):
        read_knowledge(path)
    with pytest.raises(KnowledgeError, match="cannot read"):
        read_knowledge(tmp_path / "none.yaml")
