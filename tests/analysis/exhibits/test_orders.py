"""Orders, ties, and what recurs in several of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.analysis.exhibits.orders import as_text, order_of, ranks, recurring

# Truyen 2018, Table II: 95th percentiles (ms) of updates, update-heavy and read-heavy workloads
UPDATE_HEAVY = {"vm-ip": 16.5, "vm-name": 16.7, "docker": 18.8, "swarm": 20.2, "k8s": 21.1}
READ_HEAVY = {"vm-ip": 15.9, "docker": 15.9, "vm-name": 16.8, "k8s": 19.1, "swarm": 20.2}


def test_the_order_of_a_published_table() -> None:
    order = order_of(UPDATE_HEAVY, lower_first=True)
    assert as_text(order) == "vm-ip < vm-name < docker < swarm < k8s"
    assert ranks(order) == {"vm-ip": 1, "vm-name": 2, "docker": 3, "swarm": 4, "k8s": 5}


def test_equal_means_share_a_rank_and_its_mean_place() -> None:
    order = order_of(READ_HEAVY, lower_first=True)
    assert as_text(order) == "docker = vm-ip < vm-name < k8s < swarm"
    assert ranks(order)["docker"] == ranks(order)["vm-ip"] == 1.5


def test_throughput_is_best_where_it_is_highest() -> None:
    assert order_of({"a": 1.0, "b": 2.0}, lower_first=False) == (("b",), ("a",))


def test_ties_are_a_share_of_the_smaller_value() -> None:
    values = {"a": 100.0, "b": 102.0, "c": 104.0, "d": 120.0}
    assert as_text(order_of(values, lower_first=True, ties=0.02)) == "a = b = c < d"
    assert as_text(order_of(values, lower_first=True, ties=0.019)) == "a < b < c < d"


def test_what_two_published_columns_have_in_common() -> None:
    orders = [order_of(v, lower_first=True) for v in (UPDATE_HEAVY, READ_HEAVY)]
    mean = {name: UPDATE_HEAVY[name] + READ_HEAVY[name] for name in UPDATE_HEAVY}
    found = recurring(orders, mean)
    assert not found.same
    assert found.by_chance is None  # a tie has no such probability
    assert found.names == ["vm-ip", "vm-name", "docker", "k8s", "swarm"]
    # docker is before vm-name once, k8s before swarm once
    assert found.before_next == [2, 1, 2, 1]
    assert set(found.settled) == {
        ("vm-ip", "vm-name"),
        ("vm-name", "swarm"),
        ("vm-name", "k8s"),
        ("docker", "swarm"),
        ("docker", "k8s"),
    }


def test_how_likely_chance_repeats_an_order() -> None:
    orders = [(("a",), ("b",), ("c",))] * 3
    found = recurring(orders, {"a": 1, "b": 2, "c": 3})
    assert found.same
    assert found.by_chance == pytest.approx(1 / 36)
    assert found.settled == [("a", "b"), ("b", "c")]


@given(st.dictionaries(st.sampled_from("abcdefg"), st.floats(1, 100), min_size=1))
def test_ranks_add_up_whatever_ties(values: dict[str, float]) -> None:
    found = ranks(order_of(values, lower_first=True, ties=0.1))
    assert sum(found.values()) == pytest.approx(len(values) * (len(values) + 1) / 2)
