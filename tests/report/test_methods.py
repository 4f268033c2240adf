"""The methods paragraph says what was done, and what is unknown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.report.methods import methods_paragraph, under_load, ways_taken
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

from .sample import sample_analysis

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    effects = {
        "native": Truth(),
        "native-again": Truth(),
        "docker-bridge": Truth(throughput=0.9, patch=docker("bridge")),
    }
    place = tmp_path_factory.mktemp("runs") / "small"
    return analyse(
        write_run(place, effects=effects, blocks=2, measure_s=3, failed=["D1-B01-docker-bridge"])
    )


def test_it_says_what_was_run_and_how(measured: Analysis) -> None:
    text = methods_paragraph(measured)
    for said in (
        "Apache Cassandra 5.0.9 on 1 node",
        "Java 17.0.12",
        "native, native-again and docker-bridge (platform)",
        "ycsb-a, over 10,000 rows, closed loop with 32 operations in flight",
        "Every trial measured 3 s after 2 s that were left out, in one piece.",
        "in random order (seed 7), over 3 rounds",
        "deployed every condition's cluster anew",
        "the unit of analysis is the deployment",
        "margins that the study declares (5% for service demand; 5% for throughput; 10% for 99th "
        "percentile latency)",
        "Intervals: t interval over 3 deployments, variance pooled over 3 conditions",
        "Holm over primary comparisons (a family of 3)",
        "Identical conditions (A/A) differed by up to",
        "Identical deployments differed by ",
        "1 trial failed and entered no effect.",
        "Analysed with Tare 0.",
    ):
        assert said in text
    assert "\n" not in text


def test_the_way_of_each_condition_is_told_where_they_differ() -> None:
    paths = {
        "native": {"n1": "loopback of the host", "n2": "loopback of the host"},
        "docker": {"n1": "bridge and veth pair", "n2": "loopback of the container"},
    }
    analysis = sample_analysis().model_copy(update={"provenance": {"paths": paths}})
    assert ways_taken(analysis) == {
        "native": "loopback of the host",
        "docker": "bridge and veth pair and loopback of the container",
    }
    del paths["docker"]
    assert ways_taken(analysis.model_copy(update={"provenance": {"paths": paths}})) == {}


def test_the_answer_names_its_load_and_what_service_demand_is(measured: Analysis) -> None:
    assert under_load(measured) == (
        "Load: ycsb-a, 32 operations in flight; another load pays another share. Service demand is "
        "CPU time per operation."
    )
    files = {**measured.provenance, "sources": {"ycsb": 3}}
    assert under_load(measured.model_copy(update={"provenance": files})) == ""


def test_trials_in_slices_may_have_measured_several_times_as_long(measured: Analysis) -> None:
    study = {**measured.provenance["study"], "design": {"slice": "20ms"}}
    one_server = [t.model_copy(update={"deployment": "D1-docker-1"}) for t in measured.trials]
    provenance = {**measured.provenance, "study": study}
    sliced = measured.model_copy(update={"provenance": provenance, "trials": one_server})
    text = methods_paragraph(sliced)
    assert "Every trial measured 3 s or a multiple of it after 2 s that were left out" in text
    assert "ways that others are compared with, had more slices" in text


def test_many_conditions_are_counted_once(measured: Analysis) -> None:
    many = measured.model_copy(update={"conditions": measured.conditions * 5})
    assert ", in 15 conditions (platform)." in methods_paragraph(many)


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ("poll", "Its idle CPUs polled and did not halt."),
        ("halt", "Its idle CPUs halted."),
        ("halt (/dev/cpu_dma_latency: Permission denied)", "Its idle CPUs halted."),
    ],
)
def test_what_idle_cpus_did_is_said(measured: Analysis, recorded: str, said: str) -> None:
    environment = {"machine": {"cpus": 2}, "idle_cpus": recorded}
    provenance = {**measured.provenance, "environment": environment}
    assert said in methods_paragraph(measured.model_copy(update={"provenance": provenance}))


def test_runs_that_did_not_record_their_idle_cpus_say_nothing_of_them(measured: Analysis) -> None:
    provenance = {**measured.provenance, "environment": {"machine": {"cpus": 2}}}
    text = methods_paragraph(measured.model_copy(update={"provenance": provenance}))
    assert "idle" not in text


def test_slices_are_told_and_why_there_are_none(tmp_path: Path) -> None:
    """plan.json keeps the reason; the study keeps only the choice."""
    sliced = write_run(tmp_path / "sliced", blocks=1, measure_s=3, slice_s=0.25)
    text = methods_paragraph(analyse(sliced))
    assert "in slices of 0.25 s, in turn with the other conditions of its block. Ratios" in text
    whole = write_run(tmp_path / "whole", blocks=1, measure_s=3)
    plan = json.loads((whole / "plan.json").read_text())
    chosen = {"slicing": {"asked": "auto", "length_s": None, "why_not": "a reason"}}
    (whole / "plan.json").write_text(json.dumps(plan | chosen))
    analysis = analyse(whole)
    assert "left out, in one piece (not in slices: a reason)." in methods_paragraph(analysis)
    study = analysis.provenance["study"]
    assert study["slicing"] == {"asked": "auto", "why_not": "a reason"}
    assert study["design"]["slice"] == "off"


def test_what_nobody_planned_was_not_in_slices(tmp_path: Path) -> None:
    """The study of imported files or of an old run may say `auto`, and no plan says more."""
    run = write_run(tmp_path / "before", blocks=1, measure_s=3)
    study = (run / "study.yaml").read_text()
    assert "slice: off" in study
    (run / "study.yaml").write_text(study.replace("slice: off", "slice: auto"))
    assert analyse(run).provenance["study"]["design"]["slice"] == "off"


def test_what_is_not_recorded_is_called_unknown(measured: Analysis) -> None:
    text = methods_paragraph(measured)
    assert "The machine is not recorded." in text, "synthetic runs have no environment.json"
    measured = measured.model_copy(update={"noise_floor": []})
    assert "the noise floor is unknown" in methods_paragraph(measured)


def test_the_machine_is_described_where_it_is_known(measured: Analysis) -> None:
    machine = {
        "cpus": 8,
        "cpu_model": "Example CPU",
        "memory_bytes": 32 * 2**30,
        "kernel": "6.8.0",
        "virtualization": "kvm",
    }
    facts = measured.provenance | {"environment": {"machine": machine}}
    text = methods_paragraph(measured.model_copy(update={"provenance": facts}))
    expected = "The machine had 8 CPUs (Example CPU), 32.0 GiB of memory, Linux 6.8.0, under kvm."
    assert expected in text


def test_imported_files_name_their_tool_and_what_is_unknown(measured: Analysis) -> None:
    facts = {**measured.provenance, "sources": {"ycsb": 360}}
    run = measured.model_copy(update={"provenance": facts})
    assert run.imported
    text = methods_paragraph(run)
    assert "imported by Tare: 360 files of ycsb" in text
    assert "order of the trials" in text
    assert "warm-up are unknown" in text
    for never in ("in random order", "anew", "warmed up until", "ycsb-a"):
        assert never not in text


def test_ways_to_the_database_are_told_where_they_differ(measured: Analysis) -> None:
    one = {"n1": "docker0, translated"}
    for ways, said in (
        ({"a": one, "b": {"n1": "the machine's own network"}}, "The ways to the database: docker0"),
        ({"a": one, "b": one}, ""),
    ):
        facts = {**measured.provenance, "paths": ways}
        text = methods_paragraph(measured.model_copy(update={"provenance": facts}))
        assert ("The ways to the database" in text) == bool(said)
        assert said in text


def test_a_run_without_effects_or_provenance_still_has_a_paragraph() -> None:
    analysis = sample_analysis()
    analysis.effects, analysis.noise_floor, analysis.provenance = [], [], {}
    text = methods_paragraph(analysis)
    assert "No effect could be computed." in text
    assert "The design of the run is not recorded." in text


def test_an_invalid_run_says_so_in_its_methods() -> None:
    analysis = sample_analysis()
    analysis.valid, analysis.problems = False, ["errors: 3% of the operations failed"]
    text = methods_paragraph(analysis)
    assert "The run is not valid: errors: 3% of the operations failed." in text
