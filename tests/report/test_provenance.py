"""Provenance as a flat list of facts."""

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


def test_what_conditions_share_is_said_once_and_what_differs_with_its_levels() -> None:
    levels = {
        f"{platform}.{threads}": {"platform": platform, "threads": threads}
        for platform in ("native", "docker")
        for threads in ("8", "32")
    }
    settings = {
        name: {"seed": 7, "load": {"threads": int(own["threads"])}, "pin": name == "native.8"}
        for name, own in levels.items()
    }
    ((_, facts),) = provenance.sections({"settings": settings}, levels)
    assert facts == [
        ("seed", "7"),
        ("load.threads (threads 8)", "8"),
        ("pin (platform native, threads 8)", "yes"),
        ("load.threads (threads 32)", "32"),
        ("pin (native.32, docker.8, docker.32)", "no"),
    ]
