"""A block's slices fitted together: known effects are found through bursts and drifts."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.analysis import slices
from tare.analysis.slices import (
    COSTS,
    SliceArrays,
    SliceRow,
    _masks,
    arrange,
    conditions_of,
    observe,
    terms_of,
)
from tare.records.layout import TrialFiles
from tests.synthetic_trial import NO_OTHERS

if TYPE_CHECKING:
    from pathlib import Path


def table(seed: int, passes: int, effects: list[float], bursts: float = 0.0) -> np.ndarray:
    """Logs of passes by conditions: a random walk, noise of 3%, and bursts of up to threefold."""
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(0, 0.05, passes))
    noise = rng.normal(0, 0.03, (passes, len(effects)))
    hit = rng.random((passes, len(effects))) < bursts
    return walk[:, None] + np.array(effects) + noise + hit * rng.uniform(0.2, 1.1, noise.shape)


def test_without_noise_the_effects_are_found_exactly() -> None:
    passes = np.linspace(1, 2, 20)[:, None]
    found = conditions_of(passes + np.array([0.0, 0.01, -0.01]))
    assert found == pytest.approx([0.0, 0.01, -0.01], abs=1e-12)


def test_of_one_condition_alone_nothing_is_open() -> None:
    terms = terms_of(arrange(table(1, 40, [0.0]).ravel(), [0] * 40, [0]))
    assert terms.effects.tolist() == terms.errors.tolist() == [0.0]


def test_bursts_cost_little_precision() -> None:
    effects = [0.0, 0.02, 0.05]
    plain, fitted = [], []
    for seed in range(200):
        logs = table(seed, 100, effects, bursts=0.1)
        plain.append(logs.mean(0)[2] - logs.mean(0)[0])
        found = conditions_of(logs)
        fitted.append(found[2] - found[0])
    assert np.mean(fitted) == pytest.approx(0.05, abs=0.001)
    assert np.std(fitted) < np.std(plain) / 2.5


def test_under_normal_noise_next_to_nothing_is_lost() -> None:
    plain, fitted = [], []
    for seed in range(400):
        logs = table(seed, 60, [0.0, 0.0])
        plain.append(logs.mean(0)[1] - logs.mean(0)[0])
        found = conditions_of(logs)
        fitted.append(found[1] - found[0])
    assert np.std(fitted) < 1.06 * np.std(plain)


@pytest.mark.parametrize(("bursts", "within"), [(0.0, 0.08), (0.1, 0.15)])
def test_the_noise_of_slices_is_how_far_effects_stray(bursts: float, within: float) -> None:
    strayed, told = [], []
    for seed in range(300):
        logs = table(seed, 60, [0.0, 0.0, 0.0], bursts)
        order = np.random.default_rng(seed).permuted(np.tile(np.arange(3), (60, 1)), axis=1)
        driven = np.take_along_axis(logs, order, axis=1).ravel()
        terms = terms_of(arrange(driven, list(order.ravel()), [0, 0, 0]))
        strayed.append(terms.effects[0])
        told.append(terms.errors[0])
    # effects sum to 0: of three, one strays by two thirds of a lone mean's variance
    assert np.mean(told) == pytest.approx(np.std(strayed) / np.sqrt(2 / 3), rel=within)


def paced(seed: int, *, slope: float, lack: float = 0.0) -> SliceArrays:
    """Three conditions of one server with effects 0, 2 and 5%, whose cost follows the pace.

    Args:
        lack: sd of what a sample of the pace misses.
    """
    rng = np.random.default_rng(seed)
    order = rng.permuted(np.tile(np.arange(3), (60, 1)), axis=1)
    logs = np.take_along_axis(table(seed, 60, [0.0, 0.02, 0.05]), order, axis=1).ravel()
    pace = 7.0 + rng.choice([0.0, 0.4], logs.size)
    observed = arrange(logs + slope * pace, list(order.ravel()), [0, 0, 0])
    return observed._replace(pace=pace + rng.normal(0, lack, logs.size))


def test_what_the_pace_of_the_cpu_does_is_taken_off() -> None:
    with_it, without, told, slopes = [], [], [], []
    for seed in range(200):
        observed = paced(seed, slope=0.7)
        terms = terms_of(observed)
        with_it.append(terms.effects[2] - terms.effects[0])
        told.append(terms.errors[0])
        slopes.append(terms.slope)
        plain = terms_of(observed._replace(pace=None)).effects
        without.append(plain[2] - plain[0])
    assert np.mean(with_it) == pytest.approx(0.05, abs=0.002)
    assert np.std(with_it) < np.std(without) / 3
    assert np.mean(slopes) == pytest.approx(0.7, abs=0.01)
    assert np.mean(told) == pytest.approx(np.std(with_it) / np.sqrt(2), rel=0.15)


def test_a_pace_that_is_sampled_badly_takes_less_off_and_biases_nothing() -> None:
    terms = [terms_of(paced(seed, slope=0.7, lack=0.2)) for seed in range(200)]
    assert 0.2 < np.mean([one.slope for one in terms]) < 0.5
    effects = [one.effects[2] - one.effects[0] for one in terms]
    assert np.mean(effects) == pytest.approx(0.05, abs=0.005)


def test_a_pace_that_says_nothing_costs_nothing() -> None:
    for pace in (None, np.full(180, 7.0)):
        observed = paced(1, slope=0.0)._replace(pace=pace)
        terms = terms_of(observed)
        assert terms.slope == 0.0
        assert terms.effects == pytest.approx(terms_of(observed._replace(pace=None)).effects)
    of_no_matter = [terms_of(paced(seed, slope=0.0)) for seed in range(100)]
    assert np.mean([one.slope for one in of_no_matter]) == pytest.approx(0.0, abs=0.01)


@settings(max_examples=50)
@given(st.integers(0, 1000), st.integers(8, 40), st.integers(2, 6))
def test_names_and_the_machine_s_speed_are_of_no_matter(
    seed: int, passes: int, conditions: int
) -> None:
    logs = table(seed, passes, [0.01 * n for n in range(conditions)], bursts=0.05)
    found = conditions_of(logs)
    assert found.sum() == pytest.approx(0.0, abs=1e-9)
    assert conditions_of(logs[:, ::-1]) == pytest.approx(found[::-1], abs=1e-6)
    slower = logs + np.arange(passes)[:, None]
    assert conditions_of(slower) == pytest.approx(found, abs=1e-6)


def test_what_a_switch_of_servers_costs_is_no_condition_s() -> None:
    """Two conditions of one server often follow each other; the third always another server."""
    rng = np.random.default_rng(7)
    fitted, naive = [], []
    for seed in range(100):
        logs = table(seed, 64, [0.0, 0.02, 0.03])
        switches = np.full((64, 3), 1)
        switches[:, :2] = 2 * (rng.random((64, 2)) < 0.5)
        logs = logs + 0.02 * (switches > 0)
        plain, found = conditions_of(logs), conditions_of(logs, switches)
        naive.append(plain[2] - plain[0])
        fitted.append(found[2] - found[0])
    assert np.mean(naive) == pytest.approx(0.04, abs=0.002)
    assert np.mean(fitted) == pytest.approx(0.03, abs=0.0015)


def test_what_a_switch_costs_depends_on_the_server_before() -> None:
    """Servers 1 and 2 have a condition each, server 3 has two; after 3 all else is dearer."""
    rng = np.random.default_rng(7)
    dearer = np.array([0.0, 0.01, 0.005, 0.03])
    fitted, common = [], []
    for seed in range(100):
        logs = table(seed, 64, [0.0, 0.02, 0.03, 0.03])
        switches = np.empty((64, 4), dtype=int)
        switches[:, 0] = rng.choice([2, 3], 64, p=[1 / 3, 2 / 3])
        switches[:, 1] = rng.choice([1, 3], 64, p=[1 / 3, 2 / 3])
        switches[:, 2:] = rng.choice([1, 2, 0], (64, 2))
        logs = logs + dearer[switches]
        found, one = conditions_of(logs, switches), conditions_of(logs, np.minimum(switches, 1))
        fitted.append(found[2] - found[0])
        common.append(one[2] - one[0])
    assert np.mean(fitted) == pytest.approx(0.03, abs=0.0015)
    assert np.mean(common) < 0.025


def test_the_fit_goes_on_until_it_has_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short blocks with bursts, in which conditions and switches are hard to tell apart."""
    rng = np.random.default_rng(3)
    tables = []
    for seed in range(60):
        switches = np.empty((26, 4), dtype=int)
        switches[:, 0] = rng.choice([2, 3], 26, p=[1 / 3, 2 / 3])
        switches[:, 1] = rng.choice([1, 3], 26, p=[1 / 3, 2 / 3])
        switches[:, 2:] = rng.choice([1, 2, 0], (26, 2))
        tables.append((table(seed, 26, [0.0, 0.02, 0.03, 0.03], bursts=0.1), switches))
    found = [conditions_of(*one) for one in tables]
    monkeypatch.setattr(slices, "_ROUNDS", 20_000)
    monkeypatch.setattr(slices, "_SETTLED", 1e-12)
    for effects, one in zip(found, tables, strict=True):
        assert effects == pytest.approx(conditions_of(*one), abs=1e-5)


