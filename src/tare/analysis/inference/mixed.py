"""A mixed model of log values, for designs with gaps: blocks and deployments are random."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tare.analysis.inference.estimates import Cell

MOST_TRIALS = 2000
"""The fit inverts matrices of a round's size; larger studies have enough complete blocks."""


@dataclass(frozen=True)
class MixedFit:
    """Least squares means of log values per condition, in the first round, and their covariance.

    Differences between rounds cancel in every contrast of conditions.
    """

    conditions: list[str]
    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    rounds: int


def fit_mixed(
    logs: Mapping[str, Mapping[Cell, float]], served: Mapping[str, frozenset[str]]
) -> MixedFit | None:
    """log value = condition + round + block in round + deployment in round + error, by REML
    (statsmodels MixedLM); condition and round are fixed, the others random.

    Args:
        served: condition to its deployments; conditions with the same ones share them in each
            round.

    Returns:
        None where the fit does not converge, or is too large.
    """
    conditions = sorted(logs)
    rows = [(name, cell, y) for name in conditions for cell, y in logs[name].items()]
    rounds = {cell[0] for _, cell, _ in rows}
    if len(rounds) < 2 or len(rows) > MOST_TRIALS:
        return None
    # slow to import, and needed only where trials are missing
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    place = {name: i for i, name in enumerate(conditions)}
    order = sorted(rounds)
    fixed = np.zeros((len(rows), len(conditions) + len(order) - 1))
    for i, (name, cell, _) in enumerate(rows):
        fixed[i, place[name]] = 1.0
        if cell[0] != order[0]:
            fixed[i, len(conditions) + order.index(cell[0]) - 1] = 1.0
    groups = np.array([cell[0] for _, cell, _ in rows])
    lives = {name: i for i, name in enumerate(conditions)}
    seen: dict[frozenset[str], int] = {}
    for name in conditions:
        lives[name] = seen.setdefault(served.get(name, frozenset({name})), lives[name])
    blocks = [_dummies([cell[1] for _, cell, _ in rows if cell[0] == round_]) for round_ in order]
    deployments = [
        _dummies([lives[name] for name, cell, _ in rows if cell[0] == round_]) for round_ in order
    ]
    random = VCSpec(
        ["block", "deployment"],
        [[[f"b{i}" for i in range(m.shape[1])] for m in blocks],
         [[f"d{i}" for i in range(m.shape[1])] for m in deployments]],
        [blocks, deployments],
    )  # fmt: skip
    response = np.array([y for _, _, y in rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # variances at 0 and slow convergence, judged below
        try:
            model = MixedLM(response, fixed, groups, exog_vc=random)
            found = model.fit(reml=True)
        except (np.linalg.LinAlgError, ValueError):
            return None
    means = np.asarray(found.fe_params, dtype=np.float64)[: len(conditions)]
    covariance = np.asarray(found.cov_params(), dtype=np.float64)[: len(means), : len(means)]
    if not found.converged or not np.isfinite(covariance).all():
        return None
    return MixedFit(conditions, means, covariance, len(rounds))


def _dummies(values: list[int]) -> NDArray[np.float64]:
    levels = sorted(set(values))
    return np.array([[float(value == level) for level in levels] for value in values])
