"""File names with fields: reading a name returns the values that made it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.study.template import LONGEST_NAME, Template, TemplateError

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="_/"), min_size=1, max_size=20)


@given(client=TEXT, server=TEXT, repetition=st.integers(1, 99))
def test_what_is_put_in_is_read_out(client: str, server: str, repetition: int) -> None:
    template = Template.parse("run-{client}_{server}_{repetition}.txt")
    found = template.match(f"run-{client}_{server}_{repetition}.txt")
    assert found == {"client": client, "server": server, "repetition": str(repetition)}


@given(st.text(max_size=200))
def test_any_name_is_read_in_one_way_or_not_at_all(name: str) -> None:
    template = Template.parse("{a}_{b}.txt")
    found = template.match(name)
    if found is not None:
        assert name.endswith(f"{found['a']}_{found['b']}.txt")
        assert "_" not in found["a"]


def test_a_field_ends_where_the_text_after_it_first_occurs() -> None:
    assert Template.parse("{a}_{b}").match("x_y_z") == {"a": "x", "b": "y_z"}


def test_a_field_that_occurs_twice_holds_the_same_text() -> None:
    template = Template.parse("{a}_{a}_{b}")
    assert template.fields == ("a", "b")
    assert template.match("x_x_1") == {"a": "x", "b": "1"}
    assert template.match("x_y_1") is None


def test_an_underscore_field_is_ignored() -> None:
    assert Template.parse("{_}-{a}.txt").match("what-ever-x.txt") == {"a": "ever-x"}


def test_a_template_looks_at_as_many_directories_as_it_names() -> None:
    template = Template.parse("{platform}/{repetition}.txt")
    assert template.parts == 2
    assert template.match("/somewhere/docker/3.txt") == {"platform": "docker", "repetition": "3"}
    assert Template.parse("{repetition}.txt").match("/a/b/3.txt") == {"repetition": "3"}


def test_signs_of_regular_expressions_are_plain_text() -> None:
    assert Template.parse("(a+)*[{x}].txt").match("(a+)*[1].txt") == {"x": "1"}


def test_an_endless_name_is_not_matched() -> None:
    assert Template.parse("{a}_{b}").match("x" * LONGEST_NAME + "_y") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{a}{b}", "side by side"),
        ("{a}{_}", "side by side"),
        ("plain.txt", "no {field}"),
        ("{a", "brace"),
        ("a}_{b}", "brace"),
        ("{}", "not a field"),
        ("{a b}", "not a field"),
    ],
)
def test_a_template_that_tells_nothing_is_refused(text: str, why: str) -> None:
    with pytest.raises(TemplateError, match=why):
        Template.parse(text)


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("run-{a}.txt", "result-x.txt", "it does not begin with 'run-'"),
        ("{a}_{b}.txt", "x.txt", "{a} would begin at 'x.txt', and no '_' follows it"),
        ("{a}_{b}.txt", "x_y.log", "{b} would begin at 'y.log', and no '.txt' follows it"),
        ("{a}_{b}.txt", "x_y.txt.gz", "'.gz' is left over at its end"),
        ("{a}_{a}.txt", "x_y.txt", "a field is empty, or has two values"),
    ],
)
def test_where_a_name_stops_fitting_is_said(text: str, name: str, why: str) -> None:
    template = Template.parse(text)
    assert template.match(name) is None
    assert template.misfit(name) == why
