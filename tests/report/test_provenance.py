"""Provenance as flat facts."""

from __future__ import annotations

from typing import Any

from tare.report import provenance


def test_sections_become_dotted_facts() -> None:
    found = provenance.sections(
        {
            "seed": 7,
            "study": {"load": {"threads": 32, "rate": None}},
            "units": [{"name": "n1"}, {"name": "n2"}],
            "commands": {"n1": ["java", "-Xmx512m"]},
        }
    )
    assert found == [
        ("general", [("seed", "7")]),
        ("study", [("load.threads", "32"), ("load.rate", "none")]),
        ("units", [("1.name", "n1"), ("2.name", "n2")]),
        ("commands", [("n1", "java -Xmx512m")]),
    ]


def test_long_values_and_sections_are_cut_with_a_word() -> None:
    many = {f"s{i}": i for i in range(provenance.SECTION_LENGTH + 5)}
    ((_, facts), (_, long)) = provenance.sections({"settings": many, "x": {"log": "y" * 9999}})
    assert facts[-1] == ("…", "5 more in analysis.json")
    assert len(long[0][1]) < provenance.VALUE_LENGTH + 5


def test_a_bottomless_document_ends() -> None:
    deep: dict[str, Any] = {}
    inner = deep
    for _ in range(500):
        inner["a"] = {}
        inner = inner["a"]
    ((_, facts),) = provenance.sections({"deep": deep})
    assert len(facts) == 1
