"""The text of the report: the alerts, and the answer in a sentence per treatment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tare.analysis.inference.noise_floor import hides_answer, hiding_floor
from tare.analysis.model import Metric
from tare.enumeration import listing
from tare.report import numbers
from tare.report.also_differs import also_differs
from tare.report.ending import further
from tare.report.escaping import plain
from tare.report.labels import sides
from tare.study.design import MOST_PLANNED
from tare.study.metric_names import lowered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.model import Analysis, Effect, NoiseFloor, Verdict

Tone = Literal["cost", "gain", "tie"]

PER_OPERATION = "us/operation"
OPEN = "can't tell yet"
"""The words for an inconclusive effect."""

_NOISE = "noise floor"

# Where no metric has a declared margin, the metrics that a reader asks for first.
_USUAL_PRIMARY = ("service_demand", "throughput", "all.mean", "all.p99")


@dataclass(frozen=True)
class Alert:
    """Something that must be read before any answer."""

    level: Literal["invalid", "warning"]
    headline: str
    details: tuple[str, ...] = ()
    remedy: str = ""
    """What to do about it, with the command and its time where these are known."""
    check: str = ""
    """The check that says the same."""


@dataclass(frozen=True)
class MetricAnswer:
    """One metric's part of an answer; the parts in this order are the sentence."""

    metric: str
    before: str
    change: str
    interval: str
    than: str
    verdict: Verdict
    tail: str
    tone: Tone
    amounts: str = ""
    """The same in the metric's own unit, where that is how it is thought of."""
    effect: int = -1
    """The effect's place in the analysis, where it is known."""

    @property
    def evidence(self) -> str:
        """What stands between the change and the verdict."""
        return f"{self.interval} {self.than}{self.amounts}".lstrip()

    @property
    def text(self) -> str:
        return f"{self.before}{self.change} {self.evidence}: {self.verdict}{self.tail}"


@dataclass(frozen=True)
class TreatmentAnswer:
    """One treatment against its baseline on the primary metrics."""

    treatment: str
    baseline: str
    aa: bool
    lines: tuple[MetricAnswer, ...]
    over: tuple[str, ...] = ()
    """Factors over whose levels it is averaged."""
    name: str = ""
    """The treatment as a reader says it."""
    against: str = ""
    """The baseline as a reader says it."""
    apart: str = ""
    """What the study does not vary, and differs between the two; empty: nothing is known."""

    @property
    def differs(self) -> str:
        """That it does, in a few words that stand before the numbers."""
        return f"not the same apart from that: {self.apart}" if self.apart else ""

    @property
    def sentence(self) -> str:
        name = (
            f"{self.name or plain(self.treatment)} (control, the same setup again)"
            if self.aa
            else self.name or plain(self.treatment)
        )
        lines = [self.differs] if self.apart else []
        return f"{name}: {'; '.join([*lines, *(line.text for line in self.lines)])}."


def alerts(analysis: Analysis) -> list[Alert]:
    """What makes the answer void or uncertain as a whole, loudest first."""
    found = []
    if not analysis.valid:
        causes = [plain(c.summary) for c in analysis.checks if c.status == "invalid"]
        found.append(
            Alert(
                "invalid",
                "This result is not valid: do not decide anything from it",
                tuple(causes) or ("The analysis gives no single check as the cause.",),
                "Do what these checks ask for, then run it again.",
            )
        )
    found += _noise_alerts(analysis)
    if analysis.effects and all(e.conditional for e in analysis.effects):
        found.append(
            Alert(
                "warning",
                "One deployment per condition: what the platform costs and what is peculiar to "
                "that deployment cannot be told apart",
                remedy="Three or more tell them apart, in about three times as long: "
                "--set design.deployments=3.",
            )
        )
    if not analysis.effects:
        found.append(
            Alert(
                "warning",
                "There is no answer: no effect could be computed",
                remedy="A comparison needs two repetitions of both, treatment and baseline: import "
                "more of them."
                if analysis.imported
                else "A comparison needs two blocks, each of which holds both, treatment and "
                "baseline: --set design.blocks=2, about twice as long.",
            )
        )
    return found


def nothing_differed(analysis: Analysis) -> str:
    """The sentence where no fact is known to differ between conditions."""
    if analysis.imported:
        return (
            "Not known: the files tell little of what ran. What they do tell (tool, version, "
            "database binding, threads, consistency, hosts, records and other settings, as far as "
            "printed) is alike in all conditions."
        )
    return "No compared fact differed between conditions."


