"""Every number is traced to its trials; large studies stay within a page's limits."""

from __future__ import annotations

from tare.report import extent
from tare.report.tables import effects_table, trials_table
from tare.report.traces import effect_trials, levels_apart
from tests.browser.sample import factorial_analysis, traced_analysis

from .sample import METRICS, sample_analysis


def test_an_effect_comes_from_the_done_trials_of_its_blocks() -> None:
    analysis = sample_analysis()
    at = next(i for i, e in enumerate(analysis.effects) if e.treatment == "docker-bridge")
    rows = [analysis.trials[i] for i in effect_trials(analysis)[at]]
    assert {t.condition for t in rows} == {"native", "docker-bridge"}
    assert len(rows) == 2 * analysis.effects[at].blocks == 22
    assert (2, 3) not in {(t.round, t.block) for t in rows}


def test_an_average_comes_from_all_conditions_of_its_levels() -> None:
    analysis = factorial_analysis()
    one = next(e for e in analysis.effects if e.levels["platform"] == "docker-host")
    one.treatment, one.baseline = "docker-host", "native"
    one.levels, one.over = {"platform": "docker-host"}, ["threads"]
    rows = [analysis.trials[i] for i in effect_trials(analysis)[analysis.effects.index(one)]]
    assert {t.condition.split(".")[0] for t in rows} == {"native", "docker-host"}
    assert {t.condition.split(".")[1] for t in rows} == {"t16", "t64", "t256"}
    assert len(rows) == 2 * 3 * 12
    assert levels_apart(analysis, one) == ({"platform": "docker-host"}, {})


def test_levels_that_differ_and_levels_that_are_shared() -> None:
    analysis = factorial_analysis()
    one = next(e for e in analysis.effects if e.treatment == "docker-host.t64")
    assert levels_apart(analysis, one) == ({"platform": "docker-host"}, {"threads": "t64"})


def test_a_factor_of_one_level_is_no_part_of_a_name() -> None:
    analysis = sample_analysis()
    for condition in analysis.conditions:
        condition.levels["machine"] = "m3-medium"
    assert levels_apart(analysis, analysis.effects[1])[1] == {}


def test_each_effect_row_counts_its_trials_and_each_trial_row_names_its_files() -> None:
    analysis = traced_analysis()
    effects = effects_table(analysis)
    assert effects.columns[-1] == "Trials"
    assert [row[-1].text for row in effects.rows[:3]] == ["24 trials", "24 trials", "22 trials"]
    trials = trials_table(analysis)
    name = trials.rows[0][0].text
    assert trials.rows[0][-1].links[0] == (f"./trials/{name}/manifest.json", "manifest.json")


def test_a_file_outside_of_the_run_is_not_linked() -> None:
    analysis = traced_analysis()
    analysis.trials[0].files = ["../x", "/etc/passwd", "trials/../../x", "trials/a b?#.json"]
    rows = trials_table(analysis).rows
    row = next(r for r in rows if r[0].text == analysis.trials[0].trial)
    assert row[-1].links == [("./trials/a%20b%3F%23.json", "a b?#.json")]


def test_what_does_not_fit_the_page_is_cut_by_rank_and_said() -> None:
    analysis = sample_analysis()
    cut = extent.cut_effects(analysis, effects_table(analysis), 12)
    assert len(cut.rows) == len(cut.keys) == 12
    assert {row[0].text for row in cut.rows} == {m.title for m in METRICS[:3]}
    assert cut.notes[-1].startswith("Shown are 12 of 20 effects")
    assert extent.cut_effects(analysis, cut, 12) is cut


def test_primary_metrics_are_drawn_first_and_always() -> None:
    analysis = sample_analysis()
    analysis.effects = [
        e.model_copy(update={"treatment": f"t{i}"}) for e in analysis.effects for i in range(30)
    ]
    assert [d.metric.name for d in extent.drawn_effects(analysis)] == [
        "service_demand",
        "throughput",
    ]
    assert extent.effects_note(analysis).endswith("3 further metrics among them.")