def test_slices_of_a_turn_are_not_as_many_observations() -> None:
    """A turn of a server has six slices with one mood; each of two servers has 30 turns."""
    rng = np.random.default_rng(5)
    servers, strayed, told = [0, 1, 1], [], []
    for _ in range(300):
        logs, conditions, turns = [], [], []
        for number in range(60):
            server = number % 2
            mood = rng.normal(0, 0.05)
            own = [0] * 6 if server == 0 else [1, 1, 1, 1, 1, 2]
            logs += list(mood + rng.normal(0, 0.02, 6))
            conditions += own
            turns += [number] * 6
        terms = terms_of(arrange(np.array(logs), conditions, servers, turns))
        strayed.append([terms.effects[1] - terms.effects[0], terms.effects[2] - terms.effects[1]])
        told.append(math.hypot(terms.errors[0], terms.errors[1]))
    between, inside = np.std(strayed, axis=0)
    assert inside < between / 2, "a turn's mood drops out of the ratio of its conditions"
    assert np.mean(told) == pytest.approx(between, rel=0.15)


def trial(deployment: str, rows: list[SliceRow]) -> Any:
    """The parts of a trial that the fit reads."""
    manifest = SimpleNamespace(deployment=deployment, slices=SimpleNamespace())
    return SimpleNamespace(slices=rows, manifest=manifest)


