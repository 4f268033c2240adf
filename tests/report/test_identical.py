"""The sentence on how far identical deployments differed."""

from __future__ import annotations

from tare.analysis.model import IdenticalSpread
from tare.report.identical import sentences
from tare.report.markdown import render_markdown
from tare.report.methods import methods_paragraph
from tare.report.page import render_html

from .sample import sample_analysis


def spread(metric: str, sd: float, baseline: str = "native") -> IdenticalSpread:
    return IdenticalSpread(metric=metric, baseline=baseline, sd=sd, df=8, unit="deployment")


def test_it_names_the_sd_of_every_primary_metric_once_and_everywhere() -> None:
    analysis = sample_analysis()
    analysis.identical = [spread("service_demand", 0.013), spread("all.p99", 0.08)]
    (said,) = sentences(analysis)
    assert said == (
        "Identical deployments differed by 1.3% (sd) in service demand and 8% in 99th percentile "
        "latency."
    )
    assert said in render_html(analysis)
    assert said in render_markdown(analysis).replace("\\", "")
    assert said in methods_paragraph(analysis)


def test_of_slices_it_tells_their_noise_from_that_of_deployments() -> None:
    analysis = sample_analysis()
    demand, throughput = spread("service_demand", 0.013), spread("throughput", 0.01)
    analysis.identical = [
        demand.model_copy(update={"slices": 0.012}),
        throughput.model_copy(update={"slices": 0.011}),
    ]
    (said,) = sentences(analysis)
    assert said.endswith(
        " Of that, single slices' noise makes 1.2% in service demand and 1.1% in throughput; the "
        "deployments themselves make 0.5% and nothing that can be told (squares add up)."
    )


def test_where_slices_explain_everything_that_is_told_once() -> None:
    analysis = sample_analysis()
    analysis.identical = [
        spread("service_demand", 0.005).model_copy(update={"slices": 0.007}),
        spread("throughput", 0.003).model_copy(update={"slices": 0.007}),
    ]
    (said,) = sentences(analysis)
    assert said.endswith(
        " Single slices' noise, 0.7% in service demand and 0.7% in throughput, explains all of "
        "that."
    )


def test_several_baselines_have_a_sentence_each_and_many_a_range() -> None:
    analysis = sample_analysis()
    two = [spread("service_demand", 0.01, "a"), spread("service_demand", 0.02, "b")]
    analysis.identical = two
    assert [text.rpartition(" ")[2] for text in sentences(analysis)] == ["a.", "b."]
    analysis.identical = [*two, *(spread("service_demand", 0.03, name) for name in "cd")]
    assert sentences(analysis) == [
        "Identical deployments differed by 1% to 3% (sd) in service demand."
    ]


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert sentences(sample_analysis()) == []
