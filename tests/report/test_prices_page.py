"""The page of prices is complete, loads nothing from other places, and escapes all text."""

from __future__ import annotations

import re
from dataclasses import replace

from tare.analysis.part_prices import part_prices
from tare.analysis.prices import prices
from tare.records.prices import Interval
from tare.report.price_panels import Added, added_panel
from tare.report.prices_page import part_sections, render_prices, ways_section
from tests.analysis import test_part_prices, test_prices
from tests.analysis.test_prices import MACHINE


def page(doubts: list[str] | None = None, note: str = "a note") -> str:
    ways = prices(test_prices.weighed(), MACHINE)
    new = prices(replace(test_prices.weighed(), operation="connection"), MACHINE)
    parts = part_prices(test_part_prices.weighed(), MACHINE)
    sections = [
        ways_section(ways, doubts or [], []),
        ways_section(new, [], []),
        *part_sections(parts, [note]),
    ]
    return render_prices(sections, MACHINE, "2026-11-25 20:00 UTC")


def test_every_way_and_every_part_is_on_it_with_its_interval() -> None:
    text = page()
    for said in ("Ways to a server", "A new connection", "System calls", "Storage", "docker.proxy",
                 "append 4 KiB, fdatasync", "6.1", "2026-11-25 20:00 UTC"):  # fmt: skip
        assert said in text, said
    added = prices(test_prices.weighed(), MACHINE).prices[3].added
    assert added is not None
    assert f"[+{added.low:.2f}, +{added.high:.2f}]" in text


def test_of_servers_that_work_the_drawing_has_what_is_compared_within_one_server() -> None:
    """docker.proxy is 40 us beyond its server's loopback, which is 60 us beyond native."""
    us = (300.0, 300.0, 360.0, 365.0, 400.0, 500.0)
    asked = replace(test_prices.weighed(ways=test_prices.WITHIN, us=us), operation="working")
    section = ways_section(prices(asked, MACHINE), [], [])
    (drawing,) = section.panels
    assert "over the same server" in drawing.markup()
    assert "docker.bridge" in drawing.markup()
    assert "+40." in drawing.markup()
    for other in ("gvisor.bridge", "docker.loopback", "native again"):
        assert other not in drawing.markup()
    assert "Compared with" in section.table.columns


def test_it_asks_nothing_of_elsewhere() -> None:
    text = page()
    assert "default-src 'none'" in text
    assert re.findall(r"<script|<link|src=|href=", text) == []


def test_doubts_stand_before_all_numbers() -> None:
    text = page(["not valid: other programs disturbed it"])
    assert text.index("These prices are doubtful") < text.index("Ways to a server")
    assert "These prices are doubtful" not in page()


def test_what_others_wrote_is_text() -> None:
    assert "<b>no</b>" not in page(note="<b>no</b>")


def test_one_way_that_is_far_dearer_leaves_the_others_room() -> None:
    """A row beyond the axis ends in an arrow with its number beside it."""
    near, far = (Interval(value=v, low=v - 0.1, high=v + 0.1) for v in (1.0, 40.0))
    drawn = added_panel("t", "us", [Added("near", near), Added("far", far)], 2).markup()
    assert drawn.count('class="point"') == 1
    assert drawn.count('class="arrow"') == 1
    assert "+40.00 [+39.90, +40.10]" in drawn
