"""Readable names for the sides of a comparison."""

from __future__ import annotations

import pytest

from tare.analysis.model import Analysis
from tare.report.labels import condition_labels, level_name, pair_names, sides
from tare.report.page import render_html
from tare.report.tables import conditions_table, effects_table, trials_table
from tests.browser.sample import factorial_analysis
from tests.report.sample import sample_analysis


@pytest.mark.parametrize(
    ("factor", "level", "said"),
    [
        ("platform", "docker-host", "docker-host"),
        ("threads", "16", "threads 16"),
        ("threads", "t16", "t16"),
        ("clusters", "two", "clusters two"),
        ("key-cache", "off", "key-cache off"),
    ],
)
def test_a_level_is_named_with_its_factor_where_it_says_nothing_alone(
    factor: str, level: str, said: str
) -> None:
    assert level_name(factor, level) == said


def test_with_one_factor_the_sides_are_the_conditions() -> None:
    analysis = sample_analysis()
    effect = analysis.effects[2]
    assert sides(analysis, effect) == (effect.treatment, effect.baseline)


def test_with_several_the_baseline_is_named_by_what_differs() -> None:
    analysis = factorial_analysis()
    effect = next(e for e in analysis.effects if e.treatment == "docker-bridge.t16")
    assert sides(analysis, effect) == ("docker-bridge, t16", "native")


def two_places() -> Analysis:
    """Client and server, each native or in Docker, at 10 and 50 threads."""
    analysis = sample_analysis()
    levels = {
        f"{client}.{server}.{threads}": {"client": client, "server": server, "threads": threads}
        for client in ("native", "docker")
        for server in ("native", "docker")
        for threads in ("10", "50")
    }
    effect = analysis.effects[2].model_copy(
        update={
            "treatment": "native.docker.10",
            "baseline": "native.native.10",
            "levels": levels["native.docker.10"],
            "factor": "server",
        }
    )
    return analysis.model_copy(
        update={
            "conditions": [
                analysis.conditions[0].model_copy(update={"condition": name, "levels": own})
                for name, own in levels.items()
            ],
            "effects": [effect],
            "trials": [
                analysis.trials[0].model_copy(update={"condition": "native.docker.10"}),
            ],
            "series": [],
            "distributions": [],
            "baseline": "native.native.10",
            "noise_floor": [],
        }
    )


def test_a_level_of_several_factors_is_named_with_its_factor() -> None:
    analysis = two_places()
    said = ("client native, server docker, threads 10", "server native")
    assert sides(analysis, analysis.effects[0]) == said
    assert pair_names(analysis) == {("native.docker.10", "native.native.10"): said}


def test_sentences_and_tables_have_one_name_for_a_treatment_and_its_condition() -> None:
    analysis = two_places()
    name = "client native, server docker, threads 10"
    assert condition_labels(analysis)["native.docker.10"] == name
    assert effects_table(analysis).rows[0][1].text == name
    assert trials_table(analysis).rows[0][1].text == name
    assert name in [row[0].text for row in conditions_table(analysis).rows]
    html = render_html(analysis)
    assert name in html
    assert ">native.docker.10<" not in html


def test_the_name_of_a_condition_stays_in_what_the_pages_script_and_filter_use() -> None:
    row = effects_table(two_places()).rows[0][1]
    assert row.css == "native.docker.10"


def test_conditions_whose_levels_say_what_they_are_keep_their_names() -> None:
    assert condition_labels(sample_analysis()) == {}
    assert condition_labels(factorial_analysis()) == {}
