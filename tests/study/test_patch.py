"""Patches laid over documents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.study.patch import apply, assignments

BASE: dict[str, Any] = {
    "database": {"nodes": 1, "settings": {"a": 1, "b": {"c": 2}}, "jvm": ["-Xss1m"]},
    "load": {"threads": 32, "records": 100},
}


def patched(patch: dict[str, Any]) -> dict[str, Any]:
    return apply(BASE, assignments(patch))


def test_nested_and_dotted_paths_are_the_same_patch() -> None:
    nested = {"load": {"threads": 4}, "database": {"nodes": 3}}
    assert patched(nested) == patched({"load.threads": 4, "database.nodes": 3})
    assert patched(nested)["load"] == {"threads": 4, "records": 100}


def test_a_dotted_path_may_end_in_a_mapping() -> None:
    assert patched({"database.settings": {"a": 5}})["database"]["settings"] == {
        "a": 5,
        "b": {"c": 2},
    }


def test_free_mappings_take_new_keys_and_merge_old_ones() -> None:
    settings = patched({"database.settings.d": 1, "database": {"settings": {"b": {"e": 3}}}})
    assert settings["database"]["settings"] == {"a": 1, "b": {"c": 2, "e": 3}, "d": 1}


def test_dots_inside_a_free_mapping_belong_to_the_key() -> None:
    result = patched({"database": {"settings": {"x.y": 1}}})
    assert result["database"]["settings"]["x.y"] == 1


LABEL = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    "patch",
    [
        {"platform": {"placement": {"node_selector": {LABEL: "m1"}}}},
        {"platform.placement": {"node_selector": {LABEL: "m1"}}},
        {"platform.placement.node_selector": {LABEL: "m1"}},
        {f"platform.placement.node_selector.{LABEL}": "m1"},
    ],
)
def test_labels_of_machines_have_dots_however_they_are_written(patch: dict[str, Any]) -> None:
    assert patched(patch)["platform"]["placement"]["node_selector"] == {LABEL: "m1"}


def test_lists_are_replaced_whole() -> None:
    assert patched({"database.jvm": ["-Xss2m", "-Da=b"]})["database"]["jvm"] == ["-Xss2m", "-Da=b"]


def test_an_empty_mapping_changes_nothing() -> None:
    assert patched({"database": {}, "database.settings": {}}) == BASE
    assert patched({}) == BASE


def test_an_empty_list_is_a_value() -> None:
    assert patched({"database.jvm": []})["database"]["jvm"] == []


def test_an_assignment_remembers_how_it_was_written() -> None:
    (one,) = assignments({"database.compaction": {"options": {"min_threshold": 8}}})
    assert one.path == ("database", "compaction", "options", "min_threshold")
    assert one.written == ("database.compaction", "options", "min_threshold")


keys = st.text("abc", min_size=1, max_size=2)
values: st.SearchStrategy[Any] = st.integers() | st.lists(st.integers(), max_size=2)
documents = st.recursive(
    st.dictionaries(keys, values, max_size=3),
    lambda inner: st.dictionaries(keys, inner | values, max_size=3),
    max_leaves=8,
)


@given(documents, documents)
def test_applying_a_patch_twice_is_applying_it_once(
    base: dict[str, Any], patch: dict[str, Any]
) -> None:
    once = apply(base, assignments(patch))
    assert apply(once, assignments(patch)) == once


@given(documents, documents)
def test_the_base_is_never_changed(base: dict[str, Any], patch: dict[str, Any]) -> None:
    before = repr(base)
    apply(base, assignments(patch))
    assert repr(base) == before


@given(documents)
def test_a_document_over_itself_is_itself(document: dict[str, Any]) -> None:
    assert apply(document, assignments(document)) == document
