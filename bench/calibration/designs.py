"""Tare's designs: each turns simulated log values into estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from bench.calibration.noise import BLOCK_SD, IN_TURN, KINDS, draw
from tare.analysis.inference.contrast_estimates import Rules, compare_in_blocks, compare_independent
from tare.analysis.inference.contrasts import Contrast, Contrasts
from tare.analysis.inference.estimates import estimate, make_stratum
from tare.analysis.inference.independent import sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.calibration.noise import Kind
    from tare.analysis.inference.averages import How
    from tare.analysis.inference.estimates import Estimate, Logs

BASELINE = "c0"
SHUFFLED = [kind for kind in KINDS if kind is not IN_TURN]


@dataclass(frozen=True)
class Sized:
    """Conditions, rounds and blocks: what grows when a study gets more units."""

    name: str
    conditions: int
    rounds: int
    blocks: int

    @property
    def growing(self) -> int:
        """Axis of one study's values along which more units are added."""
        return 1 if self.rounds > 1 else 2

    @property
    def treatments(self) -> list[str]:
        """All conditions, or averages, but the baseline."""
        return [f"c{i}" for i in range(1, self.conditions)]

    def resized(self, units: int) -> Self:
        """The same with this many independent units: deployments, or blocks."""
        return replace(self, rounds=units) if self.rounds > 1 else replace(self, blocks=units)


@dataclass(frozen=True)
class Design(Sized):
    """Conditions, rounds of deployments and blocks, and who serves what.

    Attributes:
        fresh: as in a study: one cluster life per condition and round, or per block.
        shared: one deployment serves all conditions (a factor of the load, such as threads).
    """

    fresh: str = "deployment"
    shared: bool = False

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of noise that can befall it; a cluster's state cancels where all share it."""
        return [k for k in SHUFFLED if not (self.shared and k.name == "cluster AR(1)")]

    def draw(
        self,
        kind: Kind,
        cv: float,
        studies: int,
        rng: np.random.Generator,
        block_sd: float = BLOCK_SD,
    ) -> NDArray[np.float64]:
        """Log values of whole studies with no true effect: (studies, conditions, rounds, blocks).

        A life that serves all conditions alike cancels, as what a block shares does.
        """
        shape = studies, self.conditions, self.rounds, self.blocks
        if self.fresh == "block":  # every block of a condition is a life of its own
            shape = studies, self.conditions, self.rounds * self.blocks, 1
        if self.shared:
            kind = replace(kind, life=0.0)
        values = draw(kind, cv, shape, rng, block_sd)
        return values.reshape(studies, self.conditions, self.rounds, self.blocks)

    def estimates(self, values: NDArray[np.float64]) -> dict[str, Estimate]:
        """Tare's estimate of every treatment over the baseline, from one study's values."""
        stratum = make_stratum(as_logs(values), BASELINE, by_deployment=self.fresh == "deployment")
        found = {name: estimate(stratum, name, shared=self.shared) for name in self.treatments}
        return {name: one for name, one in found.items() if one is not None}


def as_logs(values: NDArray[np.float64]) -> Logs:
    """One study's values, shape (conditions, rounds, blocks), as the estimators take them."""
    return {
        f"c{i}": {
            (round_, block): value
            for round_, row in enumerate(condition, start=1)
            for block, value in enumerate(row, start=1)
        }
        for i, condition in enumerate(values.tolist())
    }


CELL_STEP = 0.2
"""How far apart the cells of an average are (log values): a matter of workload."""


@dataclass(frozen=True)
class Averaged(Sized):
    """Treatments averaged over cells, e.g. over compaction strategies and cache settings.

    Attributes:
        cells: conditions averaged; `conditions` are those of one cell.
        how: the average, as in a study.
        imported: repetitions are independent of each other and come without blocks.
    """

    cells: int = 1
    how: How = "model"
    imported: bool = False

    @property
    def kinds(self) -> list[Kind]:
        return KINDS if self.imported else SHUFFLED

    def draw(
        self,
        kind: Kind,
        cv: float,
        studies: int,
        rng: np.random.Generator,
        block_sd: float = BLOCK_SD,
    ) -> NDArray[np.float64]:
        """Log values with no true effect: (studies, conditions x cells, rounds, blocks)."""
        count = self.conditions * self.cells
        whole = studies, count, self.rounds, self.blocks
        level = np.tile(CELL_STEP * np.arange(self.cells), self.conditions)
        if self.imported:  # every repetition is a life of its own
            alone = studies, count, self.rounds * self.blocks, 1
            values = draw(kind, cv, alone, rng, block_sd=0.0).reshape(whole)
        else:
            values = draw(kind, cv, whole, rng, block_sd)
        return values + level[:, None, None]

    def estimates(self, values: NDArray[np.float64]) -> dict[str, Estimate]:
        """Tare's estimate of every treatment over the baseline, from one study's values."""
        logs = as_logs(values)
        rules = Rules(by_deployment=True, how=self.how)
        if self.imported:
            samples = {
                name: sample([math.exp(y) for y in cells.values()]) for name, cells in logs.items()
            }
            found = compare_independent(samples, self._contrasts(), rules)
        else:
            found = compare_in_blocks(logs, self._contrasts(), rules)
        return {one.contrast.treatment: one.estimate for one in found}

    def _contrasts(self) -> Contrasts:
        return Contrasts([self._contrast(i) for i in range(1, self.conditions)], [], [])

    def _contrast(self, treatment: int) -> Contrast:
        first = treatment * self.cells
        row = tuple((f"c{cell}", f"c{first + cell}") for cell in range(self.cells))
        if self.cells == 1:
            return Contrast(BASELINE, f"c{treatment}", "platform", {}, aa=False)
        return Contrast(
            BASELINE, f"c{treatment}", "platform", {}, aa=False, over=("cell",), rows=(row,)
        )


AnyDesign = Design | Averaged

DESIGNS: list[AnyDesign] = [
    Design("3 deployments of 4 blocks, 5 conditions", 5, 3, 4),
    Design("6 deployments of 4 blocks, 2 conditions", 2, 6, 4),
    Design("fresh clusters in each of 10 blocks, 3 conditions", 3, 1, 10, fresh="block"),
    Design("one deployment serves 3 load levels, 10 blocks", 3, 1, 10, shared=True),
    Averaged(
        "model average over 3 load levels, 3 platforms, 3 deployments of 4 blocks", 3, 3, 4, 3
    ),
    Averaged("imported: 5 repetitions of 4 conditions", 4, 1, 5, imported=True),
    Averaged(
        "imported: mean of ratios over 6 cells, 5 repetitions of 4 conditions",
        4,
        6,
        1,
        5,
        "mean-of-ratios",
        imported=True,
    ),
    Averaged(
        "imported: ratio of means over 6 cells, 5 repetitions of 4 conditions",
        4,
        6,
        1,
        5,
        "ratio-of-means",
        imported=True,
    ),
]
CONDITIONAL = Design("one deployment per condition, 10 blocks", 3, 1, 10)
"""Here no verdict is given: simulated to show that, and what the interval would be worth."""
