"""The machines of all kinds that are made for a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines import made
from tare.machines.made import made_for
from tare.study.domains import Domains
from tare.study.platform import Domain


class Made:
    """Machines of one kind, which log their start and end."""

    def __init__(self, kind: str, wanted: Sequence[Domains], log: list[str]) -> None:
        self.kind, self.log = kind, log
        self.directory = Path(kind)
        self.machines: Mapping[str, Any] = {one.group: one for one in wanted}

    def start(self, say: Callable[[str], None]) -> None:
        self.log.append(f"{self.kind} starts")

    def close(self) -> None:
        self.log.append(f"{self.kind} ends")
        if self.kind == "cell":
            raise RuntimeUnavailableError("one does not end")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []

    class Kind:
        def __init__(self, name: str) -> None:
            self.name = name

        def make(self, run: str, wanted: Sequence[Domains], say: Callable[[str], None]) -> Made:
            return Made(self.name, wanted, told)

    monkeypatch.setattr(made, "declared", Kind)
    return told


def wanted(group: str, kind: str) -> Domains:
    return Domains(group, 1, 1, "", 2**30, False, Domain(), kind)


def test_who_wants_none_is_asked_nothing(log: list[str]) -> None:
    assert made_for("run", [], print) is None
    assert log == []


def test_those_of_one_kind_are_that_kind_s(log: list[str]) -> None:
    found = made_for("run", [wanted("a", "jail"), wanted("b", "jail")], print)
    assert isinstance(found, Made)
    assert list(found.machines) == ["a", "b"]


def test_those_of_two_kinds_are_started_and_ended_together_whatever_becomes_of_one(
    log: list[str],
) -> None:
    found = made_for("run", [wanted("a", "cell"), wanted("b", "jail"), wanted("c", "cell")], print)
    assert found is not None
    assert list(found.machines) == ["a", "c", "b"]
    found.start(print)
    with pytest.raises(RuntimeUnavailableError, match="does not end"):
        found.close()
    assert log == ["cell starts", "jail starts", "cell ends", "jail ends"]