def _noise_alerts(analysis: Analysis) -> list[Alert]:
    """Primary metrics on which identical setups differ by more than the margin."""
    primary = {m.name for m in primary_metrics(analysis)}
    every = [f for f in analysis.noise_floor if f.exceeds_margin]
    loud = [f for f in every if f.metric in primary]
    same = _NOISE if len(loud) == len(every) else ""  # the check is of all metrics with a margin
    hidden = [f for f in loud if hides_answer(f, analysis.effects)]
    averaged = [f for f in loud if f not in hidden]
    found = []
    if hidden:
        headline = (
            f"Two identical setups differed in {_titles(analysis, hidden)} by more than the "
            "margin: do not use undecided differences there"
        )
        texts = tuple(_noise_text(analysis, floor) for floor in hidden)
        found.append(Alert("warning", headline, texts, _against_noise(analysis), same))
    if averaged:
        headline = (
            f"Identical setups differed in {_single(averaged)} of {_titles(analysis, averaged)} "
            "by more than the margin; averages over deployments hold"
        )
        texts = tuple(_noise_text(analysis, floor) for floor in averaged)
        found.append(Alert("warning", headline, texts, "Nothing to do.", same))
    return found


def _against_noise(analysis: Analysis) -> str:
    """How to get an answer in spite of noise."""
    if more := further(analysis):
        return more[0]
    if analysis.imported:
        return "More repetitions, or a quieter machine, would tell: import those, too."
    return "More rounds, or a quieter machine, would tell: tare doctor --noise, a minute, shows it."


def _noise_text(analysis: Analysis, floor: NoiseFloor) -> str:
    first, second = (plain(name) for name in floor.conditions)
    text = (
        f"{plain(metric_of(analysis, floor.metric).title)}: {first} and {second} are the same "
        f"setup, yet differed by up to {numbers.share(floor.floor)} in {_single([floor])}"
    )
    if floor.deployment_floor not in (None, floor.floor):
        text += f" and {numbers.share(floor.deployment_floor)} between deployments"
    margin = margin_of(analysis, floor.metric)
    return text + (f"; the margin is {numbers.share(margin)}." if margin is not None else ".")


def _single(floors: Sequence[NoiseFloor]) -> str:
    """The units of the floors: with one block each, a deployment is its block."""
    whole = all(one.deployment_floor == one.floor for one in floors)
    return "single deployments" if whole else "single blocks"


def _titles(analysis: Analysis, floors: Sequence[NoiseFloor]) -> str:
    names = dict.fromkeys(in_sentence(metric_of(analysis, f.metric)) for f in floors)
    return listing(list(names))


def reference(analysis: Analysis) -> str:
    """The condition that everything is finally compared with.

    The baseline of a study of several factors is a combination of levels. Its condition is the one
    that others are compared with and that is compared with none.
    """
    names = [c.condition for c in analysis.conditions]
    if analysis.baseline in names:
        return analysis.baseline
    treatments = {e.treatment for e in analysis.effects}
    roots = {e.baseline for e in analysis.effects} - treatments
    return next((name for name in names if name in roots), analysis.baseline)


def margin_of(analysis: Analysis, metric: str) -> float | None:
    """The margin that the study declares for the metric."""
    margins = [e.margin for e in analysis.effects if e.metric == metric and e.margin is not None]
    return margins[0] if margins else None


def primary_metrics(analysis: Analysis) -> list[Metric]:
    """The study's primary endpoints; else those with a margin; else the usual ones."""
    named = {e.metric for e in analysis.effects if e.primary}
    named = named or {e.metric for e in analysis.effects if e.margin is not None}
    chosen = [m for m in analysis.metrics if m.name in named]
    if not chosen:
        chosen = [m for m in analysis.metrics if m.name in _USUAL_PRIMARY]
    return chosen or analysis.metrics[:3]


def answers(analysis: Analysis) -> list[TreatmentAnswer]:
    """One answer per treatment, in the order of the conditions, controls (A/A) last."""
    primary = [m.name for m in primary_metrics(analysis)]
    groups: dict[tuple[str, str], list[tuple[int, Effect]]] = {}
    for i, effect in enumerate(analysis.effects):
        if effect.metric in primary:
            groups.setdefault((effect.treatment, effect.baseline), []).append((i, effect))
    place = {c.condition: i for i, c in enumerate(analysis.conditions)}
    result = []
    for (treatment, baseline), effects in groups.items():
        effects.sort(key=lambda placed: primary.index(placed[1].metric))
        lines = tuple(replace(line(analysis, effect), effect=i) for i, effect in effects)
        first = effects[0][1]
        names = sides(analysis, first)
        apart = also_differs(analysis, first)
        result.append(
            TreatmentAnswer(treatment, baseline, first.aa, lines, tuple(first.over), *names, apart)
        )
    return sorted(result, key=lambda a: (a.aa, place.get(a.treatment, len(place))))


