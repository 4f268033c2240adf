"""YAML files, friendly and hostile: plain data with lines, or a refusal with a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import StudyError
from tare.study.document import MOST_BYTES, parse_document, read_document

if TYPE_CHECKING:
    from pathlib import Path


def refusal(text: str) -> StudyError:
    with pytest.raises(StudyError) as caught:
        parse_document(text, "s.yaml")
    return caught.value


def test_every_key_and_item_has_its_line() -> None:
    document = parse_document("a:\n  b: 1\nc:\n- x\n- {d: 2}\n", "s.yaml")
    assert document.data == {"a": {"b": 1}, "c": ["x", {"d": 2}]}
    assert document.at == {
        (): "s.yaml:1",
        ("a",): "s.yaml:1",
        ("a", "b"): "s.yaml:2",
        ("c",): "s.yaml:3",
        ("c", 0): "s.yaml:4",
        ("c", 1): "s.yaml:5",
        ("c", 1, "d"): "s.yaml:5",
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("100_000", 100_000),
        ("0x10", 16),
        ("0o17", 15),
        ("-3", -3),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("5%", "5%"),
        ("yes", "yes"),
        ("true", True),
        ("~", None),
        ("'5.0'", "5.0"),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    parsed = parse_document(f"a: {text}", "s.yaml").data["a"]
    assert parsed == value
    assert type(parsed) is type(value)


def test_names_that_look_like_numbers_stay_as_written() -> None:
    assert parse_document("{1: a, true: b, 5.0: c}", "s.yaml").data == {
        "1": "a",
        "true": "b",
        "5.0": "c",
    }


def test_an_alias_repeats_what_it_names() -> None:
    assert parse_document("a: &x {n: 1}\nb: *x", "s.yaml").data == {"a": {"n": 1}, "b": {"n": 1}}


def test_a_key_given_twice_names_both_lines() -> None:
    error = refusal("load:\n  threads: 1\n  rate: 2\n  threads: 3\n")
    assert error.what == "load.threads: given twice"
    assert error.where == "s.yaml:4"
    assert "s.yaml:2" in error.why


def test_a_syntax_error_names_its_line() -> None:
    assert refusal("a: 1\nb: [1, 2\nc: 3\n").where == "s.yaml:3"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: !!python/object/apply:os.system [id]", "tag"),
        ("a: !!binary aGk=", "tag"),
        ("a: &x [*x]", "alias that contains itself"),
        ("a: &x {b: 1}\nc:\n  <<: *x", "merge keys"),
        ("? [a, b]\n: 1", "no name"),
        ("a: .inf", "not a number"),
        ("a: .nan", "not a number"),
        ("a: " + "9" * 400, "not a number"),
        ("a: " + "9" * 5000, "not a number"),
        ("a: 0x" + "f" * 5000, "not a number"),
        ("a: 1e999", "not a number"),
        ("a: " + "[" * 60 + "]" * 60, "nested too deeply"),
        ("a: " + "[" * 20_000, "nested too deeply"),
        ("a: 1\n---\nb: 2", "not valid YAML"),
        ("a: \x00", "not valid YAML"),
        ("a: *unknown", "not valid YAML"),
    ],
)
def test_what_no_study_needs_is_refused(text: str, what: str) -> None:
    error = refusal(text)
    assert what in error.what
    assert error.where.startswith("s.yaml")
    assert error.why


def test_aliases_that_multiply_are_stopped() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert refusal("\n".join(lines)).what == "too many values"


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as caught:
        read_document(tmp_path / "none.yaml")
    assert "No such file" in caught.value.why
    assert caught.value.exit_code == 2


def test_a_directory_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="cannot read"):
        read_document(tmp_path)


def test_a_file_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(b"study: x\nquestion: \xff\n")
    with pytest.raises(StudyError) as caught:
        read_document(path)
    assert caught.value.where == f"{path}:2"


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(StudyError, match="too large"):
        read_document(path)


@given(st.text(max_size=200))
def test_any_text_is_data_or_a_refusal(text: str) -> None:
    try:
        document = parse_document(text, "s.yaml")
    except StudyError as error:
        assert error.where.startswith("s.yaml")
    else:
        assert () in document.at
