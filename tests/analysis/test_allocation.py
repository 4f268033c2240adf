"""More and shorter rounds, or fewer and longer ones, by the run's own noise."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from tare.analysis.allocation import allocation, half_width
from tare.analysis.model import IdenticalSpread
from tare.analysis.slices import SliceRow
from tare.analysis.trials import Trial
from tare.report import identical

ROUND_S, DRIVEN_S, MEASURE_S = 90.0, 60.0, 2.0
PRIMARY = ("service_demand", "throughput")
MEASURES = dict.fromkeys(("c0", "c1", "c2", "none that was run"), MEASURE_S)


def trials(
    rounds: int = 9,
    deployments: tuple[str, ...] = ("native", "again"),
    slices: int = 101,
    driven_s: float = DRIVEN_S,
) -> list[Trial]:
    """Rounds of 90 seconds that drive their conditions for 60 seconds or less."""
    return [
        Trial(
            f"D{round_}-{place}",
            SimpleNamespace(  # type: ignore[arg-type]  # as much of a manifest as counts
                status="done",
                source=None,
                round=round_,
                block=1,
                condition=f"c{place}",
                deployment=f"D{round_}-{name}",
                started=datetime.fromtimestamp(round_ * ROUND_S, UTC).isoformat(),
            ),
            slices=[
                SliceRow(round_ * ROUND_S + driven_s * index / (slices - 1), 100, 0.02, 0.1)
                for index in range(slices)
            ],
        )
        for round_ in range(1, rounds + 1)
        for place, name in enumerate(deployments)
    ]


def spread(
    sd: float, slices: float | None, df: float = 16, metric: str = "service_demand"
) -> list[IdenticalSpread]:
    return [
        IdenticalSpread(
            metric=metric, baseline="native", sd=sd, df=df, slices=slices, unit="deployment"
        )
    ]


def test_where_deployments_differ_many_short_rounds_are_better() -> None:
    """Slices are a tenth of the variance: a round's driving may be cut to a fraction."""
    found = allocation(trials(), spread(0.02, 0.02 * 0.1**0.5), PRIMARY, MEASURES)
    assert found is not None
    assert (found.now, found.metric) == (9, "service_demand")
    assert found.rounds > 15
    assert found.measure_s < MEASURE_S / 2
    share = (9 * ROUND_S / found.rounds - (ROUND_S - DRIVEN_S)) / DRIVEN_S
    assert found.measure_s == pytest.approx(share * MEASURE_S, rel=0.06)
    expected = half_width(0.9, 0.1 / share, found.rounds) / half_width(0.9, 0.1, 9)
    assert found.apart == pytest.approx(expected)
    assert found.apart < 0.8 < 1 < found.inside


def test_where_slices_are_all_the_noise_rounds_stay_as_they_are() -> None:
    assert allocation(trials(), spread(0.02, 0.03), PRIMARY, MEASURES) is None


def test_where_servers_are_alike_few_long_rounds_are_better() -> None:
    """Making servers takes most of each round, and all noise is from slices."""
    found = allocation(trials(30, driven_s=20.0), spread(0.02, 0.03, df=29), PRIMARY, MEASURES)
    assert found is not None
    assert found.rounds < 30
    assert found.measure_s > MEASURE_S
    assert found.apart == pytest.approx(found.inside)


def test_of_primary_metrics_the_one_that_gains_least_decides() -> None:
    """Slices are a tenth of service demand's variance and three tenths of throughput's."""
    demand = spread(0.02, 0.02 * 0.1**0.5)
    throughput = spread(0.02, 0.02 * 0.3**0.5, metric="throughput")
    alone = allocation(trials(), demand, PRIMARY, MEASURES)
    both = allocation(trials(), [*demand, *throughput], PRIMARY, MEASURES)
    secondary = allocation(trials(), [*demand, *throughput], ("service_demand",), MEASURES)
    assert alone is not None
    assert both is not None
    assert (both.metric, secondary) == ("throughput", alone)
    assert both.rounds < alone.rounds
    assert alone.apart < both.apart < 0.9
    for noise in (demand, throughput):
        (one,) = noise
        slices = (one.slices or 0.0) ** 2
        rest = one.sd**2 - slices
        gained = half_width(rest, slices / both.share, both.rounds) / half_width(rest, slices, 9)
        assert gained <= both.apart + 1e-9


def test_a_metric_that_asks_for_the_rounds_as_they_are_keeps_them() -> None:
    noise = [*spread(0.02, 0.02 * 0.1**0.5), *spread(0.02, 0.03, metric="throughput")]
    assert allocation(trials(), noise, PRIMARY, MEASURES) is None


def test_where_levels_set_the_measuring_each_is_told_its_share() -> None:
    """The study's base then applies to no condition, or to some."""
    noise = spread(0.02, 0.02 * 0.1**0.5)
    found = allocation(trials(), noise, PRIMARY, MEASURES | {"c1": 4.0})
    set_ = allocation(trials(), noise, PRIMARY, MEASURES | {"c0": 4.0, "c1": 4.0})
    assert found is not None
    assert set_ is not None
    assert found.measure_s is None
    assert set_.measure_s == pytest.approx(4.0 * set_.share, rel=0.06)
    (said,) = identical._allocated(SimpleNamespace(allocation=found))  # type: ignore[arg-type]
    assert f"{found.rounds} rounds with {found.share:.0%} of each load.measure would take" in said


def test_what_endpoints_of_one_server_lose_is_weighed_against_it() -> None:
    noise = spread(0.02, 0.02 * 0.1**0.5)
    apart = allocation(trials(), noise, PRIMARY, MEASURES)
    both = allocation(trials(deployments=("native", "docker", "docker")), noise, PRIMARY, MEASURES)
    assert apart is not None
    assert both is not None
    assert both.rounds < apart.rounds
    assert both.inside < apart.inside


@pytest.mark.parametrize(
    ("made", "noise"),
    [
        (trials(), spread(0.02, None)),
        (trials(), spread(0.02, 0.005, df=4)),
        (trials(2), spread(0.02, 0.005)),
        (trials(), []),
    ],
    ids=["in one piece", "an sd of few", "two rounds", "no sd"],
)
def test_nothing_is_said_of_what_is_not_known(
    made: list[Trial], noise: list[IdenticalSpread]
) -> None:
    assert allocation(made, noise, PRIMARY, MEASURES) is None


def test_a_block_keeps_the_passes_that_a_fit_needs() -> None:
    """Of 101 slices a twelfth would remain; of 14, a block keeps the eight that a fit needs."""
    noise = spread(0.02, 0.001)
    many, few = (allocation(trials(slices=n), noise, PRIMARY, MEASURES) for n in (101, 14))
    assert many is not None
    assert few is not None
    assert few.measure_s >= MEASURE_S * 8 / 14 > many.measure_s
    assert allocation(trials(slices=10), noise, PRIMARY, MEASURES) is None


def test_the_report_says_it_in_a_sentence() -> None:
    found = allocation(trials(), spread(0.02, 0.02 * 0.1**0.5), PRIMARY, MEASURES)
    assert found is not None
    (said,) = identical._allocated(SimpleNamespace(allocation=found))  # type: ignore[arg-type]
    assert f"{found.rounds} rounds with load.measure: {found.measure_s:g}s" in said
    assert "narrower, inside one deployment" in said
    assert said.endswith("wider.")
