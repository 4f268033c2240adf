"""The page cache is dropped if the kernel lets this process; `can_drop` asks first."""

from __future__ import annotations

from pathlib import Path

from tare.machines import page_cache


def test_where_the_switch_can_be_written_the_cache_is_dropped(tmp_path: Path) -> None:
    switch = tmp_path / "drop_caches"
    switch.write_text("")
    assert page_cache.can_drop(switch)
    assert page_cache.drop(switch)
    assert switch.read_text() == "3"


def test_a_switch_that_nobody_may_write_is_no_error(tmp_path: Path) -> None:
    switch = Path("/proc/sys/kernel/random/boot_id")  # read-only even for root
    assert not page_cache.can_drop(switch)
    assert not page_cache.drop(switch)
    assert not page_cache.can_drop(tmp_path / "missing")
