"""Clients that share a load together send the requested load."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tare.load.share import share_of


def test_a_client_alone_sends_all() -> None:
    made = {"threads": 7, "rate": None}
    assert share_of(made, 0, 1) is made


@given(threads=st.integers(1, 500), of=st.integers(2, 9), rate=st.floats(1, 1e6))
def test_shares_add_up(threads: int, of: int, rate: float) -> None:
    made = {
        "client": "c",
        "threads": threads,
        "rate": rate,
        "schedule": [{"at_s": 0.0, "rate": rate}],
    }
    shares = [share_of(made, part, of) for part in range(of)]
    assert sum(one["threads"] for one in shares) == max(threads, of)
    assert abs(sum(one["rate"] for one in shares) - rate) < 1e-6 * rate
    assert all(one["schedule"][0]["rate"] == one["rate"] for one in shares)
    assert made["rate"] == rate


def test_each_client_knows_which_of_how_many_it_is_so_that_none_inserts_another_s_keys() -> None:
    made = {"client": "c2", "threads": 4, "rate": None}
    assert share_of(made, 1, 3)["client"] == {"name": "c2", "index": 1, "of": 3}
