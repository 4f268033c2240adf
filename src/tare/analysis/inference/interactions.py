"""Whether the effect of a comparison depends on another factor, in factorial studies.

Where the design is balanced, the F test of the right error stratum is exact and is used: inside
each unit of analysis, a contrast of contrasts cancels what the unit and a deployment's own level
add to all its conditions. Where trials are missing, a mixed model stands in (`mixed`).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import special

from tare.analysis.catalogue import describe
from tare.analysis.inference.estimates import by_unit
from tare.analysis.inference.mixed import fit_mixed
from tare.analysis.inference.multiplicity import benjamini_hochberg
from tare.analysis.inference.significance import PLAIN
from tare.analysis.model import Interaction
from tare.study.metric_names import lowered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tare.analysis.inference.contrast_estimates import Rules, Samples
    from tare.analysis.inference.estimates import Cell, Logs
    from tare.analysis.inference.factorial import Question
    from tare.analysis.inference.significance import SignificanceLevels

    Array = NDArray[np.float64]

ALPHA = 0.05
TINY = 1e-24


@dataclass(frozen=True)
class InteractionAnswer:
    """Means of log values per cell, the variance of a contrast of them, and the test.

    Attributes:
        unit_variance: variance of a contrast of contrasts (four cells, each once); the largest
            where they differ.
    """

    means: Array
    unit_variance: float
    test: Literal["F", "Wald F"]
    statistic: float
    df: float
    method: str


def answer_samples(question: Question, samples: Samples) -> InteractionAnswer | None:
    """F test over independent repetitions, variance pooled over the conditions. It is exact also
    for unequal numbers of repetitions (general linear hypothesis on cell means)."""
    if any(name not in samples for name in question.conditions):
        return None
    df = sum(samples[name].df for name in question.conditions)
    squares = sum(samples[name].variance * samples[name].df for name in question.conditions)
    if df < 1 or squares / df < TINY:
        return None
    variance = squares / df
    means = _over_cells(question, {name: samples[name].mean_log for name in question.conditions})
    shares = _over_cells(question, {name: 1 / samples[name].n for name in question.conditions})
    shares /= len(question.cells[0][0])
    return InteractionAnswer(
        means,
        4 * variance * float(shares.max()),
        "F",
        _hypothesis(means, np.diag(variance * shares.ravel())),
        float(df),
        "F test of the interaction on cell means, independent repetitions, variance pooled over "
        f"{len(question.conditions)} conditions",
    )


def answer_blocks(question: Question, logs: Logs, rules: Rules) -> InteractionAnswer | None:
    """F test against interaction by unit of analysis; exact where no trial is missing."""
    if any(name not in logs for name in question.conditions):
        return None
    rounds = {cell[0] for name in question.conditions for cell in logs[name]}
    single = rules.by_deployment and len(rounds) < 2
    if single and not _same_lives(question, rules):
        return None
    by_round = rules.by_deployment and not single
    held = [set(logs[name]) for name in question.conditions]
    if by_round and set.union(*held) != set.intersection(*held):
        mixed = _mixed(question, logs, rules)
        if mixed is not None:
            return mixed
    common = sorted(set.intersection(*held))
    units = by_unit({cell: cell for cell in common}, by_deployment=by_round)
    if len(units) < 2:
        return None
    tables = np.stack(
        [
            _over_cells(question, {n: _mean(logs[n], cells) for n in question.conditions})
            for cells in units.values()
        ]
    )
    return _against_units(question, tables, "deployments" if by_round else "blocks")


def _against_units(question: Question, tables: Array, kind: str) -> InteractionAnswer | None:
    """Mean square of the interaction over that of interaction by unit."""
    inner = tables - tables.mean(axis=1, keepdims=True) - tables.mean(axis=2, keepdims=True)
    inner += tables.mean(axis=(1, 2), keepdims=True)
    mean = inner.mean(axis=0)
    count, q = len(tables), question.freedom
    error = float(((inner - mean) ** 2).sum()) / (q * (count - 1))
    if error < TINY:
        return None
    return InteractionAnswer(
        tables.mean(axis=0),
        4 * error / count,
        "F",
        count * float((mean**2).sum()) / q / error,
        float(q * (count - 1)),
        f"F test of the interaction against interaction by unit, over {count} {kind}",
    )


def _mixed(question: Question, logs: Logs, rules: Rules) -> InteractionAnswer | None:
    fit = fit_mixed({n: logs[n] for n in question.conditions}, rules.served)
    if fit is None:
        return None
    names = fit.conditions
    place = {name: i for i, name in enumerate(names)}
    size = len(question.cells[0][0])
    flat = [cell for row in question.cells for cell in row]
    mean = np.zeros((len(flat), len(names)))
    for i, cell in enumerate(flat):
        for name in cell:
            mean[i, place[name]] = 1 / size
    means = (mean @ fit.means).reshape(len(question.rows), len(question.columns))
    covariance = mean @ fit.covariance @ mean.T
    df = float(question.freedom * (fit.rounds - 1))
    pairs = _all_pairs(*means.shape)
    return InteractionAnswer(
        means,
        float(np.diag(pairs @ covariance @ pairs.T).max()),
        "Wald F",
        _hypothesis(means, covariance),
        df,
        "Wald test of the interaction in a mixed model (condition and round fixed; block and "
        "deployment random; REML), because trials are missing; degrees of freedom as if none were",
    )


def _same_lives(question: Question, rules: Rules) -> bool:
    """Each compared combination was served at all levels by the same deployments."""
    return all(
        len({rules.served.get(name) for cell in row for name in cell}) == 1
        for row in question.cells
    )


def _mean(values: Mapping[Cell, float], cells: Sequence[Cell]) -> float:
    return sum(values[cell] for cell in cells) / len(cells)


def _over_cells(question: Question, values: Mapping[str, float]) -> Array:
    """Rows by columns: the mean over the conditions of each cell."""
    return np.array(
        [[sum(values[n] for n in cell) / len(cell) for cell in row] for row in question.cells]
    )


def _contrasts(rows: int, columns: int) -> Array:
    """Every row against the first, every column against the first."""
    one = np.hstack([-np.ones((rows - 1, 1)), np.eye(rows - 1)])
    other = np.hstack([-np.ones((columns - 1, 1)), np.eye(columns - 1)])
    return np.kron(one, other).astype(np.float64)


def _all_pairs(rows: int, columns: int) -> Array:
    """Every row against the first, every column against every other."""
    one = np.hstack([-np.ones((rows - 1, 1)), np.eye(rows - 1)])
    eye = np.eye(columns)
    other = np.array([eye[j] - eye[i] for i, j in itertools.combinations(range(columns), 2)])
    return np.kron(one, other).astype(np.float64)


def _hypothesis(means: Array, covariance: Array) -> float:
    """F of no interaction: (L m)' (L V L')^-1 (L m) / q."""
    contrasts = _contrasts(*means.shape)
    distance = contrasts @ means.ravel()
    inner = contrasts @ covariance @ contrasts.T
    return float(distance @ np.linalg.solve(inner, distance)) / len(distance)


def interactions(
    found: Sequence[tuple[str, Question, InteractionAnswer]], levels: SignificanceLevels = PLAIN
) -> list[Interaction]:
    """The answers, p values adjusted over all of them.

    Args:
        found: (metric, question, answer).
        levels: of the look at which the run ended.
    """
    if not found:
        return []
    plain = [float(special.fdtrc(q.freedom, a.df, a.statistic)) for _, q, a in found]
    ps = [levels.corrected_p(p) for p in plain]
    adjusted = benjamini_hochberg(ps)
    return [
        _interaction(*one, (p, float(after)), levels.interval)
        for one, p, after in zip(found, ps, adjusted, strict=True)
    ]


def _interaction(
    metric: str,
    question: Question,
    answer: InteractionAnswer,
    ps: tuple[float, float],
    level: float,
) -> Interaction:
    p, adjusted = ps
    effects = answer.means[1:] - answer.means[0]
    pairs = list(itertools.combinations(range(len(question.columns)), 2))
    row, (first, second) = max(
        itertools.product(range(len(effects)), pairs),
        key=lambda one: abs(effects[one[0], one[1][1]] - effects[one[0], one[1][0]]),
    )
    log = float(effects[row, second] - effects[row, first])
    quantile = 1 - (1 - level) / 2 / (len(effects) * len(pairs))
    half = min(float(special.stdtrit(answer.df, quantile)) * math.sqrt(answer.unit_variance), 300.0)
    depends = adjusted <= ALPHA
    what, at = question.rows[row + 1], (question.columns[first], question.columns[second])
    sentence = (
        f"What {what} does to {_title(metric)} "
        f"{'depends' if depends else 'is not shown to depend'} on {question.by}"
        f"{' (' + question.where + ')' if question.where else ''}: "
        f"{_change(effects[row, first])} at {at[0]}, {_change(effects[row, second])} at {at[1]}."
    )
    return Interaction(
        metric=metric,
        compared=list(question.compared),
        by=question.by,
        where=question.where,
        test=answer.test,
        statistic=answer.statistic,
        df=(float(question.freedom), answer.df),
        p=p,
        p_adjusted=adjusted,
        depends=depends,
        largest=math.exp(log),
        largest_ci=(math.exp(log - half), math.exp(log + half)),
        largest_of=f"{what}: {at[1]} over {at[0]}",
        sentence=sentence,
        method=f"{answer.method}; {question.freedom} and {answer.df:g} degrees of freedom.",
    )


def _change(log: float) -> str:
    return f"{math.expm1(log) * 100:+.1f}%".replace("-", "\u2212")


def _title(metric: str) -> str:
    """The metric's title as it stands inside a sentence."""
    return lowered(describe(metric).title)
