"""From files on disk to verdicts: the known truth of synthetic runs is found again."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.analysis.model import Analysis, Effect
from tare.errors import RecordError
from tests.synthetic_run import QUICKSTART, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

TREATMENTS = ["native-again", "docker-host", "docker-bridge", "docker-published"]


def effect(analysis: Analysis, metric: str, treatment: str) -> Effect:
    (found,) = (e for e in analysis.effects if (e.metric, e.treatment) == (metric, treatment))
    return found


def test_every_treatment_is_compared_with_the_baseline_on_every_metric(
    quickstart: Analysis,
) -> None:
    assert quickstart.valid
    assert quickstart.baseline == "native"
    names = [metric.name for metric in quickstart.metrics]
    assert names[:4] == ["service_demand", "throughput", "all.mean", "all.p50"]
    assert names[4:7] == ["all.p95", "all.p99", "all.p999"]
    for name in set(names) - {"cpu.engine_per_op", "disk.write_kbps", "errors"}:
        assert [e.treatment for e in quickstart.effects if e.metric == name] == TREATMENTS


def test_the_intervals_hold_the_truth(quickstart: Analysis) -> None:
    for treatment in TREATMENTS:
        truth = QUICKSTART[treatment]
        found = effect(quickstart, "throughput", treatment)
        assert found.ci[0] < truth.throughput < found.ci[1]
        cpu = effect(quickstart, "cpu.server_per_op", treatment)
        assert cpu.ratio == pytest.approx(truth.server_cpu, rel=0.02)
        tail = effect(quickstart, "all.p99", treatment)
        assert tail.ratio == pytest.approx(truth.tail / truth.throughput, rel=0.05)


def test_verdicts(quickstart: Analysis) -> None:
    verdicts = {t: effect(quickstart, "throughput", t).verdict for t in TREATMENTS}
    assert verdicts == {
        "native-again": "equivalent",
        "docker-host": "equivalent",
        "docker-bridge": "different",
        "docker-published": "different",
    }
    assert effect(quickstart, "all.p99", "docker-bridge").verdict == "different within the margin"


def test_an_effect_says_what_it_rests_on(quickstart: Analysis) -> None:
    found = effect(quickstart, "throughput", "docker-published")
    assert (found.unit_of_analysis, found.deployments, found.blocks) == ("deployment", 3, 12)
    assert len(found.pairs) == 12
    assert found.ci[0] < found.ci90[0] < found.ratio < found.ci90[1] < found.ci[1]
    assert found.ci_unpooled is not None
    assert found.treatment_value / found.baseline_value == pytest.approx(found.ratio)
    assert found.primary
    assert found.adjustment == "Holm over 9 primary comparisons"
    assert found.p is not None
    assert found.p_adjusted is not None
    assert found.p_adjusted >= found.p
    assert found.needed == 0
    assert found.cohens_d is not None
    assert found.hedges_g is not None
    assert found.cohens_d < found.hedges_g < 0


def test_identical_conditions_are_controls_and_give_the_noise_floor(quickstart: Analysis) -> None:
    twin = effect(quickstart, "throughput", "native-again")
    assert twin.aa
    assert (twin.adjustment, twin.p_adjusted) == ("none", None)
    (floor,) = (f for f in quickstart.noise_floor if f.metric == "throughput")
    assert floor.conditions == ("native", "native-again")
    assert floor.deployment_floor is not None
    assert 0 < floor.deployment_floor < floor.floor < 0.05
    assert not floor.exceeds_margin


def test_a_metric_that_only_some_conditions_have_is_absent_elsewhere(quickstart: Analysis) -> None:
    """Only docker-published uses engine CPU; there is nothing to compare it with."""
    assert not [e for e in quickstart.effects if e.metric == "cpu.engine_per_op"]
    with_engine = {t.condition for t in quickstart.trials if "cpu.engine_per_op" in t.values}
    assert with_engine == {"docker-published"}


def test_series_are_on_one_grid_of_seconds(quickstart: Analysis) -> None:
    assert len(quickstart.series) == 60
    series = quickstart.series[0]
    assert series.t == [float(s) for s in range(1, 11)]
    assert set(series.values) == {
        "throughput", "p99", "server_cpu", "client_cpu", "machine_cpu", "disk_write", "disk_read",
        "network",
    }  # fmt: skip
    assert all(len(values) == 10 for values in series.values.values())
    (trial,) = (t for t in quickstart.trials if t.trial == series.trial)
    rates = [v for v in series.values["throughput"] if v is not None]
    assert sum(rates) / 10 == pytest.approx(trial.values["throughput"])
    assert series.values["machine_cpu"] == pytest.approx([1.45] * 10)


def test_conditions_are_summarised(quickstart: Analysis) -> None:
    base, twin = quickstart.conditions[:2]
    assert (base.condition, base.aa_of, base.trials, base.failed) == ("native", None, 12, 0)
    assert twin.aa_of == "native"
    rates = sorted(t.values["throughput"] for t in quickstart.trials if t.condition == "native")
    logs = [math.log(rate) for rate in rates]
    assert base.metrics["throughput"] == pytest.approx(math.exp(sum(logs) / 12))
    (median,) = (t for t in quickstart.trials if t.trial == base.median_trial)
    assert median.values["throughput"] == rates[5]


def test_provenance_tells_where_it_comes_from(quickstart: Analysis, quickstart_dir: Path) -> None:
    facts = quickstart.provenance
    assert facts["study"]["seed"] == 7
    assert facts["study"]["digest"].startswith("sha256:")
    assert facts["commands"]["native"]["n1"][0] == "java"
    assert list(facts["images"]["native"]) == []
    assert facts["images"]["docker-host"]["n1"].startswith("sha256:")
    assert facts["machine"]["kernel"] == ["6.8.0"]
    assert facts["times"]["trials"] == 60


def test_the_same_records_give_the_same_analysis_and_plain_json(
    quickstart: Analysis, quickstart_dir: Path
) -> None:
    text = quickstart.model_dump_json()
    assert analyse(quickstart_dir).model_dump_json() == text
    assert Analysis.model_validate(json.loads(text)) == quickstart


def test_one_deployment_gives_no_verdict(tmp_path: Path) -> None:
    analysis = analyse(write_run(tmp_path / "r", deployments=1))
    assert {e.verdict for e in analysis.effects} == {"inconclusive"}
    assert all(e.conditional and e.p is None for e in analysis.effects)
    assert effect(analysis, "throughput", "docker-published").ci[1] < 1
    assert effect(analysis, "throughput", "docker-host").needed == 2


def test_fresh_clusters_in_each_block_are_units_of_their_own(tmp_path: Path) -> None:
    analysis = analyse(write_run(tmp_path / "r", fresh="block", deployments=1, blocks=5))
    found = effect(analysis, "throughput", "docker-published")
    assert (found.unit_of_analysis, found.deployments, found.conditional) == ("block", 5, False)
    assert found.verdict == "different"


def test_two_factors_are_compared_one_at_a_time(tmp_path: Path) -> None:
    truths = {"native": Truth(), "docker-bridge": QUICKSTART["docker-bridge"]}
    analysis = analyse(
        write_run(tmp_path / "r", effects=truths, threads=(16, 64), within=0.005, between=0.005)
    )
    pairs = {(e.treatment, e.baseline): e.factor for e in analysis.effects}
    assert pairs == {
        ("native.t64", "native.t16"): "threads",
        ("docker-bridge.t16", "native.t16"): "platform",
        ("docker-bridge.t64", "native.t64"): "platform",
        ("docker-bridge.t64", "docker-bridge.t16"): "threads",
    }
    platform = [e for e in analysis.effects if (e.metric, e.factor) == ("throughput", "platform")]
    assert [e.ratio for e in platform] == pytest.approx([0.93, 0.93], rel=0.02)
    assert {e.adjustment for e in platform} == {"Holm over 6 primary comparisons"}


def test_several_clients_are_merged_by_histogram(tmp_path: Path) -> None:
    truths = {"native": Truth(), "docker": QUICKSTART["docker-host"]}
    run = write_run(tmp_path / "r", effects=truths, clients=2, rate=4000.0, deployments=1, blocks=2)
    analysis = analyse(run)
    trial = analysis.trials[0]
    assert trial.values["throughput"] == pytest.approx(4000, rel=0.2)
    everything = {
        (d.operation, d.kind): d for d in analysis.distributions if d.condition == "native"
    }
    ok = sum(
        client["ok"]
        for path in run.glob("trials/*-native/manifest.json")
        for client in json.loads(path.read_text())["clients"]
    )
    assert everything["ALL", "response"].count == ok
    assert everything["READ", "response"].count + everything["UPDATE", "response"].count == ok
    # open loop: the synthetic queue adds 5% to every response
    service = dict(everything["ALL", "service"].quantiles)
    response = dict(everything["ALL", "response"].quantiles)
    assert response[99.0] / service[99.0] == pytest.approx(1.05, rel=2e-3)


def test_a_directory_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="not the directory of a run"):
        analyse(tmp_path)
