"""Trials in slices: what they show, what they cannot show, and possible faults of slices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tare.analysis.analyse import analyse
from tests.analysis.checked import check
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import NO_OTHERS, Truth

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tare.analysis.model import Analysis

BRIDGE = Truth(throughput=0.9, server_cpu=1.1, patch=docker("bridge"))
TWO = {"native": Truth(), "native-again": Truth(), "docker-bridge": BRIDGE}


def run(place: Path, **scene: Any) -> Path:
    small: dict[str, Any] = {
        "effects": TWO, "blocks": 2, "measure_s": 2, "seed": 3, "between": 0.01, "within": 0.01,
    }  # fmt: skip
    return write_run(place / "r", slice_s=0.25, **(small | scene))


@pytest.fixture(scope="module")
def sliced(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analyse(run(tmp_path_factory.mktemp("sliced")))


def test_nothing_that_slices_do_not_have_is_called_damage(sliced: Analysis) -> None:
    assert {c.status for c in sliced.checks} == {"ok"}
    assert sliced.valid
    assert check(sliced, "records").summary == "all records are whole"
    assert check(sliced, "steady").summary == (
        "no drift over the blocks; trials in slices have no series for MSER-5"
    )


def test_no_series_is_invented(sliced: Analysis) -> None:
    assert sliced.series == []
    assert all(t.steady is None and not t.change_points for t in sliced.trials)
    assert not {"cpu.util", "cpu.softirq", "disk.write_kbps"} & {m.name for m in sliced.metrics}


def test_throughput_latency_and_service_demand_are_as_of_one_piece(sliced: Analysis) -> None:
    truths = {"throughput": 0.9, "service_demand": (180 * 1.1 + 60) / 240, "all.p99": 1 / 0.9}
    for metric, truth in truths.items():
        (found,) = (
            e for e in sliced.effects if (e.metric, e.treatment) == (metric, "docker-bridge")
        )
        assert found.primary
        assert found.ratio == pytest.approx(truth, rel=0.05)


def test_modes_come_from_the_counters_and_add_up_to_service_demand(sliced: Analysis) -> None:
    for trial in sliced.trials:
        assert trial.beside["cpu.softirq_per_op"] == pytest.approx(30.0, rel=0.05)
        names = ("user", "system", "softirq", "background")
        parts = sum(trial.beside[f"cpu.{name}_per_op"] for name in names)
        assert parts == pytest.approx(trial.values["service_demand"])


def test_counts_of_samples_and_rates_over_the_clock_are_left_out(tmp_path: Path) -> None:
    place = run(tmp_path)
    for file in place.glob("trials/*/manifest.json"):
        facts = json.loads(file.read_text())
        facts["server"] = {"gc.allocated_bytes_per_s": 1e6, "gc.pauses": 3.0}
        file.write_text(json.dumps(facts))
    beside = analyse(place).trials[0].beside
    assert "gc.pauses_per_million" in beside
    assert not {"gc.allocated_bytes_per_op", "os.context_switches_per_op"} & beside.keys()


def test_a_damaged_histogram_of_a_sliced_trial_is_still_damage(tmp_path: Path) -> None:
    place = run(tmp_path)
    next(place.glob("trials/*/latency-c1.hlog")).unlink()
    assert check(analyse(place), "records").status == "warning"


def test_the_sampler_is_judged_by_the_time_that_was_driven(tmp_path: Path) -> None:
    place = run(tmp_path)
    for file in place.glob("trials/*/manifest.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"probe_cpu_s": 0.224}))
    found = check(analyse(place), "observer")
    assert found.summary == "the sampler used up to 10% of a core"  # of 8 slices of 0.28 s


def test_other_work_is_named_with_its_trials_and_what_to_do(tmp_path: Path) -> None:
    place = run(
        tmp_path,
        slices={
            "D1-B01-native": {"disturbed": 4, "other_cpu_s": 1.6},
            "D1-B02-native": {"disturbed": 0, "other_cpu_s": 0.2},
        },
    )
    found = check(analyse(place), "other work")
    assert found.status == "warning"
    assert found.summary.startswith("Other programs used 0.8 cores in 1 of 18 trials: stop them")
    assert found.details == ["D1-B01-native: 4 of 8 slices, 0.8 cores"]


@pytest.mark.parametrize(
    ("cores", "server", "client", "status"),
    [
        (0.5, "0", "1", "warning"),
        (0.09, "0", "1", "ok"),  # of two CPUs 5% are 0.1 cores
        (0.5, "0-31", None, "ok"),
        (0.5, None, None, "ok"),  # nobody tells how many there are
    ],
)
def test_work_that_goes_on_throughout_disturbs_no_short_slice_and_is_told(
    tmp_path: Path, cores: float, server: str | None, client: str | None, status: str
) -> None:
    """A program that always takes half a core of two disturbs no single short slice."""
    place = run(tmp_path, slices={"D1-B01-native": {"other_cpu_s": cores * 8 * 0.25}})
    for file in place.glob("trials/*/manifest.json"):
        record = json.loads(file.read_text())
        for unit in record["units"]:
            if unit["role"] == "database" and server:
                unit["parity"]["cpus allowed"] = server
            if unit["role"] == "client":
                unit["limits"]["cpuset"] = client
        file.write_text(json.dumps(record))
    found = check(analyse(place), "other work")
    assert found.status == status
    assert f"{cores:.2g} cores" in found.summary
    assert found.details == [f"D1-B01-native: 0 of 8 slices, {cores:.2g} cores"] * (status != "ok")


@pytest.mark.parametrize(("operations", "status"), [(1, "ok"), (20, "warning"), (500, "invalid")])
def test_operations_that_were_cut_off_hold_the_pause(
    tmp_path: Path, operations: int, status: str
) -> None:
    place = run(tmp_path, slices={"D1-B01-native": {"undrained": operations}})
    analysis = analyse(place)
    found = check(analysis, "undrained")
    assert (found.status, analysis.valid) == (status, status != "invalid")
    assert "no reply when" in found.summary
    assert "not in their latency" in found.summary or "not in its latency" in found.summary
    assert found.details[0].startswith("D1-B01-native: ")
    assert ("raise design.drain" in found.summary) == (status != "ok")


@pytest.mark.parametrize(("server_s", "status"), [(1.5, "ok"), (2.5, "warning")])
def test_a_rate_that_only_the_drains_let_servers_keep(
    tmp_path: Path, server_s: float, status: str
) -> None:
    """Eight slices of a quarter of a second on one CPU have two seconds of CPU time."""
    place = run(tmp_path)
    file = place / "trials/D1-B01-native/manifest.json"
    record = json.loads(file.read_text())
    record["setup"]["load"]["rate"] = 1000
    for unit in record["units"]:
        unit["parity"]["cpus allowed"] = "0"
    used = record["machine_cpu_s"] - record["server_cpu_s"] + server_s
    file.write_text(json.dumps(record | {"server_cpu_s": server_s, "machine_cpu_s": used}))
    found = check(analyse(place), "overload")
    assert found.status == status
    assert len(found.details) == (status == "warning")


@pytest.mark.parametrize(("share", "status"), [(0.98, "ok"), (1.12, "warning")])
def test_servers_that_used_more_than_their_cpus_by_the_utilisation_law(
    tmp_path: Path, share: float, status: str
) -> None:
    """Throughput times the servers' CPU time per operation, of one CPU."""
    place = run(tmp_path)
    file = place / "trials/D1-B01-native/manifest.json"
    record = json.loads(file.read_text())
    per_s, ok = (sum(one[key] for one in record["clients"]) for key in ("throughput", "ok"))
    for unit in record["units"]:
        unit["parity"]["cpus allowed"] = "0"
    file.write_text(json.dumps(record | {"server_cpu_s": share * ok / per_s}))
    found = check(analyse(place), "utilisation")
    assert found.status == status
    assert (f"D1-B01-native: {100 * share:.3g}%" in found.details) == (status == "warning")


