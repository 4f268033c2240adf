"""The arithmetic of the load generators' comparison: known answers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from bench.load.clients import Said
from bench.load.compare import medians, ratio, ratios
from bench.load.measure import SAMPLE_S, Cpus, Run, Sample, summary
from bench.load.page import BEGIN, END, inserted, markdown, verdict_of
from bench.load.warm import flat

from tare.errors import LoadError

RUN = Run(
    per_second=40_000.0, cpu_us=2.0, cpu_us_whole=2.1, server_cpu_us=16.0, first_second=1.0,
    rss_mb=20.0, errors=0, p50_us=1300.0, p99_us=2800.0, seconds=(40_000,) * 20, undisturbed_s=8.0,
)  # fmt: skip


SAID = Said(operations=1000, errors=0, p50_us=None, p99_us=None)


def _samples(counts: list[int], cpu_us: float) -> list[Sample]:
    """Counters that grow by these requests each sample, at a constant cost to the client."""
    samples = [Sample(0.0, 1000, 5.0, 50.0)]
    for count in counts:
        last = samples[-1]
        samples.append(
            Sample(
                last.at + SAMPLE_S,
                last.requests + count,
                last.client_cpu + count * cpu_us / 1e6,
                last.server_cpu + count * 2 * cpu_us / 1e6,
                last.rss_mb + 1.0,
            )
        )
    return samples


def test_the_second_half_of_the_traffic_is_what_counts() -> None:
    # two idle samples (start-up), a slow second, then 1000 requests a sample, and the end
    counts = [0, 1, *[500] * 4, *[1000] * 16, 0]
    run = summary(_samples(counts, 3.0), 4.0, SAID)
    assert run.per_second == pytest.approx(1000 / SAMPLE_S)
    assert run.cpu_us == pytest.approx(3.0)
    assert run.server_cpu_us == pytest.approx(6.0)
    assert run.cpu_us_whole == 4.0
    assert run.rss_mb == len(counts)


def _stolen(samples: list[Sample], places: set[int]) -> list[Sample]:
    """The same, but the host takes 10 ms in these intervals, which count as the client's."""
    taken = [sum(place < at for place in places) for at in range(len(samples))]
    return [
        replace(one, steal=ticks, client_cpu=one.client_cpu + ticks * 0.01)
        for one, ticks in zip(samples, taken, strict=True)
    ]


def test_what_the_host_took_is_not_laid_to_the_client() -> None:
    samples = _stolen(_samples([1000] * 24, 3.0), set(range(0, 24, 3)))
    run = summary(samples, 4.0, SAID)
    assert run.cpu_us == pytest.approx(3.0)
    assert run.per_second == pytest.approx(1000 / SAMPLE_S)
    assert not run.disturbed


def test_a_run_without_a_second_undisturbed_counts_whole_and_says_so() -> None:
    samples = _stolen(_samples([1000] * 24, 3.0), set(range(24)) - {20, 21, 22})
    run = summary(samples, 4.0, SAID)
    assert run.undisturbed_s == pytest.approx(3 * SAMPLE_S)
    assert run.disturbed
    assert run.cpu_us > 3.0


def test_the_cpus_looked_at_are_those_of_node_and_client() -> None:
    assert Cpus("0", "2-3").numbers() == {0, 2, 3}


def test_the_first_second_is_told_beside_the_median_one() -> None:
    run = summary(_samples([0, *[500] * 4, *[1000] * 17], 3.0), 4.0, SAID)
    assert run.seconds[0] == 2000
    assert run.first_second == pytest.approx(0.5)


@pytest.mark.parametrize("counts", [[0] * 40, [1000] * 6])
def test_too_little_traffic_is_refused(counts: list[int]) -> None:
    with pytest.raises(LoadError, match="less than two seconds"):
        summary(_samples(counts, 3.0), 4.0, SAID)


def test_a_constant_ratio_has_no_spread() -> None:
    found = ratio([2.0, 4.0, 8.0], [1.0, 2.0, 4.0])
    assert (found.estimate, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))


def test_the_interval_is_students_of_the_logarithms() -> None:
    # logs 0 and ln 4: mean ln 2, standard error ln 2; t of 0.975 with 1 degree is 12.7062
    found = ratio([1.0, 4.0], [1.0, 1.0])
    assert found.estimate == pytest.approx(2.0)
    assert found.high == pytest.approx(2.0 * math.exp(12.7062 * math.log(2)), rel=1e-4)


def test_one_pair_has_no_interval() -> None:
    assert (ratio([2.0], [1.0]).low, ratio([2.0], [1.0]).high) == (None, None)


def test_what_a_client_does_not_report_has_no_ratio() -> None:
    silent = replace(RUN, p50_us=None)
    assert ratios({"tare-load": [RUN], "floor": [silent]}, "tare-load")["floor"]["p50_us"] is None


def test_warming_ends_when_three_bursts_cost_the_same() -> None:
    assert not flat([60.0, 30.0])
    assert not flat([60.0, 30.0, 20.0, 19.0])
    assert flat([60.0, 20.0, 19.8, 19.9])


def test_the_page_says_which_target_is_missed() -> None:
    runs = {
        "floor": [replace(RUN, cpu_us=1.0), replace(RUN, cpu_us=1.0)],
        "tare-load": [RUN, RUN],
        "latte": [replace(RUN, cpu_us=6.0), replace(RUN, cpu_us=6.0)],
    }
    found = ratios(runs, "tare-load")
    text = markdown(
        {
            "began": "2026-11-21T00:00:00+00:00",
            "machine": {"processor": "P", "cpus": 2, "kernel": "6", "load_average": 0.1},
            "cassandra": "5.0.9",
            "cpus": {"server": "0", "client": "1"},
            "load": {"rows": 1000, "row_bytes": 100, "in_flight": 64},
            "blocks": 2,
            "seconds": 20,
            "versions": dict.fromkeys(runs, "1"),
            "flat": False,
            "medians": medians(runs),
            "ratios": {
                name: {metric: one and vars(one) for metric, one in own.items()}
                for name, own in found.items()
            },
            "instructions": {"floor": 1234.5},
            "runs": {
                "latte": [
                    {"errors": 0, "undisturbed_s": 5.0},
                    {"errors": 3, "undisturbed_s": 0.75},
                ],
                "floor": [{"errors": 0, "undisturbed_s": 5.0}],
            },
        }
    )
    assert "of latte's | at most 0.5 | 0.33 [0.33, 0.33] | holds |" in text
    assert "of the floor's | at most 1.5 | 2.00 [2.00, 2.00] | **missed** |" in text
    assert "not flat" in text
    assert "latte had 3 failed operations" in text
    assert "floor had" not in text
    assert "In 1 of 3 runs the host took CPU time all along." in text
    assert "| floor | 1,234 |" in text


def test_a_target_within_the_interval_is_not_decided() -> None:
    wide = {"estimate": 0.9, "low": 0.5, "high": 1.6}
    assert verdict_of(wide, 1.5) == "not decided"
    assert verdict_of(wide, 1.7) == "holds"
    assert verdict_of(wide, 0.4) == "**missed**"
    assert verdict_of({"estimate": 0.9, "low": None, "high": None}, 1.5).startswith("not decided")


def test_a_page_takes_new_tables_in_place_of_old_ones() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert inserted(page, "new\n") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    assert inserted(inserted(page, "old\n"), "new\n") == inserted(page, "new\n")


def test_a_page_without_a_place_for_tables_is_refused() -> None:
    with pytest.raises(LoadError, match="no place"):
        inserted(f"{BEGIN}\n", "new\n")
