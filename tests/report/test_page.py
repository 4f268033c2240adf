"""The page: answer first, nothing from outside, foreign text stays text, phones do not scroll."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser

import pytest

from tare.analysis.model import Analysis
from tare.report.page import render_html

from .sample import CONDITIONS, sample_analysis

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>{{7*7}}\u202e\x1b[31m'


class Page(HTMLParser):
    """What a browser would see: elements with attributes, visible text, section order."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.unbalanced: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        if not {"style", "title"} & set(self.open):
            self.text += data

    def tags(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.elements if tag == name]


def words_of(html: str) -> str:
    return " ".join(Page(html).text.split())


def test_elements_are_balanced() -> None:
    page = Page(render_html(sample_analysis()))
    assert page.unbalanced == []
    assert page.open == []


def test_the_answer_stands_before_everything_else() -> None:
    text = words_of(render_html(sample_analysis()))
    parts = [
        "What does Docker cost this Cassandra node?",
        "throughput 12.3% lower [\u221215.1%, \u22129.4%] than native: different",
        "Can it be trusted?",
        "Treatment over native, with 95% intervals",
        "Merged histograms",
        "Every trial of a condition is one line",
        "All numbers",
        "What else differed",
        "Provenance",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_an_invalid_result_is_said_before_the_answer() -> None:
    analysis = sample_analysis()
    analysis.valid = False
    analysis.checks[0].status = "invalid"
    analysis.noise_floor[0].exceeds_margin = True
    analysis.noise_floor[0].deployment_floor = 0.08
    html = render_html(analysis)
    text = words_of(html)
    assert text.index("This result is not valid") < text.index("The noise floor hides")
    assert text.index("The noise floor hides") < text.index("12.3% lower")
    strong = [attrs for attrs in Page(html).tags("strong") if attrs["class"] != "tie"]
    assert strong == []


def test_a_valid_result_has_no_banner() -> None:
    assert not [s for s in Page(render_html(sample_analysis())).tags("section")
                if "alert" in (s.get("class") or "")]  # fmt: skip


def test_nothing_is_loaded_from_anywhere() -> None:
    html = render_html(sample_analysis())
    page = Page(html)
    assert not {"script", "link", "img", "iframe", "object", "base"} & {t for t, _ in page.elements}
    attributes = {name for _, attrs in page.elements for name in attrs}
    assert not {"src", "href", "xlink:href", "srcset", "action", "background"} & attributes
    assert not [name for name in attributes if name.startswith("on")]
    assert "url(" not in html
    assert "@import" not in html
    assert "://" not in html
    policy = next(m for m in page.tags("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in (policy["content"] or "")


def poisoned() -> Analysis:
    """The sample with the hostile text wherever text from outside can stand."""
    document = sample_analysis().model_dump(mode="json")
    fixed = {"status", "verdict", "better", "unit_of_analysis", "kind"}

    def poison(value: object, key: str = "") -> object:
        if isinstance(value, dict):
            return {
                (k if key in ("values", "cv") or k in known else k + HOSTILE): poison(v, k)
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [poison(item, key) for item in value]
        return value + HOSTILE if isinstance(value, str) and key not in fixed else value

    known = set(_keys(document))
    return Analysis.model_validate(poison(document))


def _keys(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(k for v in value.values() for k in _keys(v))]
    return [k for v in value for k in _keys(v)] if isinstance(value, list) else []


def test_foreign_text_stays_text() -> None:
    html = render_html(poisoned())
    page = Page(html)
    assert not {"script", "img"} & {tag for tag, _ in page.elements}
    assert not [n for _, attrs in page.elements for n in attrs if n.startswith("on")]
    assert "<script>alert(1)</script>" in page.text
    assert "{{7*7}}" in page.text
    assert "12.3% lower" in page.text
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert page.unbalanced == []


def test_every_condition_has_the_same_colour_in_tables_and_figures() -> None:
    html = render_html(sample_analysis())
    for name in CONDITIONS:
        keys = set(re.findall(rf'<span class="key ([^"]+)"></span>{name}(?: |<)', html))
        lines = set(re.findall(rf'<path class="line ([^"]+)"[^>]*><title>{name}:', html))
        assert len(keys) == 1
        assert lines == keys


def test_tables_scroll_inside_their_box() -> None:
    """The page itself never scrolls sideways: every table is in a box that does."""
    html = render_html(sample_analysis())
    assert html.count("<table>") == html.count('class="scroll"')
    assert re.search(r"\.scroll \{[^}]*overflow-x: auto", html)
    assert 'name="viewport" content="width=device-width' in html


def test_figures_scale_with_their_box() -> None:
    page = Page(render_html(sample_analysis()))
    panels = [s for s in page.tags("svg") if s.get("class") == "panel"]
    assert panels
    for panel in panels:
        assert "width" not in panel
        assert panel["viewbox"]
        assert panel["aria-label"]


def test_colours_are_variables_in_every_drawing() -> None:
    html = render_html(sample_analysis())
    drawings = re.findall(r"<svg viewBox.*?</svg>", html, re.DOTALL)
    assert drawings
    assert not re.search(r'(fill|stroke|style)="|#[0-9a-f]{6}', "".join(drawings))
    assert html.count("prefers-color-scheme: dark") == 2


def test_failed_trials_and_outliers_are_marked() -> None:
    text = words_of(render_html(sample_analysis()))
    assert "failed: n1 died: out of memory" in text
    assert "outlier" in text
    assert "never warm" in text


def test_a_large_study_stays_under_two_megabytes() -> None:
    analysis = sample_analysis()
    long = analysis.series[0].model_copy(
        update={
            "t": [float(t) for t in range(600)],
            "values": {
                name: [1000.0 + (t * 37) % 91 for t in range(600)]
                for name in analysis.series[0].values
            },
        }
    )
    analysis.series = [
        long.model_copy(update={"trial": f"D{i}", "condition": CONDITIONS[i % 5]})
        for i in range(300)
    ]
    assert len(render_html(analysis).encode()) < 2_000_000


@pytest.mark.parametrize(
    "emptied", ["metrics", "conditions", "effects", "noise_floor", "checks", "parity", "trials",
                "series", "distributions"]
)  # fmt: skip
def test_a_page_is_made_whatever_is_missing(emptied: str) -> None:
    analysis = sample_analysis().model_copy(update={emptied: []})
    page = Page(render_html(analysis))
    assert page.unbalanced == []
    assert "Provenance" in page.text


def test_a_page_is_made_of_values_that_are_no_numbers() -> None:
    analysis = sample_analysis()
    for i, one in enumerate(analysis.effects):
        one.ci = [(math.nan, math.nan), (0.0, math.inf), (0.0, 0.0)][i % 3]
        one.sd_log, one.df = math.nan, 0.0
        if i % 4 == 0:
            one.ratio = math.nan
    for series in analysis.series:
        series.values["throughput"] = [math.nan] * len(series.t)
    html = render_html(analysis)
    assert Page(html).unbalanced == []
    assert not re.search(r'="-?(nan|inf)', html)
