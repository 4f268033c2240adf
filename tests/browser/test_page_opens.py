"""An opened report loads nothing else, has no error, and is readable in every size and mode."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tare.report.write import write_report
from tests.analysis.test_bill import BRIDGE, analysed
from tests.browser.sample import (
    factorial_analysis,
    six_treatments,
    traced_analysis,
    undecided_analysis,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

    from tare.analysis.model import Analysis
    from tests.browser.conftest import Opened

CONTRAST = """() => {
  // relative luminance and contrast as WCAG 2.1 defines them, of every visible text
  const part = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const read = s => s.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const colour = read(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.closest('script, style, .unseen')) continue;
    const style = getComputedStyle(e), svg = e instanceof SVGElement;
    const back = light(behind(svg ? e.closest('div') : e));
    const front = light(read(svg ? style.fill : style.color));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < 4.5) found.push(`${e.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return found;
}"""


def test_nothing_is_requested_but_the_page_itself(
    opened: Callable[..., Opened], report: Path
) -> None:
    one = opened(report)
    assert one.requests == [report.as_uri()]
    assert one.page.locator("html").get_attribute("class") == "scripted"


def test_without_its_script_the_page_reads_wholly(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report, java_script_enabled=False).page
    assert page.get_by_text("12.3% lower").first.is_visible()
    assert page.locator("#effects .panel").first.is_visible()
    assert not page.locator("#filter").is_visible()
    assert page.locator("button:visible").count() == 0
    page.locator("#latency details").first.click()
    assert page.locator("#latency-1").is_visible()


@pytest.mark.parametrize("width", [390, 320, 1280])
def test_the_page_never_scrolls_sideways(
    opened: Callable[..., Opened], report: Path, width: int
) -> None:
    page = opened(report, viewport={"width": width, "height": 800}).page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_phone_gets_the_answer_and_a_list_of_headings_that_open(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report, viewport={"width": 390, "height": 844}).page
    assert page.evaluate("document.documentElement.scrollHeight") < 3_500
    assert page.locator("#answer .bar").first.is_visible()
    head = page.get_by_role("button", name="Effects", exact=True)
    assert not page.locator("#effects .panel").first.is_visible()
    head.click()
    assert head.get_attribute("aria-expanded") == "true"
    assert page.locator("#effects .panel:visible").count()
    page.locator("#answer a.trace").first.click()
    assert page.locator("#trials-table").is_visible(), "a link opens what it leads to"


KEPT = """table => {
  const box = table.closest(".scroll");
  const cells = [...table.querySelectorAll("td.kept")].filter(e => e.textContent.trim());
  const inside = e => {
    const cell = e.getBoundingClientRect(), own = box.getBoundingClientRect();
    return cell.left >= own.left - 1 && cell.right <= own.right + 1;
  };
  const ends = [0, box.scrollWidth / 2, box.scrollWidth];
  return ends.map(left => { box.scrollLeft = left; return cells.length && cells.every(inside); });
}"""


@pytest.mark.parametrize("table", ["effects-table", "bill-table"])
def test_a_table_that_scrolls_keeps_its_verdicts_in_sight(
    opened: Callable[..., Opened], tmp_path: Path, table: str
) -> None:
    analysis = analysed(tmp_path / "run", 1.10, BRIDGE)
    page = opened(write_report(tmp_path, analysis), viewport={"width": 390, "height": 844}).page
    page.evaluate("document.querySelectorAll('h2 .section').forEach(head => head.click())")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    shown = page.locator(f"#{table}")
    assert shown.evaluate("t => t.scrollWidth > t.closest('.scroll').clientWidth"), "it scrolls"
    assert shown.evaluate(KEPT) == [True, True, True]


def assert_on_the_first_screen(page: Page, values: int) -> None:
    said = page.locator("#answer .said")
    assert said.count() == values
    ends = said.evaluate_all("all => all.map(e => e.getBoundingClientRect().bottom)")
    assert max(ends) <= 900


def test_the_first_screen_has_every_treatment_with_its_verdicts(
    opened: Callable[..., Opened], report: Path
) -> None:
    """The sample has four metrics and four treatments, including the control."""
    page = opened(report, viewport={"width": 1280, "height": 900}).page
    assert_on_the_first_screen(page, 16)


def test_so_it_has_where_nothing_is_decided_yet(
    opened: Callable[..., Opened], tmp_path: Path
) -> None:
    """On a noisy machine, each answer of the demo takes one more line, and none is cut."""
    page = opened(write_report(tmp_path, undecided_analysis())).page
    assert_on_the_first_screen(page, 15)


def test_six_treatments_are_on_the_first_screen_too(
    opened: Callable[..., Opened], tmp_path: Path
) -> None:
    """Columns show each heading once; screen readers get a heading for every value."""
    page = opened(write_report(tmp_path, six_treatments())).page
    assert_on_the_first_screen(page, 18)
    heads = page.locator("#answer h4").all_inner_texts()
    assert len(heads) == 18
    columns = page.locator("#answer .line-row").evaluate_all(
        "all => all.map(e => Math.round(e.getBoundingClientRect().left))"
    )
    assert len(set(columns)) == 3, "every treatment's values stand under their heading"


SMALL = """() => [...document.querySelectorAll("a, button, summary, label")]
  .filter(e => { const r = e.getBoundingClientRect(); return r.height && r.height < 24; })
  .filter(e => !e.closest("p")).map(e => e.textContent.trim())"""


def test_what_a_finger_touches_has_24_pixels(opened: Callable[..., Opened], report: Path) -> None:
    page = opened(report, viewport={"width": 390, "height": 844}).page
    assert page.evaluate(SMALL) == []
    page.evaluate("document.querySelectorAll('h2 .section').forEach(head => head.click())")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_text_has_the_contrast_of_wcag_aa(
    opened: Callable[..., Opened], report: Path, mode: str
) -> None:
    page = opened(report, color_scheme=mode).page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate(CONTRAST) == []


def test_dark_mode_is_dark(opened: Callable[..., Opened], report: Path) -> None:
    page = opened(report, color_scheme="dark").page
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in background.strip("rgb()").split(",")) < 60


def test_paper_gets_the_answer_the_checks_and_the_methods(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    for part in ("#answer", "#validity", "#methods"):
        assert page.locator(part).is_visible()
    for part in ("#effects", "#tables", "#trials-table", "#provenance", "#filter"):
        assert not page.locator(part).is_visible()
    assert not page.locator("button:visible").count()
    assert pages(page.pdf(format="A4")) == 2


SMALLEST = """() => {
  const scale = e => !e.ownerSVGElement ? 1
    : e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width;
  const own = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  const shown = [...document.querySelectorAll("#answer *, #validity *, #methods *")]
    .filter(e => e.checkVisibility() && own(e));
  const sizes = shown.map(e => parseFloat(getComputedStyle(e).fontSize) * scale(e));
  return sizes.length && Math.min(...sizes);
}"""
PAPER = {"width": 688, "height": 1017}
"""A4 without margins, in pixels of 1/96 inch."""


@pytest.mark.parametrize("shown", [traced_analysis, factorial_analysis])
def test_paper_is_read_without_a_glass(
    opened: Callable[..., Opened], tmp_path: Path, shown: Callable[[], Analysis]
) -> None:
    """No text is smaller than 7.5 pixels, which are 5.6 points."""
    page = opened(write_report(tmp_path, shown()), viewport=PAPER).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate(SMALLEST) >= 7.5
    assert pages(page.pdf(format="A4")) == 2


def test_paper_has_the_warning_above_the_answer(
    opened: Callable[..., Opened], tmp_path: Path
) -> None:
    """The warning's details are folded, but its headline is printed."""
    analysis = traced_analysis()
    for effect in analysis.effects:
        effect.conditional = True  # raises a warning with details below it
    page = opened(write_report(tmp_path, analysis)).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    lines = page.locator(".standing > li")
    assert lines.count() == 2
    assert all(one.inner_text().strip() for one in lines.all())


def pages(document: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", document))


def test_everything_printed_has_every_fold_and_no_control(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report).page
    page.evaluate("window.print = () => {}")
    page.get_by_role("button", name="Print everything").click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == page.locator("#filter details").count()
    assert not page.locator("button:visible:not(.sort)").count()
    assert page.locator("#trials-table").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF-")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 1


CUT = """() => [...document.querySelectorAll("table, svg, p, li")]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => (e.id || e.textContent.trim()).slice(0, 40))"""


@pytest.mark.parametrize("shown", [traced_analysis, factorial_analysis])
def test_everything_printed_cuts_no_table(
    opened: Callable[..., Opened], tmp_path: Path, shown: Callable[[], Analysis]
) -> None:
    page = opened(write_report(tmp_path, shown()), viewport=PAPER).page
    page.evaluate("window.print = () => {}")
    page.get_by_role("button", name="Print everything").click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == []


def test_hostile_names_run_nothing_and_stay_text(
    opened: Callable[..., Opened], hostile_report: Path
) -> None:
    one = opened(hostile_report)
    page = one.page
    page.locator("#effects g.row").nth(2).hover()
    assert "<img src=x onerror=alert(2)>" in one.tip()
    page.locator("#timeline .panel").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert one.requests == [hostile_report.as_uri()]
    targets = page.locator("#trials-table a").evaluate_all("all => all.map(a => a.href)")
    assert targets
    outside = [t for t in targets if not t.startswith(hostile_report.parent.as_uri() + "/")]
    assert outside == []
