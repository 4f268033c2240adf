"""The cost of a way over another server: both links of the chain, in one interval."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from tare.analysis.inference.chains import chains_in
from tare.analysis.inference.contrast_estimates import Rules, compare_in_blocks
from tare.analysis.inference.contrasts import Contrast, Contrasts
from tare.analysis.inference.estimates import Logs
from tare.analysis.inference.verdicts import as_ratios
from tare.analysis.model import Chain

ROUNDS = (1, 2, 3, 4)
VALUES = {
    "native": (10.0, 11.0, 10.5, 10.2),
    "again": (10.4, 10.6, 10.9, 10.0),
    "docker.loopback": (12.0, 11.0, 12.5, 11.4),
    "docker.bridge": (13.1, 12.0, 13.7, 12.5),
}
SERVED = {"native": "a", "again": "b", "docker.loopback": "c", "docker.bridge": "c"}
ASKED = (
    Contrast("native", "again", "platform", {}, aa=True),
    Contrast("native", "docker.loopback", "platform", {"platform": "docker"}, aa=False),
    Contrast("docker.loopback", "docker.bridge", "endpoint", {"endpoint": "bridge"}, aa=False),
)


def logs() -> Logs:
    return {
        name: {(r, 1): math.log(value) for r, value in zip(ROUNDS, own, strict=True)}
        for name, own in VALUES.items()
    }


def rules(**apart: str) -> Rules:
    served = SERVED | apart
    return Rules(
        by_deployment=True,
        served={n: frozenset(f"D{r}-{s}" for r in ROUNDS) for n, s in served.items()},
    )


def chains(asked: tuple[Contrast, ...] = ASKED, how: Rules | None = None) -> list[Chain]:
    how = how or rules()
    contrasts = Contrasts(list(asked), [], [("native", "again")])
    effects: list[Any] = [
        SimpleNamespace(
            metric="service_demand",
            baseline=one.contrast.baseline,
            treatment=one.contrast.treatment,
            over=[],
            ratio=math.exp(one.estimate.log_ratio),
            ci=as_ratios(one.estimate.interval(0.95)),
            level=0.95,
        )
        for one in compare_in_blocks(logs(), contrasts, how)
    ]
    return chains_in({"service_demand": logs()}, contrasts, effects, how)


def test_the_whole_is_the_product_of_its_links() -> None:
    (one,) = chains()
    assert (one.baseline, one.through, one.treatment) == (
        "native", "docker.loopback", "docker.bridge",
    )  # fmt: skip
    assert one.ratio == pytest.approx(one.links[0].ratio * one.links[1].ratio)
    assert one.treatment_value / one.baseline_value == pytest.approx(one.ratio)
    assert one.deployments == len(ROUNDS)


def test_its_interval_is_that_of_the_rounds_own_differences() -> None:
    """The loopback's chance is in both links, once each way: adding their variances would count
    it twice, where it is not in the whole at all."""
    (one,) = chains()
    table = logs()
    own = [
        table["docker.bridge"][r, 1] - (table["native"][r, 1] + table["again"][r, 1]) / 2
        for r in ROUNDS
    ]
    mean = sum(own) / len(own)
    se = math.sqrt(sum((y - mean) ** 2 for y in own) / (len(own) - 1) / len(own))
    half = 3.182446 * se  # t of 3 degrees of freedom
    assert math.log(one.ratio) == pytest.approx(mean)
    assert one.ci == pytest.approx((math.exp(mean - half), math.exp(mean + half)), rel=1e-5)


def test_servers_apart_make_no_chain() -> None:
    assert chains(how=rules(**{"docker.bridge": "d"})) == [], "two steps between servers"
    direct = Contrast("native", "docker.bridge", "platform", {}, aa=False)
    assert chains((*ASKED, direct)) == [], "the study compares the two itself"
    assert chains(ASKED[:2]) == []
