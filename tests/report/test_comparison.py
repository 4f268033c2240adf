"""A comparison of two runs gives the answer first and escapes foreign names."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from tare.analysis.comparison.compare import compare
from tare.analysis.comparison.model import Floor
from tare.report.comparison import headline, render_markdown, render_terminal, sentence, warnings

from .sample import sample_analysis

if TYPE_CHECKING:
    from tare.analysis.comparison.model import RunComparison
    from tare.analysis.model import Analysis

READER = MarkdownIt("commonmark", {"html": True}).enable("table")


def scaled(factor: float) -> Analysis:
    """The sample with every throughput times `factor`, on a newer database."""
    analysis = sample_analysis()
    analysis.run = "later"
    for trial in analysis.trials:
        if "throughput" in trial.values:
            trial.values["throughput"] *= factor
    analysis.provenance["database"] = {"version": "5.1.0"}
    return analysis


@pytest.fixture
def slower() -> RunComparison:
    return compare(sample_analysis(), scaled(0.7))


def shown(comparison: RunComparison) -> str:
    out = io.StringIO()
    Console(file=out, width=300).print(render_terminal(comparison))
    return out.getvalue()


def test_the_short_answer_counts_the_primary_comparisons(slower: RunComparison) -> None:
    assert headline(slower).startswith("From A to B: 5 worse")


def test_a_sentence_names_size_interval_and_direction(slower: RunComparison) -> None:
    one = next(d for d in slower.differences if (d.b, d.metric) == ("native", "throughput"))
    text = sentence(slower, one)
    assert text.startswith("native: throughput 30.0% lower [")
    assert text.endswith("in B than in A: different, worse.")


def test_with_one_deployment_more_deployments_are_asked_for_and_not_blocks() -> None:
    one = scaled(0.95)
    one.trials = [trial for trial in one.trials if trial.round == 1]
    found = compare(sample_analysis(), one, margins={"throughput": 0.05})
    one = next(d for d in found.differences if d.metric == "throughput")
    text = sentence(found, one)
    assert "can't tell yet, between" in text
    assert "more deployments per side should decide" in text
    assert text.endswith("inconclusive.")


def test_what_else_differed_comes_before_any_number(slower: RunComparison) -> None:
    for text in (shown(slower), render_markdown(slower)):
        assert text.index("5.1.0") < text.index("30.0%")


def test_markdown_is_a_short_answer_a_table_and_folded_details(slower: RunComparison) -> None:
    text = render_markdown(slower)
    assert text.index("From A to B") < text.index("| Condition |") < text.index("<details>")
    html = READER.render(text)
    assert html.count("<details>") == html.count("</details>") == 3
    assert html.count("<table>") >= 4
    first = html.partition("<details>")[0]
    assert first.count("<tr>") == 1 + sum(d.primary for d in slower.differences) + (
        1 + sum(c.primary for c in slower.changes)
    )


def test_an_invalid_side_is_said_first(slower: RunComparison) -> None:
    slower.b.valid = False
    slower.b.problems = ["errors: 3% failed"]
    assert "Run B is not valid" in warnings(slower)[0]
    text = render_markdown(slower)
    assert text.index("not valid") < text.index("| Condition |")
    assert "Run B is not valid" in shown(slower)


def test_noise_hides_only_what_is_undecided(slower: RunComparison) -> None:
    slower.noise_floor = [
        Floor(metric="throughput", floor=0.2, unit="block", run="a", exceeds_margin=True)
    ]
    assert not any("Identical conditions" in one for one in warnings(slower))
    native = next(d for d in slower.differences if (d.b, d.metric) == ("native", "throughput"))
    native.verdict = "inconclusive"
    [told] = [one for one in warnings(slower) if "Identical conditions" in one]
    assert "of run A differed in throughput by up to 20% between blocks" in told
    assert told.endswith("do not use undecided differences there."), "others are decided"


def test_conditions_without_partner_and_without_interval_are_warned_of() -> None:
    fewer = scaled(1.0)
    fewer.conditions = [c for c in fewer.conditions if c.condition != "docker-host"]
    fewer.trials = [t for t in fewer.trials if t.condition != "native" or t.round + t.block == 2]
    told = " ".join(warnings(compare(sample_analysis(), fewer)))
    assert "Only in A, and not compared: docker-host." in told
    assert "no interval: service_demand of native, throughput of native" in told


def test_hostile_names_stay_text() -> None:
    evil = "<img src=x onerror=alert(1)>|`x`"
    a, b = sample_analysis(), scaled(0.9)
    for run in (a, b):
        for one in [*run.conditions, *run.trials]:
            if one.condition == "docker-host":
                one.condition = evil
    b.study = b.run = "</details><script>x</script>"
    b.provenance["database"] = {"</summary><b>": "[x](javascript:y)"}
    html = READER.render(render_markdown(compare(a, b)))
    for tag in ("<img", "<script", "<b>", "<a "):
        assert tag not in html
    assert html.count("</details>") == 3
    assert "\x1b" not in shown(compare(a, b)).replace("\x1b[", "")


def test_a_stands_before_b(slower: RunComparison) -> None:
    text = shown(slower)
    assert text.index("A: ") < text.index("B: ")
    title = render_markdown(slower).partition("\n")[0]
    assert title.index("(A)") < title.index("(B)")
    for said in (text, render_markdown(slower)):
        assert "A not recorded, B 5.1.0" in said
