"""Studies in slices that end at looks: when, at which level, and whether promises hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.calibration.looks import LOOK, PLANNED, Study, until_decided
from bench.calibration.page import sliced_looks_tables
from bench.calibration.sliced_looks import MARGIN, Asked, drawn, follow, simulate
from bench.calibration.slices import ENDPOINTS, SERVERS, TROUBLES, Trouble
from numpy.typing import NDArray

ERRORS = 4
CONDITIONS = len(SERVERS)


def slack(share: float, studies: int) -> float:
    """Four binomial standard errors of such a share."""
    return ERRORS * math.sqrt(share * (1 - share) / studies)


def values(deployments: float, endpoints: float) -> NDArray[np.float64]:
    """A study without effects, with this noise (sd) of its servers, and three endpoints."""
    rng = np.random.default_rng(3)
    logs = rng.normal(0.0, deployments, (max(SERVERS) + 1, PLANNED))[list(SERVERS)]
    logs[-len(ENDPOINTS) :] += rng.normal(0.0, endpoints, (len(ENDPOINTS), PLANNED))
    return logs[:, :, None]


def study(deployments: float, endpoints: float) -> Study:
    return Study(Asked(), values(deployments, endpoints), PLANNED, MARGIN)


def test_a_quiet_study_ends_at_the_first_look_with_wider_intervals() -> None:
    told = until_decided(study(0.002, 0.001))
    assert (told.rounds, told.verdicts) == (LOOK, ["equivalent"] * 4)
    (found, *_) = Asked().estimates(values(0.002, 0.001)[:, :LOOK]).values()
    low, high = found.interval(0.95)
    assert told.intervals[0][0] < low < high < told.intervals[0][1]


@pytest.mark.parametrize(("deployments", "endpoints"), [(0.05, 0.001), (0.002, 0.05)])
def test_a_study_goes_on_while_one_kind_of_comparison_is_open(
    deployments: float, endpoints: float
) -> None:
    told = until_decided(study(deployments, endpoints))
    assert told.rounds == PLANNED
    decided = [one != "inconclusive" for one in told.verdicts]
    assert any(decided) != all(decided)


def test_the_second_native_server_is_not_asked_about() -> None:
    noisy = values(0.002, 0.001)
    noisy[1] += 0.2 * (-1) ** np.arange(PLANNED)[:, None]
    assert list(Asked().estimates(noisy)) == ["c3", "c4", "c5", "c2"]


def test_ends_are_counted_per_study_and_kinds_apart() -> None:
    found = follow("two", [study(0.002, 0.001), study(0.05, 0.001)])
    assert (found.alike.early.value, found.alike.rounds) == (0.5, (LOOK + PLANNED) / 2)
    assert found.alike.undecided.value == 0.5
    _, endpoints = found.parts["endpoints"]
    assert (endpoints.coverage.value, endpoints.false_alarms.value) == (1.0, 0.0)


def test_the_page_tells_both_kinds_and_ends_and_marks_what_is_missed() -> None:
    studies = [study(0.002, 0.001)] * 2
    text = sliced_looks_tables([follow("none", studies)])
    assert "| none | container over native | 100.0% ±50.0 | 100.0% ±50.0 | 0.0% ±50.0 |" in text
    assert "| none | 100.0% ±50.0 | 0.0% ±50.0 | 5.0 | 100.0% ±50.0 | 0.0% ±50.0 | 5.0 |" in text
    assert "**" not in text
    off = values(0.002, 0.001)
    off[-3:] += 0.02
    wrong = [Study(Asked(), off, PLANNED, MARGIN)] * 200
    assert "| off | endpoints | **0.0% ±0.5** |" in sliced_looks_tables([follow("off", wrong)])


def test_chunks_are_drawn_alike_whoever_draws_them() -> None:
    first, again, other = (drawn(TROUBLES[1], chunk, 1) for chunk in (0, 0, 1))
    assert first.shape == (1, CONDITIONS, PLANNED, 1)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("trouble", [TROUBLES[1], TROUBLES[3]], ids=lambda one: one.name)
def test_looks_at_studies_in_slices_keep_their_promises(trouble: Trouble) -> None:
    studies = 60
    found = simulate(trouble, studies)
    for _, looks in found.parts.values():
        assert looks.coverage.value >= 0.95 - slack(0.95, studies)
        assert looks.false_alarms.value <= 0.05 + slack(0.05, studies)
        assert looks.tost_size.value <= 0.05 + slack(0.05, studies)
    assert LOOK <= found.alike.rounds <= PLANNED
