"""One word for several fields means the same wherever a study has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.study.conditions import expand
from tare.study.said import said_only, said_paths
from tare.study.schema import Database

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy, RefuseStudy

TEXT = """\
study: levels
database: {consistency: ALL, nodes: 3, replication_factor: 3}
factors:
  level:
    base: {}
    one: {database.consistency: ONE}
    nested: {database: {consistency: ONE}}
    reads: {database.consistency.read: ONE}
  writes:
    same: {}
    two: {database.consistency.write: TWO}
baseline: {level: base, writes: same}
"""

WHOLE = "{consistency: TWO, nodes: 3, replication_factor: 3}"


def levels(read: ReadStudy, *overrides: str) -> dict[str, tuple[str, str]]:
    """Condition to its levels of reads and writes."""
    found = {one.name: one.setup.database.consistency for one in expand(read(TEXT, overrides))}
    return {name: (one.read, one.write) for name, one in found.items()}


def test_one_word_is_the_level_of_reads_and_of_writes() -> None:
    both = Database.model_validate({"consistency": "LOCAL_QUORUM"})
    assert both.model_dump()["consistency"] == {"read": "LOCAL_QUORUM", "write": "LOCAL_QUORUM"}


def test_a_level_may_use_the_word_and_another_change_one_field_of_it(read: ReadStudy) -> None:
    assert levels(read) == {
        "base.same": ("ALL", "ALL"), "base.two": ("ALL", "TWO"),
        "one.same": ("ONE", "ONE"), "one.two": ("ONE", "TWO"),
        "nested.same": ("ONE", "ONE"), "nested.two": ("ONE", "TWO"),
        "reads.same": ("ONE", "ALL"), "reads.two": ("ONE", "TWO"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("overrides", "found"),
    [
        (["database.consistency=ONE"], ("ONE", "ONE")),
        (["database.consistency.read=ONE"], ("ONE", "ALL")),
        (["database.consistency=TWO", "database.consistency.read=ONE"], ("ONE", "TWO")),
        (["database.consistency.read=ONE", "database.consistency=TWO"], ("TWO", "TWO")),
        ([f"database={WHOLE}", "database.consistency.write=ONE"], ("TWO", "ONE")),
    ],
)
def test_overrides_change_what_they_name_and_leave_the_rest(
    read: ReadStudy, overrides: list[str], found: tuple[str, str]
) -> None:
    assert levels(read, *overrides, "factors.writes={same: {}}")["base.same"] == found


def test_a_word_says_both_fields(read: ReadStudy) -> None:
    study = read(TEXT)
    conditions = {one.name: one for one in expand(study)}
    for name, level in {"base.two": "ALL", "one.two": "ONE"}.items():
        one = conditions[name]
        said = said_only(one.setup.model_dump(mode="json"), said_paths(study, one.levels))
        assert said["database"]["consistency"] == {"read": level, "write": "TWO"}


def test_a_level_that_sets_a_field_and_the_word_sets_it_twice(refuse: RefuseStudy) -> None:
    twice = "{database.consistency: ONE, database.consistency.read: TWO}"
    error = refuse(TEXT.replace("{database.consistency: ONE}", twice))
    assert error.what.startswith("database.consistency.read: set twice by level one")
    assert error.where == "study.yaml:6"
