"""WiredTiger's cache size: MongoDB's usual share of a member's memory, or the study's value."""

from __future__ import annotations

from typing import Any

import pytest

from tare.databases.mongodb.wired_tiger import cache_bytes, given_cache
from tare.study.quantities import GIB, MIB


# The manual's own examples come first: 4 GB of memory give 1.5 GB, 1.25 GB give 256 MB.
# Source: MongoDB manual, storage.wiredTiger.engineConfig.cacheSizeGB.
@pytest.mark.parametrize(
    ("memory", "cache"),
    [
        (4 * GIB, 3 * GIB // 2),
        (5 * GIB // 4, 256 * MIB),
        (GIB // 2, 256 * MIB),
        (1536 * MIB, 256 * MIB),
        (2 * GIB, GIB // 2),
        (9 * GIB, 4 * GIB),
    ],
)
def test_the_cache_is_the_server_s_own_share(memory: int, cache: int) -> None:
    assert cache_bytes(memory) == cache


@pytest.mark.parametrize(
    ("settings", "cache"),
    [
        ({}, GIB // 2),
        ({"storage": {"wiredTiger": {"engineConfig": {"cacheSizeGB": 0.25}}}}, GIB // 4),
        ({"storage": {"engine": "x"}}, GIB // 2),
        ({"storage": {"wiredTiger": {"engineConfig": {"cacheSizeGB": True}}}}, GIB // 2),
    ],
)
def test_the_settings_of_the_study_win(settings: dict[str, Any], cache: int) -> None:
    assert given_cache(2 * GIB, settings) == cache