@pytest.mark.parametrize(("late", "status"), [(0, "ok"), (2, "warning")])
def test_late_slices(tmp_path: Path, late: int, status: str) -> None:
    place = run(tmp_path, slices={"D1-B01-native": {"late": late}})
    found = check(analyse(place), "late slices")
    assert found.status == status
    assert bool(found.details) == bool(late)


def test_servers_that_were_not_stopped_are_a_note_with_the_reason(tmp_path: Path) -> None:
    why = {"frozen": False, "why_not_frozen": "a pod cannot be stopped"}
    place = run(tmp_path, slices={"D1-B01-native": why})
    found = check(analyse(place), "standstill")
    assert found.status == "ok"
    assert found.summary.endswith("a pod cannot be stopped")
    assert found.details == ["native: a pod cannot be stopped"]


def test_of_trials_in_one_piece_nothing_is_said_of_slices(quickstart: Analysis) -> None:
    names = {c.name for c in quickstart.checks}
    assert not {"undrained", "other work", "late slices", "standstill"} & names


def with_paces(place: Path, slower: float, unpaced: Sequence[str] = ()) -> Path:
    """The run with the pace of every trial's slices, which docker-bridge makes slower."""
    for number, trial in enumerate(sorted(place.glob("trials/D*"))):
        if trial.name in unpaced:
            continue
        record = json.loads((trial / "manifest.json").read_text())
        record["slices"] |= {"paced": True}
        (trial / "manifest.json").write_text(json.dumps(record))
        pace = 7 + 0.01 * (number * 5 % 7) + slower * (record["condition"] == "docker-bridge")
        rows = [
            {
                "unix": float(n),
                "ops": 500,
                "seconds": 0.28,
                "machine_cpu_s": 0.25,
                **NO_OTHERS,
                "pace": pace,
            }
            for n in range(8)
        ]
        (trial / "slices.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


@pytest.mark.parametrize(("slower", "status"), [(0.0, "ok"), (0.1, "warning")])
def test_a_pace_that_depends_on_the_condition_is_told(
    tmp_path: Path, slower: float, status: str
) -> None:
    found = check(analyse(with_paces(run(tmp_path), slower)), "pace")
    assert found.status == status
    assert [d.split(":")[0] for d in found.details] == ["docker-bridge over native"] * bool(slower)


@pytest.mark.parametrize("why", ["", "no rights"])
@pytest.mark.parametrize(("slower", "status"), [(0.0, "ok"), (0.1, "warning")])
def test_trials_without_a_pace_are_named_and_the_others_are_tested(
    tmp_path: Path, slower: float, status: str, why: str
) -> None:
    place = run(tmp_path, slices={"D1-B01-native": {"why_not_paced": why}})
    found = check(analyse(with_paces(place, slower, unpaced=["D1-B01-native"])), "pace")
    assert found.status == status
    assert found.details[-1] == f"D1-B01-native: not sampled{', no rights' if why else ''}"
    assert len(found.details) == 1 + bool(slower)
    if not slower:
        assert "not at all, in 1 trial: no term of the fit in their blocks" in found.summary


def test_why_there_is_no_pace_is_a_note_and_records_of_before_say_nothing(tmp_path: Path) -> None:
    place = run(tmp_path / "a", slices={"D1-B01-native": {"why_not_paced": "no rights"}})
    assert check(analyse(place), "pace").summary.endswith("no rights")
    assert "pace" not in {one.name for one in analyse(run(tmp_path / "b")).checks}


@pytest.mark.parametrize(
    ("gap_s", "status"), [(0.2, "ok"), (0.24, "ok"), (0.26, "invalid"), (0.3, "invalid")]
)
def test_a_slice_without_an_answer_is_told(tmp_path: Path, gap_s: float, status: str) -> None:
    """In a short trial, a tenth of the trial beside a drain."""
    place = run(tmp_path)  # trials of 8 slices of 0.25 s with drains of 0.03 s
    path = place / "trials" / "D1-B01-native" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["clients"][0]["longest_gap_s"] = gap_s
    path.write_text(json.dumps(manifest))
    assert check(analyse(place), "answers").status == status


@pytest.mark.parametrize(("silent", "status"), [(0, "ok"), (1, "invalid")])
def test_slices_without_an_answer_are_told_whatever_the_longest_gap(
    tmp_path: Path, silent: int, status: str
) -> None:
    place = run(tmp_path)  # trials of 8 slices
    path = place / "trials" / "D1-B01-native" / "slices.jsonl"
    rows = [
        {"unix": float(number), "ops": 0 if number < silent else 500, "seconds": 0.28,
         "machine_cpu_s": 0.25, **NO_OTHERS}
        for number in range(8)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert check(analyse(place), "answers").status == status


def served_together(place: Path) -> Path:
    """The container gets a second condition: `native-again` is served by it, too."""
    for file in place.glob("trials/*-native-again/manifest.json"):
        record = json.loads(file.read_text())
        record["deployment"] = record["deployment"].replace("native-again", "docker-bridge")
        file.write_text(json.dumps(record))
    return place


def test_a_server_that_is_driven_more_often_than_the_one_beside_it_is_named(tmp_path: Path) -> None:
    found = check(analyse(served_together(run(tmp_path))), "equally driven")
    assert found.status == "warning"
    assert "docker-bridge: 16 slices a block, native: 8 slices" in found.details


EQUALLY = {f"D{r}-B0{b}-native": {"count": 16} for r in (1, 2, 3) for b in (1, 2)}
"""The native server has as many slices as the container with its two conditions."""


def test_blocks_that_were_driven_unequally_are_named_whatever_came_after_them(
    tmp_path: Path,
) -> None:
    later = {name: own for name, own in EQUALLY.items() if not name.startswith("D1-")}
    found = check(analyse(served_together(run(tmp_path, slices=later))), "equally driven")
    assert found.status == "warning"
    assert "docker-bridge: 16 slices a block, native: 8 slices, in 2 of 6 blocks" in found.details


@pytest.mark.parametrize("unequal", [False, True])
def test_a_trial_that_failed_makes_no_server_look_less_driven(
    tmp_path: Path, unequal: bool
) -> None:
    slices = EQUALLY | ({"D1-B02-native": {"count": 8}} if unequal else {})
    place = run(tmp_path, slices=slices, failed=["D3-B02-native-again"])
    found = check(analyse(served_together(place)), "equally driven")
    assert found.status == ("warning" if unequal else "ok")
    named = "native-again: 16 slices a block, native: 8 slices, in 1 of 5 blocks"
    assert found.details[:1] == [named] * unequal
