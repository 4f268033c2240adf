"""Each kind of machines has a consistent declaration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines import registry
from tare.machines.declaration import MachinesDeclaration


@pytest.mark.parametrize("name", registry.names())
def test_what_a_declaration_says_agrees_with_itself(name: str) -> None:
    own = registry.declared(name)
    assert own.name == name
    assert [own.here, own.from_inventory, own.made].count(True) <= 1
    assert own.made == (type(own).make is not MachinesDeclaration.make)
    assert own.in_words
    assert bool(own.no_proposal) == own.guest
    assert own.recorded({}) is False


def test_a_maker_s_name_tells_one_kind() -> None:
    makers = [maker for one in registry.registered().values() for maker in one.makers]
    assert len(makers) == len(set(makers))


def test_what_is_not_installed_here_is_of_no_kind_and_records_of_it_are_read() -> None:
    assert registry.of_record({"platform": {"machines": "cloud"}}) is None
    assert registry.of_record({}) is registry.declared(registry.HERE)
    assert registry.emulated({"cloud": 1}) is False
    assert registry.made_in_words({"cloud": 1}) == "by what is not installed here"


def test_who_makes_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailableError, match="local makes no machines"):
        registry.declared("local").make("run", [], print)
