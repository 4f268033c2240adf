"""Questions beside effects: do they depend on another factor, and is a treatment noisier?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.catalogue import in_order
from tare.analysis.inference.contrast_estimates import logs_of, make_rules, samples_of
from tare.analysis.inference.factorial import questions
from tare.analysis.inference.interactions import answer_blocks, answer_samples, interactions
from tare.analysis.inference.significance import PLAIN
from tare.analysis.inference.variance import (
    variance_ratios,
    variances_in_blocks,
    variances_of_samples,
)
from tare.study.metric_names import margin_of, primary_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.inference.contrasts import Contrast, Contrasts
    from tare.analysis.inference.factorial import Question
    from tare.analysis.inference.interactions import InteractionAnswer
    from tare.analysis.inference.significance import SignificanceLevels
    from tare.analysis.inference.variance import Spreads
    from tare.analysis.model import Interaction, VarianceRatio
    from tare.analysis.trials import Trial
    from tare.study.conditions import Condition
    from tare.study.question import AnalysisSection


def also_asked(
    trials: Sequence[Trial],
    conditions: Sequence[Condition],
    baseline: Mapping[str, str],
    contrasts: Contrasts,
    margins: Mapping[str, float],
    *,
    by_deployment: bool,
    asked: AnalysisSection,
    levels: SignificanceLevels = PLAIN,
) -> tuple[list[Interaction], list[VarianceRatio]]:
    """Interactions and ratios of variances, for the metrics with a margin and the primary ones.

    Args:
        levels: of the look at which the run ended.
    """
    rules = make_rules(trials, asked, by_deployment=by_deployment)
    samples = samples_of(trials) if rules.independent else {}
    logs = {} if rules.independent else logs_of(trials)
    primary = primary_metrics(margins, asked.primary)
    open_questions = questions(conditions, baseline, asked)
    answers: list[tuple[str, Question, InteractionAnswer]] = []
    spreads: dict[str, list[tuple[Contrast, Spreads]]] = {}
    for metric in in_order([*samples, *logs]):
        if asked.metrics and metric not in asked.metrics:
            continue
        if margin_of(metric, margins) is None and metric not in primary:
            continue
        for question in open_questions:
            answer = (
                answer_samples(question, samples[metric])
                if rules.independent
                else answer_blocks(question, logs[metric], rules)
            )
            if answer is not None:
                answers.append((metric, question, answer))
        spreads[metric] = list(
            variances_of_samples(samples[metric], contrasts)
            if rules.independent
            else variances_in_blocks(logs[metric], contrasts, rules)
        )
    return interactions(answers, levels), variance_ratios(spreads, levels)
