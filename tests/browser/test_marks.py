"""Hover, keyboard and zoom: every mark shows its meaning and its trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Opened


def ticks(panel: Locator, axis: str) -> list[str]:
    """The visible labels of an axis."""
    texts: list[str] = panel.locator(f".ticks[data-axis={axis}] text:visible").all_text_contents()
    return texts


def drag(
    page: Page, box: dict[str, float], start: tuple[float, float], end: tuple[float, float]
) -> None:
    """Drag the mouse between two points, given as shares of the box."""
    page.mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=3)
    page.mouse.up()


def plot_box(panel: Locator) -> dict[str, float]:
    panel.scroll_into_view_if_needed()
    box = panel.locator(".plot").first.evaluate(
        """plot => { const v = plot.viewBox.baseVal, m = plot.closest('.panel').getScreenCTM();
        return {x: m.a * v.x + m.e, y: m.d * v.y + m.f, width: m.a * v.width,
        height: m.d * v.height}; }"""
    )
    return dict(box)


def test_an_effect_tells_value_interval_verdict_and_trials(
    opened: Callable[..., Opened], report: Path
) -> None:
    one = opened(report)
    one.page.locator("#effects g.row[data-m=e2] .area").hover(position={"x": 4, "y": 61})
    assert one.tip().splitlines() == [
        "docker-bridge over native",
        "Service demand: +16.2% [+13.4%, +19.0%], different",
        "131 \u00b5s/op \u2192 152 \u00b5s/op",
        "3 deployments counted, 11 blocks, p 0.003",
        "22 trials (click or Enter shows them)",
    ]


def test_a_single_block_tells_its_two_trials(opened: Callable[..., Opened], report: Path) -> None:
    one = opened(report)
    panel = one.page.locator("#effects .panel").first
    panel.focus()
    one.page.keyboard.press("ArrowRight")  # the first effect
    one.page.keyboard.press("ArrowRight")  # its first block
    lines = one.tip().splitlines()
    assert lines[0].startswith("round 1, block 1: ")
    assert set(lines[-1].split(", ")) == {"D1-B01-native-again", "D1-B01-native"}


def test_a_line_tells_the_nearest_point(opened: Callable[..., Opened], report: Path) -> None:
    one = opened(report)
    panel = one.page.locator("#latency .panels.wide .panel").first
    box = plot_box(panel)
    line = panel.locator("path[data-m]").last
    x, y = line.evaluate(
        """path => { const [, x, y] = [...path.getAttribute('d')
            .matchAll(/[ML]([\\d.]+) ([\\d.]+)/g)][3];
        const p = new DOMPoint(x, y).matrixTransform(path.getScreenCTM()); return [p.x, p.y]; }"""
    )
    assert box["x"] <= x <= box["x"] + box["width"]
    one.page.mouse.move(x, y - 2)
    lines = one.tip().splitlines()
    assert lines[0] == "docker-published"
    assert lines[1].endswith(" at 50% of operations")
    assert lines[2:] == ["all, service time, 850,000 operations", "12 trials merged"]


def test_the_keyboard_walks_along_a_series_and_says_what_went_on(
    opened: Callable[..., Opened], report: Path
) -> None:
    one = opened(report)
    one.page.locator("#timeline .panel").first.focus()
    one.page.keyboard.press("ArrowRight")
    assert one.tip() == "compaction: 1 time in all trials here"
    one.page.keyboard.press("ArrowDown")  # the first trial's line
    for _ in range(4):
        one.page.keyboard.press("ArrowRight")
    title, condition, value, during = one.tip().splitlines()
    assert (title, condition) == ("D1-B01-native", "native")
    assert value.endswith(" ops/s at 4.00 s")
    assert during == "during: compaction"
    assert one.page.locator("[aria-live]").inner_text().startswith("D1-B01-native. native. ")
    one.page.keyboard.press("Escape")
    assert one.tip() == ""


def test_enter_on_a_mark_shows_its_trials_and_their_files(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report).page
    page.locator("#effects .panel").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    hits = page.locator("#trials-table tr.hit")
    assert hits.count() == 24
    assert page.locator(".traced").is_visible()
    assert page.evaluate("document.activeElement.className") == "traced"
    first = hits.first
    name = first.get_attribute("data-trial")
    links = first.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert links[0] == f"./trials/{name}/manifest.json"
    assert "trials=e0" in page.url
    page.get_by_label("show only these").check()
    assert page.locator("#trials-table tbody tr:visible").count() == 24
    page.get_by_role("button", name="Mark no trials").click()
    assert page.locator("tr.hit").count() == 0


def test_dragging_zooms_all_plots_of_the_figure_and_a_double_click_resets(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report).page
    panels = page.locator("#latency .panels.wide .panel")
    before = ticks(panels.nth(0), "x")
    path = panels.nth(1).locator("path[data-m]").first
    drawn = path.get_attribute("d")
    box = plot_box(panels.nth(0))
    drag(page, box, (0.5, 0.9), (0.9, 0.1))
    zoomed = ticks(panels.nth(1), "x")
    assert "0" in before
    assert "0" not in zoomed
    assert zoomed
    assert path.get_attribute("d") != drawn
    assert page.locator("tr.hit").count() == 0, "a drag is no click"
    assert page.evaluate("String(getSelection())") == "", "nor does it mark labels"
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + 5)
    assert ticks(panels.nth(0), "x") == before
    assert path.get_attribute("d") == drawn


def test_a_drag_along_the_axis_leaves_the_other_axis_alone(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report).page
    panel = page.locator("#timeline .panel").first
    before = ticks(panel, "y"), ticks(panel, "x")
    drag(page, plot_box(panel), (0.25, 0.5), (0.5, 0.52))
    assert ticks(panel, "y") == before[0]
    assert ticks(panel, "x") != before[1]


def test_keys_zoom_pan_and_reset(opened: Callable[..., Opened], report: Path) -> None:
    page = opened(report).page
    panel = page.locator("#timeline .panel").first
    panel.focus()
    whole = ticks(panel, "x")
    page.keyboard.press("+")
    near = ticks(panel, "x")
    page.keyboard.press("Shift+ArrowRight")
    later = ticks(panel, "x")
    page.keyboard.press("Escape")
    assert whole != near != later
    assert ticks(panel, "x") == whole


SEEN = """() => {
  const plots = [...document.querySelectorAll("#latency .plot")];
  const plot = plots.find((one) => one.getClientRects().length);
  const [x, y, width, height] = plot.getAttribute("viewBox").split(" ").map(Number);
  const points = [...plot.querySelectorAll("path")].flatMap((path) =>
    [...path.getAttribute("d").matchAll(/[ML](-?[\\d.]+)[ ,](-?[\\d.]+)/g)]);
  return points.filter(([, a, b]) => a >= x && a <= x + width && b >= y && b <= y + height).length;
}"""
"""The number of curve points inside the first plot of the latency figure."""


def test_buttons_zoom_for_those_without_mouse_and_keys(
    opened: Callable[..., Opened], report: Path
) -> None:
    page = opened(report, viewport={"width": 390, "height": 800}, has_touch=True).page
    page.get_by_role("button", name="Latency", exact=True).tap()
    figure = page.locator("#latency .fig")
    for _ in range(3):  # the zoom must follow the curves: the middle of the axes is empty
        figure.get_by_label("Zoom in: Latency").tap()
    assert figure.locator(".plot.zoomed").count() > 0
    assert page.evaluate(SEEN) > 0
    figure.get_by_label("Show the whole axes: Latency").tap()
    assert figure.locator(".plot.zoomed").count() == 0
