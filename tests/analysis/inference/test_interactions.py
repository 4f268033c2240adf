"""Interactions: the F test against statsmodels, and the mixed model where trials are missing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import special
from statsmodels.formula.api import ols
from statsmodels.stats.anova import AnovaRM, anova_lm

from tare.analysis.inference.contrast_estimates import Rules
from tare.analysis.inference.factorial import Question, questions
from tare.analysis.inference.independent import sample
from tare.analysis.inference.interactions import (
    InteractionAnswer,
    answer_blocks,
    answer_samples,
    interactions,
)
from tests.analysis.repetitions import conditions_of, study_of

FACTORS = {"platform": ["native", "docker", "kvm"], "threads": ["t1", "t2"]}
RULES = Rules(by_deployment=True)


def question() -> Question:
    study = study_of(FACTORS)
    (found,) = questions(conditions_of(study), study.baseline, study.analysis)
    return found


def logs_of(
    effect: float, seed: int = 1, rounds: int = 4, blocks: int = 3
) -> dict[str, dict[tuple[int, int], float]]:
    """docker costs `effect` more with t2 than with t1; one deployment serves both threads."""
    rng = np.random.default_rng(seed)
    logs: dict[str, dict[tuple[int, int], float]] = {}
    for r in range(1, rounds + 1):
        lives = dict(zip(FACTORS["platform"], rng.normal(0, 0.05, 3), strict=True))
        for b in range(1, blocks + 1):
            shared = rng.normal(0, 0.1)
            for p, t in itertools.product(*FACTORS.values()):
                y = shared + lives[p] + rng.normal(0, 0.01) + (t == "t2") * 0.3
                y += effect * (p == "docker" and t == "t2")
                logs.setdefault(f"{p}.{t}", {})[r, b] = y
    return logs


def p_of(answer: InteractionAnswer, freedom: int = 2) -> float:
    return float(special.fdtrc(freedom, answer.df, answer.statistic))


def test_what_is_asked_without_an_analysis_section() -> None:
    found = question()
    assert (found.compared, found.by) == (("platform",), "threads")
    assert found.rows == ("native", "docker", "kvm")
    assert found.columns == ("t1", "t2")
    assert found.freedom == 2


def test_repetitions_of_files_are_a_two_way_analysis_of_variance() -> None:
    rng = np.random.default_rng(2)
    values = {
        f"{p}.{t}": np.exp(rng.normal(0.2 * (p == "kvm" and t == "t2"), 0.1, 5))
        for p, t in itertools.product(*FACTORS.values())
    }
    answer = answer_samples(question(), {n: sample(list(v)) for n, v in values.items()})
    assert answer is not None
    frame = pd.DataFrame(
        [(*n.split("."), math.log(y)) for n, own in values.items() for y in own],
        columns=["platform", "threads", "y"],
    )
    table = anova_lm(ols("y ~ C(platform) * C(threads)", frame).fit(), typ=2)
    assert answer.statistic == pytest.approx(table.loc["C(platform):C(threads)", "F"])
    assert answer.df == table.loc["Residual", "df"]
    assert p_of(answer) == pytest.approx(table.loc["C(platform):C(threads)", "PR(>F)"])


def test_deployments_are_the_error_stratum_of_a_repeated_measures_analysis() -> None:
    logs = logs_of(0.02)
    answer = answer_blocks(question(), logs, RULES)
    assert answer is not None
    frame = pd.DataFrame(
        [(*n.split("."), c[0], y) for n, own in logs.items() for c, y in own.items()],
        columns=["platform", "threads", "round", "y"],
    )
    reference = AnovaRM(frame, "y", "round", within=["platform", "threads"], aggregate_func="mean")
    row = reference.fit().anova_table.loc["platform:threads"]
    assert answer.statistic == pytest.approx(row["F Value"])
    assert (2, answer.df) == (row["Num DF"], row["Den DF"])


def test_a_dependence_is_found_and_said() -> None:
    answer = answer_blocks(question(), logs_of(0.1), RULES)
    assert answer is not None
    (found,) = interactions([("throughput", question(), answer)])
    assert found.depends
    assert found.largest == pytest.approx(math.exp(0.1), rel=0.03)
    assert found.largest_ci[0] < math.exp(0.1) < found.largest_ci[1]
    assert found.largest_of == "docker: t2 over t1"
    assert found.sentence.startswith("What docker does to throughput depends on threads")


def test_false_alarms_are_as_rare_as_promised() -> None:
    alarms = 0
    for seed in range(200):
        answer = answer_blocks(question(), logs_of(0.0, seed, rounds=3, blocks=2), RULES)
        assert answer is not None
        alarms += p_of(answer) <= 0.05
    assert alarms / 200 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


def test_missing_trials_take_the_mixed_model() -> None:
    logs = logs_of(0.1)
    whole = answer_blocks(question(), logs, RULES)
    del logs["docker.t2"][2, 1], logs["kvm.t1"][3, 3]
    served = {n: frozenset({f"D-{n.split('.')[0]}"}) for n in logs}
    answer = answer_blocks(question(), logs, Rules(by_deployment=True, served=served))
    assert whole is not None
    assert answer is not None
    assert answer.test == "Wald F"
    assert answer.means[1, 1] - answer.means[1, 0] == pytest.approx(
        whole.means[1, 1] - whole.means[1, 0], abs=0.02
    )
    assert p_of(answer) < 0.01


def test_what_a_round_does_to_everything_is_no_part_of_the_mixed_models_answer() -> None:
    logs = logs_of(0.02)
    del logs["docker.t2"][2, 1], logs["kvm.t1"][3, 3]
    far = {name: {c: y + 5 * c[0] ** 2 for c, y in cells.items()} for name, cells in logs.items()}
    served = {n: frozenset({f"D-{n.split('.')[0]}"}) for n in logs}
    rules = Rules(by_deployment=True, served=served)
    one, other = answer_blocks(question(), logs, rules), answer_blocks(question(), far, rules)
    assert one is not None
    assert other is not None
    assert one.test == other.test == "Wald F"
    assert other.statistic == pytest.approx(one.statistic, rel=1e-2)


def test_one_deployment_is_enough_only_if_it_served_all_levels() -> None:
    logs = logs_of(0.1, rounds=1, blocks=6)
    own = {name: frozenset({name}) for name in logs}
    shared = {name: frozenset({name.split(".")[0]}) for name in logs}
    assert answer_blocks(question(), logs, Rules(by_deployment=True, served=own)) is None
    assert answer_blocks(question(), logs, Rules(by_deployment=True, served=shared)) is not None


def test_levels_measured_apart_are_asked_apart() -> None:
    """Threads 10 and 25 on small machines, 30 and 75 on large ones."""
    factors = {
        "platform": ["native", "docker"],
        "threads": ["t10", "t25", "t30", "t75"],
        "machine": ["small", "large"],
    }
    study = study_of(
        factors,
        {"compare": ["platform"], "by": ["machine", "threads"]},
        exclude=[
            {"machine": "small", "threads": ["t30", "t75"]},
            {"machine": "large", "threads": ["t10", "t25"]},
        ],
    )
    found = questions(conditions_of(study), study.baseline, study.analysis)
    assert [(q.by, q.columns, q.where) for q in found] == [
        ("threads", ("t10", "t25"), "machine small"),
        ("threads", ("t30", "t75"), "machine large"),
    ]
