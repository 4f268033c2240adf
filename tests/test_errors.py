"""Every error that a user may see says what to do next."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tare
from tare import errors
from tare.cli.commands import COMMANDS, load
from tare.errors import TareError, UsageError

SOURCE = Path(tare.__file__).parent


def every_kind(kind: type[TareError]) -> dict[str, type[TareError]]:
    """The class and all its subclasses."""
    found = {kind.__name__: kind}
    for one in kind.__subclasses__():
        found |= every_kind(one)
    return found


def made(names: set[str]) -> list[tuple[str, ast.Call]]:
    """Places in the source that make an error of one of these classes."""
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
                found.append((f"{file.relative_to(SOURCE)}:{node.lineno}", node))
    return found


def without_remedy(calls: list[tuple[str, ast.Call]]) -> list[str]:
    lacking = []
    for place, call in calls:
        given = {one.arg: one.value for one in call.keywords}
        remedy = given.get("remedy")
        empty = isinstance(remedy, ast.Constant) and not remedy.value
        if None not in given and (remedy is None or empty):
            lacking.append(place)
    return lacking


def test_every_refusal_names_the_edit_to_make() -> None:
    kinds = every_kind(UsageError)
    assert len(kinds) >= 4
    calls = made(set(kinds))
    assert len(calls) > 80
    assert without_remedy(calls) == []


def test_every_other_error_has_a_remedy_of_its_own_or_of_its_kind() -> None:
    for name in COMMANDS:
        load(name)
    alone = {name for name, kind in every_kind(TareError).items() if not kind.usual}
    assert without_remedy(made(alone)) == []


@pytest.mark.parametrize("name", ["ClusterError", "LoadError", "RecordError", "ArtifactError"])
def test_the_remedy_of_its_kind_stands_where_an_error_has_none(name: str) -> None:
    kind = getattr(errors, name)
    assert f"try: {kind.usual}" in str(kind("it failed"))
    assert "try: wait" in str(kind("it failed", remedy="wait"))


def test_a_problem_of_a_study_has_its_four_parts() -> None:
    calls = made({"Problem", "Refusal", "problems.of"})
    assert len(calls) > 60
    short = [
        place
        for place, call in calls
        if len(call.args) + len(call.keywords) < 4
        and not any(isinstance(one, ast.Starred) for one in call.args)
    ]
    assert short == []
