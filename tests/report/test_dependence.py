"""Interactions and ratios of variances, in sentences and a table."""

from __future__ import annotations

import io

from rich.console import Console

from tare.analysis.model import Analysis, CrossCheck, Interaction, VarianceRatio
from tare.report.dependence import interactions, interactions_note, noisier, variance_table
from tare.report.markdown import render_markdown
from tare.report.page import render_html
from tare.report.tables import cross_checks, effects_table
from tare.report.terminal import render_summary

from .sample import sample_analysis


def studied() -> Analysis:
    analysis = sample_analysis()
    interaction = Interaction(
        metric="throughput",
        compared=["platform"],
        by="threads",
        test="F",
        statistic=9.1,
        df=(2.0, 12.0),
        p=0.004,
        p_adjusted=0.008,
        depends=True,
        largest=0.9,
        largest_ci=(0.85, 0.95),
        largest_of="docker-bridge, t64 over t16",
        sentence="What docker-bridge does to throughput depends on <b>threads</b>.",
        method="F test",
    )
    quiet = interaction.model_copy(
        update={"metric": "cpu.server_per_op", "depends": False, "sentence": "It does not."}
    )
    variance = VarianceRatio(
        metric="throughput",
        levels={"platform": "docker-bridge"},
        over=[],
        baseline="native",
        treatment="docker-bridge",
        aa=False,
        ratio=4.0,
        ci=(1.6, 10.0),
        p=0.004,
        p_adjusted=0.02,
        verdict="noisier",
        baseline_cv=0.02,
        treatment_cv=0.04,
        trials=24,
        method="jackknife of log variances",
    )
    alike = variance.model_copy(update={"treatment": "docker-host", "verdict": "not told apart"})
    analysis.interactions = [quiet, interaction]
    analysis.variances = [alike, variance]
    return analysis


def test_what_depends_is_said_first_and_other_metrics_are_folded() -> None:
    first, rest = interactions(studied())
    assert first == ["What docker-bridge does to throughput depends on <b>threads</b>."]
    assert rest == ["It does not."]


def test_a_noisier_treatment_is_a_sentence_and_every_ratio_a_row() -> None:
    analysis = studied()
    assert noisier(analysis) == [
        "docker-bridge is noisier than native on throughput: trials vary by 4% instead of 2% "
        "(ratio of variances 4.00 [1.60, 10.0])."
    ]
    table = variance_table(analysis)
    assert [row[3].text for row in table.rows] == ["not told apart", "noisier"]


def test_the_page_says_both_and_escapes_them() -> None:
    html = render_html(studied())
    assert "depends on &lt;b&gt;threads&lt;/b&gt;" in html
    assert "docker-bridge is noisier than native" in html
    assert 'id="factors"' not in render_html(sample_analysis())


def test_markdown_says_both_of_primary_metrics_and_escapes_them() -> None:
    text = render_markdown(studied())
    assert "## What it depends on, and what is noisier" in text
    assert "- What docker-bridge does to throughput depends on &lt;b&gt;threads&lt;/b&gt;." in text
    assert "- docker-bridge is noisier than native" in text
    assert "It does not." not in text, "other metrics are in the page"
    assert "What it depends on" not in render_markdown(sample_analysis())


def test_the_terminal_says_both_of_primary_metrics() -> None:
    text = in_terminal(studied())
    assert "What docker-bridge does to throughput depends on <b>threads</b>." in text
    assert "docker-bridge is noisier than native" in text
    assert "It does not." not in text


def in_terminal(analysis: Analysis) -> str:
    console = Console(record=True, width=160, file=io.StringIO())
    console.print(render_summary(analysis))
    return console.export_text()


def test_cross_checks_say_when_they_contradict() -> None:
    effect = sample_analysis().effects[0]
    effect.crosschecks = [
        CrossCheck(name="bootstrap", ci=(0.9, 1.1), p=None, agrees=True),
        CrossCheck(name="Mann-Whitney", ci=None, p=0.0002, agrees=False),
    ]
    assert cross_checks(effect) == (
        "bootstrap: [0.900, 1.100]; Mann-Whitney: p < 0.001 (contradicts the interval)"
    )


def test_changes_that_the_tables_average_in_another_way_are_explained() -> None:
    analysis = studied()
    assert interactions_note(analysis) == ""
    analysis.effects[0].over, analysis.effects[0].how = ["threads"], "mean-of-ratios"
    assert "geometric means" in interactions_note(analysis)
    assert "means of ratios" in interactions_note(analysis)
    assert interactions_note(analysis) in render_html(analysis)


def test_an_interaction_has_the_page_s_name_for_its_treatment() -> None:
    analysis = studied()
    one = analysis.interactions[1]
    one.compared, one.largest_of = ["client", "server"], "native.docker: 50 over 10"
    one.sentence = "What native.docker does to throughput depends on threads."
    for condition, server in zip(analysis.conditions, ("native", "docker") * 3, strict=False):
        condition.levels = {"client": "native" if server == "docker" else "docker",
                            "server": server}  # fmt: skip
    assert interactions(analysis)[0] == [
        "What client native, server docker does to throughput depends on threads."
    ]


def test_values_of_an_average_are_said_to_be_means_over_levels_too() -> None:
    analysis = sample_analysis()
    before = effects_table(analysis).notes
    analysis.effects[2].over, analysis.effects[2].how = ["threads"], "model"
    (said,) = set(effects_table(analysis).notes) - set(before)
    assert "over threads) are geometric means" in said
    assert "reached at none of them" in said
