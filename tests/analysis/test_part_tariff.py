"""Prices of single operations, arranged for the counts of trials."""

from __future__ import annotations

from tare.analysis.part_tariff import SERVICES, PartTariff
from tests.analysis.test_operation_lines import parts


def test_a_price_errs_with_the_rounds_that_it_was_measured_in() -> None:
    made = parts(half=5.0)
    fewer = [one.model_copy(update={"rounds": 3}) for one in made.prices]
    reads = next(one for one in SERVICES if one.title == "reads")
    for found, df in ((made, 4), (made.model_copy(update={"prices": fewer}), 2)):
        tariff = PartTariff([found])
        for amount in (tariff.natively(reads), tariff.added(reads, "docker", "volume")):
            assert amount is not None
            assert amount.df == df
