"""Durations, sizes, fractions and CPU lists as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.study.quantities import cpus_of, parse_duration, parse_fraction, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10.0), ("2m", 120.0), ("1h30m", 5400.0), ("1m30s", 90.0), (2.5, 2.5), (3, 3)],
)
def test_a_duration_is_seconds(text: object, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "10x", "soon", "1:30"])
def test_a_duration_needs_its_unit(text: str) -> None:
    with pytest.raises(ValueError, match="10s, 2m"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MiB", 512 * 1024**2),
        ("2GiB", 2 * 1024**3),
        ("1.5 GiB", 3 * 1024**3 // 2),
        ("100MB", 100_000_000),
        ("0MiB", 0),
        (4096, 4096),
    ],
)
def test_a_size_is_bytes(text: object, size: int) -> None:
    assert parse_size(text) == size


def test_a_size_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="more than any machine has"):
        parse_size("9" * 400 + "MiB")


@pytest.mark.parametrize("text", ["512m", "512", "1Mib", "-1MiB", "MiB"])
def test_a_size_without_a_clear_unit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="512MiB"):
        parse_size(text)


@pytest.mark.parametrize(("text", "meant"), [("2G", "2GiB"), ("512M", "512MiB")])
def test_a_size_in_the_units_of_java_suggests_what_it_means(text: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean {meant}"):
        parse_size(text)


@pytest.mark.parametrize(("text", "fraction"), [("5%", 0.05), ("0.5%", 0.005), (0.05, 0.05)])
def test_a_percentage_is_a_fraction(text: object, fraction: float) -> None:
    assert parse_fraction(text) == pytest.approx(fraction)


@pytest.mark.parametrize("text", ["5", "%", "five%", "nan%", "inf%"])
def test_a_text_that_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it like 5%"):
        parse_fraction(text)


@pytest.mark.parametrize(
    ("text", "cpus"), [("0", {0}), ("0-2", {0, 1, 2}), ("0,2", {0, 2}), ("0-1,4", {0, 1, 4})]
)
def test_a_cpu_list_is_read_as_linux_writes_it(text: str, cpus: set[int]) -> None:
    assert cpus_of(text) == cpus


@pytest.mark.parametrize("text", ["", "a", "0-", "2-0", "0,", "-1", "99999"])
def test_a_cpu_list_that_linux_would_refuse_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="CPU"):
        cpus_of(text)


@given(st.sets(st.integers(0, 200), min_size=1))
def test_every_cpu_of_a_list_comes_back(cpus: set[int]) -> None:
    assert cpus_of(",".join(map(str, cpus))) == cpus


@given(st.integers(0, 10**6), st.sampled_from(["KiB", "MiB", "GiB"]))
def test_a_size_is_its_number_times_its_unit(number: int, unit: str) -> None:
    power = ("KiB", "MiB", "GiB").index(unit) + 1
    assert parse_size(f"{number}{unit}") == number * 1024**power
