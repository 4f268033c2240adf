"""Known changes of CPU time are found in the right part, and none is claimed where it is hidden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tare.analysis.analyse import analyse
from tare.analysis.catalogue import OWNERS
from tare.analysis.model import Analysis, CostSplit, Why
from tare.analysis.why.changes import correlation
from tare.analysis.why.explanation import explain
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

PARTS = ("user", "system", "softirq")
LEVELS = {"native": Truth(), "native-again": Truth(), "bridge": Truth(patch=docker("bridge"))}


def rewrite(run: Path, costs: dict[str, dict[str, float]], *, noise: float, seed: int = 3) -> None:
    """Give every trial machine CPU by mode: condition to microseconds per operation of each."""
    rng = np.random.default_rng(seed)
    lives: dict[str, np.ndarray] = {}
    for file in sorted(run.glob("trials/*/manifest.json")):
        record: dict[str, Any] = json.loads(file.read_text())
        ok = sum(client["ok"] for client in record["clients"])
        life = lives.setdefault(record["deployment"], rng.normal(0, noise, 3))
        each = np.array([costs[record["condition"]][part] for part in PARTS])
        each = each + life + rng.normal(0, noise, 3)
        seconds = dict(zip(PARTS, (each * ok / 1e6).tolist(), strict=True))
        record["machine_modes_s"] = seconds | {"nice": 0.0, "irq": 0.0, "steal": 0.0}
        record["machine_cpu_s"] = sum(seconds.values())
        server = 0.7 * sum(seconds.values())
        record["server_cpu_s"] = server
        record["server"] = {"cpu.gc_s": 0.1 * server, "gc.pauses": 4.0, "gc.pause_s": 0.1}
        record["server"] |= {f"cpu.{n}_s": 0.05 * server for n in ("jit", "flush")}
        record["server"] |= {"cpu.compaction_s": 0.0, "cpu.network_s": 0.1 * server}
        file.write_text(json.dumps(record))


COSTS = {
    "native": {"user": 80.0, "system": 20.0, "softirq": 5.0},
    "native-again": {"user": 80.0, "system": 20.0, "softirq": 5.0},
    "bridge": {"user": 80.0, "system": 25.0, "softirq": 14.0},
}


def analysed(place: Path, noise: float, seed: int = 3, **design: Any) -> Analysis:
    run = write_run(place / "run", effects=LEVELS, measure_s=4, ops_per_s=2000.0, **design)
    rewrite(run, COSTS, noise=noise, seed=seed)
    return analyse(run)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analysed(tmp_path_factory.mktemp("quiet"), 0.5, seed=4)


def of(analysis: Analysis, treatment: str) -> Why:
    (found,) = [why for why in analysis.why if why.treatment == treatment]
    return found


def split(why: Why, by: str) -> CostSplit:
    (found,) = [one for one in why.splits if one.by == by]
    return found


def test_the_change_is_found_in_the_parts_where_it_was_made(quiet: Analysis) -> None:
    modes = split(of(quiet, "bridge"), "mode")
    assert modes.whole.difference == pytest.approx(14.0, abs=2.0)
    truth = {"cpu.user_per_op": 0.0, "cpu.system_per_op": 5.0, "cpu.softirq_per_op": 9.0}
    for part in modes.parts[:3]:
        low, high = part.ci
        assert low < truth[part.metric.name] < high
        assert part.clear == (truth[part.metric.name] != 0)


def test_parts_add_up_to_the_whole_exactly(quiet: Analysis) -> None:
    for why in quiet.why:
        for one in why.splits:
            assert sum(p.difference for p in one.parts) == pytest.approx(one.whole.difference)
            assert sum(p.baseline for p in one.parts) == pytest.approx(one.whole.baseline)
            assert sum(p.treatment for p in one.parts) == pytest.approx(one.whole.treatment)


def test_shares_add_up_and_have_intervals_that_hold_the_truth(quiet: Analysis) -> None:
    modes = split(of(quiet, "bridge"), "mode")
    assert sum(p.share or 0.0 for p in modes.parts) == pytest.approx(1.0)
    for part, truth in zip(modes.parts[:3], (0.0, 5 / 14, 9 / 14), strict=True):
        assert part.share_ci is not None
        assert part.share_ci[0] < truth < part.share_ci[1]


def test_the_sentence_says_what_is_clear_and_names_what_is_hidden(quiet: Analysis) -> None:
    owners, modes, *_ = of(quiet, "bridge").sentences
    assert owners.startswith("Summed over whole trials, service demand changed by +1")
    assert "\u00b5s/operation: +" in owners
    assert owners.index("the database (7") < owners.index("everything else")
    assert owners.endswith("the load client: not beyond the noise.")
    assert modes.startswith("By the kernel's modes, which are sampled, it changed by +1")
    assert "] are in interrupts and soft interrupts (6" in modes  # 9 of 14 are 64%
    assert modes.index("interrupts and soft interrupts") < modes.index("the kernel on behalf")
    assert modes.endswith("user code: not beyond the noise.")


def test_modes_that_are_too_uncertain_are_said_to_be_beside_owners_that_are_not(
    quiet: Analysis,
) -> None:
    why = of(quiet, "bridge")
    unsure = [
        one.model_copy(update={"whole": one.whole.model_copy(update={"clear": one.by != "mode"})})
        for one in why.splits
    ]
    owners, modes, *_ = explain(why.model_copy(update={"splits": unsure}))
    assert "are in the database" in owners
    assert modes == "Its change by the kernel's modes is too uncertain to divide."


def test_identical_conditions_explain_nothing(quiet: Analysis) -> None:
    why = of(quiet, "native-again")
    assert why.aa
    assert not any(part.clear for one in why.splits for part in one.parts)
    assert all(part.share is None for part in split(why, "mode").parts)
    assert "too uncertain to divide among its parts" in why.sentences[0]
    assert sum("service demand" in s for s in why.sentences) == 1  # divided twice, said once


def test_noise_that_hides_the_change_leaves_nothing_to_share_out(tmp_path: Path) -> None:
    why = of(analysed(tmp_path, 40.0), "bridge")
    assert all(part.share is None for one in why.splits for part in one.parts)
    assert not any("are in interrupts" in text for text in why.sentences)


def test_one_deployment_is_said_to_be_no_more(tmp_path: Path) -> None:
    why = of(analysed(tmp_path, 0.5, deployments=1, blocks=4), "bridge")
    assert why.conditional
    assert why.sentences[-1].startswith("All of this holds for these very deployments only")


def test_independent_repetitions_are_no_pairs_and_find_the_same(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", effects=LEVELS, measure_s=4, ops_per_s=500.0, blocks=2)
    rewrite(run, COSTS, noise=0.5)
    with (run / "study.yaml").open("a") as study:
        study.write("analysis: {pairing: none}\n")
    why = of(analyse(run), "bridge")
    assert (why.unit_of_analysis, why.units) == ("repetition", 3)  # deployments, not trials
    modes = split(why, "mode")
    assert modes.whole.difference == pytest.approx(14.0, abs=2.5)
    assert modes.whole.ci[0] < 14.0 < modes.whole.ci[1]
    assert all(part.share_ci is None for part in modes.parts)


def test_counts_of_machine_and_database_are_beside(quiet: Analysis) -> None:
    names = {change.metric.name for change in of(quiet, "bridge").beside}
    assert {"gc.pause_per_op", "net.bytes_per_op", "disk.write_bytes_per_op"} <= names
    trial = next(t for t in quiet.trials if t.condition == "bridge")
    assert names <= trial.beside.keys()
    assert not names & trial.values.keys() - set(OWNERS)


def test_a_correlation_needs_enough_blocks(quiet: Analysis) -> None:
    """Three rounds of four blocks leave nine degrees of freedom, one round of four only three."""
    gc = next(c for c in of(quiet, "bridge").beside if c.metric.name == "gc.pause_per_op")
    assert gc.correlation.keys() == {"all.mean", "all.p99"}
    cells = {(1, block): float(block) for block in range(1, 5)}
    assert correlation(cells, cells, 8) is None


def test_a_correlation_is_of_blocks_inside_rounds() -> None:
    """Differences between rounds alone do not correlate, however large."""
    first = {(r, b): 100.0 * r + b for r in (1, 2, 3) for b in (1, 2, 3, 4)}
    same = {cell: -value for cell, value in first.items()}
    other = {(r, b): 100.0 * r + (-1) ** b for r, b in first}
    assert correlation(first, same, 8) == pytest.approx(-1.0)
    assert abs(correlation(first, other, 8) or 0.0) < 0.5
    assert correlation(first, dict.fromkeys(first, 1.0), 8) is None


def test_records_without_counters_still_tell_what_the_samples_hold(quickstart: Analysis) -> None:
    assert quickstart.why
    assert {one.by for one in quickstart.why[0].splits} == {"mode", "unit"}


def test_events_reach_the_series(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", effects=LEVELS, measure_s=4, ops_per_s=500.0, blocks=2)
    place = sorted((run / "trials").iterdir())[0]
    start = json.loads((place / "manifest.json").read_text())["measure_start"]
    rows = [
        (start - 5, start + 1, "compaction", {"table": "ycsb.usertable"}),
        (start + 2, start + 2.5, "compaction", {"table": "system.local"}),
        (start + 3, start + 3.1, "gc pause", {}),
        (start + 3, start + 3.25, "gc pause", {}),
        (start + 90, start + 91, "compaction", {"table": "ycsb.usertable"}),
    ]
    lines = [{"from": a, "to": b, "what": what, "detail": d} for a, b, what, d in rows]
    (place / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (series,) = [s for s in analyse(run).series if s.trial == place.name]
    assert series.events == [
        (0.0, 1.0, "compaction"),
        (pytest.approx(3.0), pytest.approx(3.25), "gc pause"),
    ]
