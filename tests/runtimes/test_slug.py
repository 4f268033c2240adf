"""Any name of a level becomes a name that orchestrators accept."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.runtimes.slug import slug

DNS_LABEL = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


@given(st.text(max_size=200))
def test_any_text_becomes_a_dns_label_that_a_set_may_have(text: str) -> None:
    made = slug(text)
    assert DNS_LABEL.fullmatch(made)
    assert len(made) <= 40


def test_a_name_that_will_do_is_kept() -> None:
    assert slug("d1-kubernetes-1-k1") == "d1-kubernetes-1-k1"


@pytest.mark.parametrize("other", ["K8-ServiceIP", "k8_serviceip", "k8.serviceip"])
def test_texts_that_differ_in_what_is_lost_stay_different(other: str) -> None:
    assert slug(other) != slug("k8-serviceip")
    assert slug(other).startswith("k8-serviceip-")