def line(analysis: Analysis, effect: Effect) -> MetricAnswer:
    """The sentence of one effect, in the four words of the verdicts."""
    metric = metric_of(analysis, effect.metric)
    subject, tail = in_sentence(metric), ""
    than = f"than {sides(analysis, effect)[1]}"
    if effect.verdict == "inconclusive":
        return MetricAnswer(
            metric=effect.metric,
            before=f"{subject}: {OPEN}, ",
            change=numbers.range_in_words(effect.ci),
            interval="",
            than=than,
            verdict=effect.verdict,
            tail="",
            tone=tone(analysis, effect),
            amounts=f"{_amounts(metric, effect)}; {_further(effect)}",
        )
    if effect.margin is not None and effect.within_margin:
        tail = f" ({numbers.share(effect.margin)} margin)"
    floor = hiding_floor(analysis, effect)
    if floor is not None and effect.differs:
        tail += f", but smaller than the noise floor of {numbers.share(floor)}"
    return MetricAnswer(
        metric=effect.metric,
        before=f"{subject} ",
        change=numbers.change_in_words(effect.ratio),
        interval=numbers.interval(effect.ci),
        than=than,
        verdict=effect.verdict,
        tail=tail,
        tone=tone(analysis, effect),
        amounts=_amounts(metric, effect),
    )


def addition(analysis: Analysis, effect: Effect) -> str:
    """The text on an effect that a row of numbers and a verdict lack; empty: nothing."""
    if effect.verdict == "inconclusive":
        return _further(effect)
    floor = hiding_floor(analysis, effect)
    if floor is not None and effect.differs:
        return f"smaller than the noise floor of {numbers.share(floor)}"
    return ""


def _amounts(metric: Metric, effect: Effect) -> str:
    """The effect in microseconds, for a metric that counts them per operation, or in percentage
    points, for one in percent; else nothing.

    Prices and bills are in microseconds, and a percentage of a dear operation is not the same
    amount as that of a cheap one.
    """
    if metric.unit not in (PER_OPERATION, "%"):
        return ""
    if metric.unit == "%":
        return f" ({difference(metric, effect)})"
    unit, base = numbers.MICROSECONDS, effect.baseline_value
    if effect.verdict == "inconclusive":
        _, low, high = numbers.signed_differences(effect.difference, effect.difference_ci)
        return f" (between {low} and {high} {unit} of {numbers.significant(base)} per operation)"
    treated = numbers.significant(base + effect.difference)
    return (
        f" ({treated} instead of {numbers.significant(base)} {unit} per operation, "
        f"{difference(metric, effect)})"
    )


def difference(metric: Metric, effect: Effect) -> str:
    """Treatment less baseline with its interval, for metrics with amounts in `_amounts`."""
    if metric.unit not in (PER_OPERATION, "%"):
        return ""
    unit = "points" if metric.unit == "%" else numbers.MICROSECONDS
    middle, low, high = numbers.signed_differences(effect.difference, effect.difference_ci)
    return f"{middle} {unit} [{low}, {high}]"


def tone(analysis: Analysis, effect: Effect) -> Tone:
    """Which way the effect costs; a tie where there is no difference that can be relied on."""
    hidden = hiding_floor(analysis, effect) is not None
    if not analysis.valid or effect.aa or hidden or not effect.differs:
        return "tie"
    better = metric_of(analysis, effect.metric).improved_by(effect.ratio)
    return "gain" if better else "cost"


def metric_of(analysis: Analysis, name: str) -> Metric:
    """The metric's description; one made of its name where the analysis has none."""
    for metric in analysis.metrics:
        if metric.name == name:
            return metric
    return Metric(name=name, title=name, unit="", better="lower")


def in_sentence(metric: Metric) -> str:
    """The title inside a sentence: 'Throughput' is 'throughput', 'CPU' stays."""
    return lowered(plain(metric.title))


def _further(effect: Effect) -> str:
    if effect.conditional:
        return "one deployment per condition cannot tell"
    if effect.needed is None:
        return "the data do not tell how much more would settle it"
    if effect.needed == 0:
        return "although as many were measured as the plan asks for"
    # as `tare run --rounds` counts: a round has a deployment of each condition
    unit = "round" if effect.unit_of_analysis == "deployment" else effect.unit_of_analysis
    if effect.needed > MOST_PLANNED:
        return f"more than {MOST_PLANNED} further {unit}s would be needed"
    return f"{numbers.count(effect.needed, f'more {unit}')} should decide"
