"""Other differences between two runs are reported, but not those that always exist."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from tare.analysis.comparison.differing import differing

if TYPE_CHECKING:
    from tare.analysis.comparison.model import ProvenanceDifference
    from tare.analysis.model import Analysis

PAIRS = [("native", "native"), ("docker-host", "docker-host")]


def differences(a: Analysis, **sections: Any) -> dict[str, ProvenanceDifference]:
    b = a.model_copy(update={"provenance": deepcopy(a.provenance)})
    for name, change in sections.items():
        b.provenance[name] = change(b.provenance.get(name))
    return {d.fact: d for d in differing(a, b, PAIRS)}


def with_(**facts: Any) -> Any:
    return lambda section: {**(section or {}), **facts}


def test_nothing_differs_between_a_run_and_itself(quickstart: Analysis) -> None:
    assert differing(quickstart, quickstart, PAIRS) == []


def test_kernel_version_and_database_are_named_with_both_values(quickstart: Analysis) -> None:
    found = differences(
        quickstart, database=with_(version="4.1.5"), machine=with_(kernel=["6.1.0"])
    )
    assert (found["version"].a, found["version"].b) == ("5.0.9", "4.1.5")
    assert (found["kernel"].section, found["kernel"].b) == ("machine", "6.1.0")


def test_a_setting_recorded_on_one_side_only_is_a_difference(quickstart: Analysis) -> None:
    found = differences(quickstart, database=with_(settings={"num_tokens": "16", "trie": "on"}))
    assert list(found) == ["settings.trie"]
    assert found["settings.trie"].a == "not recorded"


def test_addresses_directories_and_free_memory_explain_nothing(quickstart: Analysis) -> None:
    settings = {
        "num_tokens": "16",
        "broadcast_address": "127.0.0.9",
        "data_file_directories": "/elsewhere",
    }
    machine = {"memory_available": 1, "disk_free": 2, "hostname": "other"}
    found = differences(
        quickstart, database=with_(settings=settings), environment=with_(machine=machine)
    )
    assert found == {}


def test_the_seed_is_named_once_and_the_digest_never(quickstart: Analysis) -> None:
    design = quickstart.provenance["study"]["design"]
    found = differences(
        quickstart, study=with_(seed=99, digest="sha256:0", design={**design, "seed": 99})
    )
    assert list(found) == ["seed"]


def test_a_difference_of_one_setup_names_its_condition(quickstart: Analysis) -> None:
    def more_threads(settings: dict[str, Any]) -> dict[str, Any]:
        settings["native"]["load"]["threads"] = 64
        return settings

    found = differences(quickstart, settings=more_threads)
    assert list(found) == ["load.threads"]
    assert (found["load.threads"].b, found["load.threads"].conditions) == ("64", ["native"])


def test_other_files_under_all_conditions_are_one_difference(quickstart: Analysis) -> None:
    def other(bits: dict[str, Any]) -> dict[str, Any]:
        return {name: dict.fromkeys(units, "sha256:other") for name, units in bits.items()}

    found = [
        d
        for d in differences(quickstart, bits=other).values()
        if d.section == "bits" and d.fact == "database"
    ]
    assert [(d.b, d.conditions) for d in found] == [("sha256:other", [])]


def test_what_was_imported_is_told_fact_by_fact(quickstart: Analysis) -> None:
    a = quickstart.model_copy(update={"provenance": deepcopy(quickstart.provenance)})
    b = a.model_copy(update={"provenance": deepcopy(a.provenance)})
    for run, tool in ((a, "ycsb"), (b, "go-ycsb")):
        run.provenance["environment"]["imports"] = [{"tool": tool, "files": 4}]
    found = differing(a, b, PAIRS)
    assert [(d.fact, d.a, d.b) for d in found] == [("imports.tool", "ycsb", "go-ycsb")]