def measured(deployment: str, rows: list[SliceRow], values: dict[str, float]) -> Any:
    """The parts of a trial that `fit_blocks` reads and changes."""
    own = trial(deployment, rows)
    own.done, own.cell, own.values, own.slice_noise = True, (1, 1), values, {}
    return own


def test_mean_response_times_are_fitted_where_slices_have_enough_of_them() -> None:
    """Bursts that count fully in a mean over all operations count less in the fit."""
    logs = table(5, 100, [0.0, 0.1], bursts=0.1)
    block = []
    for one in (0, 1):
        means = np.exp(logs[:, one])
        rows = [
            SliceRow(2 * n + one, 50.0, 0.25, 1.0, means={"read.mean": mean})
            for n, mean in enumerate(means)
        ]
        sums = {"read.mean": float(means.mean()), "update.mean": 7.0 + one}
        block.append(measured("ab"[one], rows, sums))
    slices.fit_blocks(block)
    ratio = block[1].values["read.mean"] / block[0].values["read.mean"]
    assert math.log(ratio) == pytest.approx(0.1, abs=0.01)
    assert 0 < block[0].slice_noise["read.mean"] < 0.02
    assert [one.values["update.mean"] for one in block] == [7.0, 8.0], "as counted"


def test_throughput_leaves_out_what_was_answered_in_the_drain() -> None:
    """100 and 80 operations in slices of 20 ms, and 4 more of each that were in flight."""
    block = []
    for one, answered in enumerate((100.0, 80.0)):
        rows = [
            SliceRow(2 * n + one, answered + 4, 0.03, 1.0, per_s=answered / 0.02) for n in range(20)
        ]
        block.append(measured("ab"[one], rows, {"throughput": 5000.0}))
    slices.fit_blocks(block)
    first, second = (one.values["throughput"] for one in block)
    assert second / first == pytest.approx(0.8)


def test_records_that_do_not_tell_it_keep_the_throughput_of_their_sums() -> None:
    rows = [SliceRow(float(n), 104.0, 0.03, 1.0) for n in range(40)]
    block = [measured("ab"[one], rows[one::2], {"throughput": 5000.0 - one}) for one in (0, 1)]
    slices.fit_blocks(block)
    assert [one.values["throughput"] for one in block] == [5000.0, 4999.0]


def test_a_block_of_which_a_trial_s_slices_cannot_be_read_keeps_its_sums() -> None:
    rows = [SliceRow(float(n), 100.0, 0.03, 1.0 + n % 3) for n in range(60)]
    block = [measured("abc"[one], rows[one::3], {"service_demand": 7.0}) for one in range(3)]
    block[2].slices = []
    slices.fit_blocks(block)
    assert [one.values["service_demand"] for one in block] == [7.0] * 3


def test_trials_that_did_not_take_turns_are_not_fitted_together() -> None:
    rows = [SliceRow(float(n), 100.0, 0.03, 1.0 + n % 3) for n in range(80)]
    together = [trial("a", rows[0::2]), trial("b", rows[1::2])]
    assert observe(together, COSTS["service_demand"]) is not None
    apart = [trial("a", rows[:40]), trial("b", rows[40:])]
    assert observe(apart, COSTS["service_demand"]) is None


def test_the_noise_of_slices_is_told_of_many_conditions_on_few_servers() -> None:
    """Two servers of eight conditions each, in turns that share a mood: 10 passes."""
    rng = np.random.default_rng(3)
    servers = [0] * 8 + [1] * 8
    strayed, told = [], []
    for _ in range(200):
        driven, order, turns = [], [], []
        for number in range(20):
            mood = rng.normal(0, 0.1)
            for one in rng.permutation(8):
                order.append(8 * (number % 2) + int(one))
                driven.append(mood + rng.normal(0, 0.1))
                turns.append(number)
        terms = terms_of(arrange(np.array(driven), order, servers, turns))
        strayed.append(terms.effects[0])
        told.append(terms.errors[0])
    # an effect is the lone mean's less that of all, half of whose mood is its own server's
    assert np.mean(told) == pytest.approx(np.std(strayed), rel=0.5)


@pytest.mark.parametrize(("passes", "terms"), [(10, 1), (50, 4)])
def test_each_server_before_has_a_term_of_its_own_where_it_is_seen_often_enough(
    passes: int, terms: int
) -> None:
    """Three servers with six slices a turn, as in the quickstart."""
    rng = np.random.default_rng(1)
    order = [6 * one + k for _ in range(passes) for one in rng.permutation(3) for k in range(6)]
    observed = arrange(rng.normal(0, 0.1, len(order)), order, [0] * 6 + [1] * 6 + [2] * 6)
    assert len(_masks(observed)) == terms


def test_a_slice_gives_means_of_what_was_timed_often_and_what_clients_used(tmp_path: Path) -> None:
    line = {
        "unix": 1.0, "ops": 29, "ops_per_s": 250.0, "seconds": 0.1, "machine_cpu_s": 0.01,
        "units_cpu_s": {"d1-n1": 0.007, "c1": 0.002}, **NO_OTHERS,
        "responses": {"READ": [20, 100.0], "UPDATE": [9, 300.0]},
    }  # fmt: skip
    (tmp_path / "slices.jsonl").write_text(json.dumps(line) + "\n")
    (row,) = slices.read_slices(TrialFiles(tmp_path), 0.0, {"c1"})
    assert row.means == {"all.mean": pytest.approx(4700 / 29), "read.mean": 100.0}
    assert (row.clients_s, row.per_s) == (0.002, 250.0)


def test_slices_that_were_late_or_empty_are_left_out_and_the_others_fitted() -> None:
    rng = np.random.default_rng(2)
    costs = np.exp(rng.normal([0.0, 0.05], 0.02, (40, 2)))
    rows = [
        [SliceRow(2 * n + one, 100.0, 0.25, 100 * costs[n, one]) for n in range(40)]
        for one in (0, 1)
    ]
    whole = observe([trial("a", rows[0]), trial("b", rows[1])], COSTS["service_demand"])
    rows[0][3] = rows[0][3]._replace(demand_s=0.001, late=True)
    rows[1][7] = rows[1][7]._replace(ops=0.0)
    some = observe([trial("a", rows[0]), trial("b", rows[1])], COSTS["service_demand"])
    assert whole is not None
    assert some is not None
    assert (len(whole.logs), len(some.logs)) == (80, 78)
    assert terms_of(some).effects == pytest.approx(terms_of(whole).effects, abs=0.002)
    empty = [row._replace(ops=0.0) for row in rows[1][:5]] + rows[1][5:]
    assert observe([trial("a", rows[0]), trial("b", empty)], COSTS["service_demand"]) is None


@pytest.mark.parametrize("responses", [[1], "x", {"READ": 5}, {"READ": []}, {"READ": [1, "x"]}])
def test_damaged_response_times_leave_no_slices(tmp_path: Path, responses: object) -> None:
    line = {
        "unix": 1.0,
        "ops": 9,
        "seconds": 0.1,
        "machine_cpu_s": 0.01,
        **NO_OTHERS,
        "responses": responses,
    }
    (tmp_path / "slices.jsonl").write_text(json.dumps(line) + "\n")
    assert slices.read_slices(TrialFiles(tmp_path), 0.0) == []


@pytest.mark.parametrize(("lacking", "fitted"), [(0, 80), (3, 77), (8, 80)])
def test_slices_without_a_sample_of_the_pace_are_left_out_where_they_are_few(
    lacking: int, fitted: int
) -> None:
    """Otherwise the pace is left out, and the slices are kept."""
    rows = [
        [SliceRow(2 * n + one, 100.0, 0.25, 100.0, pace=7.0) for n in range(40)] for one in (0, 1)
    ]
    rows[0][:lacking] = [row._replace(pace=None) for row in rows[0][:lacking]]
    found = observe([trial("a", rows[0]), trial("b", rows[1])], COSTS["service_demand"])
    assert found is not None
    assert len(found.logs) == fitted
    assert (found.pace is None) == (lacking == 8)
