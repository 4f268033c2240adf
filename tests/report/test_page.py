"""The page: answer first, nothing loaded, foreign text escaped, no sideways scroll on phones."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser

import pytest

from tare.analysis.model import Analysis, Pair, Series
from tare.report.extent import drawn_pairs
from tare.report.page import render_html
from tare.report.timeline import STRIPS

from .sample import CONDITIONS, MARGINS, METRICS, sample_analysis

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>{{7*7}}\u202e\x1b[31m'


class Page(HTMLParser):
    """A page as a browser sees it: elements with attributes, visible text, section order."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.unbalanced: list[str] = []
        self.scripts: list[str] = []
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
        if not {"style", "title", "script"} & set(self.open):
            self.text += data
        elif self.open[-1] == "script":
            self.scripts.append(data)

    def tags(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.elements if tag == name]


def words_of(html: str) -> str:
    return " ".join(Page(html).text.split())


def test_elements_are_balanced() -> None:
    page = Page(render_html(sample_analysis()))
    assert page.unbalanced == []
    assert page.open == []


def test_the_answer_stands_before_everything_else() -> None:
    html = render_html(sample_analysis())
    text = words_of(html)
    question = text.index("What does Docker cost this Cassandra node?")
    answer = text.index("Throughput trials 12.3% lower [\u221215.1%, \u22129.4%] ")
    assert question < answer < text.index("Can it be trusted? Valid.")
    sections = [s["id"] for s in Page(html).tags("section")]
    assert sections == ["answer", "filter", "validity", "effects", "latency", "timeline", "tables",
                        "parity", "methods", "provenance"]  # fmt: skip


def test_an_invalid_result_is_said_before_the_answer() -> None:
    analysis = sample_analysis()
    analysis.valid = False
    analysis.checks[0].status = "invalid"
    analysis.noise_floor[0].exceeds_margin = True
    html = render_html(analysis)
    text = words_of(html)
    warned = text.index("Identical setups differed in single blocks")
    assert text.index("This result is not valid") < warned < text.index("12.3% lower")
    strong = [attrs for attrs in Page(html).tags("strong") if attrs["class"] != "tie"]
    assert strong == []


def test_a_valid_result_has_no_banner() -> None:
    assert not [s for s in Page(render_html(sample_analysis())).tags("section")
                if "alert" in (s.get("class") or "")]  # fmt: skip


def test_nothing_is_loaded_from_anywhere() -> None:
    html = render_html(sample_analysis())
    page = Page(html)
    assert not {"link", "img", "iframe", "object", "base"} & {t for t, _ in page.elements}
    attributes = {name for _, attrs in page.elements for name in attrs}
    assert not {"src", "xlink:href", "srcset", "action", "background"} & attributes
    assert not [name for name in attributes if name.startswith("on")]
    targets = {str(attrs["href"]) for attrs in page.tags("a")}
    assert all(target.startswith(("#", "./trials/")) for target in targets)
    styles = "".join(re.findall(r"<style.*?</style>", html, re.DOTALL))
    assert "url(" not in html
    assert "@import" not in styles
    assert "://" not in html.replace("http://www.w3.org/2000/svg", "")


def test_only_the_own_script_may_run_and_it_asks_for_nothing() -> None:
    page = Page(render_html(sample_analysis()))
    policy = next(m for m in page.tags("meta") if m.get("http-equiv") == "Content-Security-Policy")
    rules = dict(part.split(" ", 1) for part in str(policy["content"]).split("; "))
    data, script = page.tags("script")
    assert (data["type"], script) == ("application/json", {})
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert (rules["default-src"], rules["img-src"]) == ("'none'", "blob:")
    for name in ("fetch", "XMLHttpRequest", "innerHTML", "outerHTML", "insertAdjacentHTML", "eval",
                 "Function(", "document.write", "import("):  # fmt: skip
        assert name not in page.scripts[1]


def test_the_numbers_behind_the_figures_are_in_the_page_once() -> None:
    analysis = sample_analysis()
    data = json.loads(Page(render_html(analysis)).scripts[0])
    first = data["effects"][2]
    assert (first["t"], first["b"], first["v"]) == ("docker-bridge", "native", "different")
    assert first["n"][0] == 1.162
    rows = [data["trials"][i][0] for i in data["traces"][first["k"]]]
    assert len(rows) == 22, "the failed trial's block entered with neither of its two trials"
    assert not [name for name in rows if name.startswith("D2-B03")]
    series = data["series"][0]["lines"]["throughput"]
    assert series[1] == pytest.approx(analysis.series[0].values["throughput"][0], rel=1e-4)


def poisoned() -> Analysis:
    """The sample with hostile text in every place that can hold foreign text."""
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
    assert [tag for tag, _ in page.elements if tag in ("script", "img")] == ["script", "script"]
    assert HOSTILE[:20] in json.loads(page.scripts[0])["effects"][0]["t"]
    assert "<" not in page.scripts[0]
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
    """Every table is in a box that scrolls sideways, so that the page does not."""
    html = render_html(sample_analysis())
    assert len(Page(html).tags("table")) == html.count('class="scroll"')
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


def large_analysis() -> Analysis:
    """400 trials of 120 s in 20 conditions; 40 metrics, each with an effect per treatment."""
    analysis = sample_analysis()
    metrics = [
        METRICS[i % 5].model_copy(update={"name": f"m{i}" if i > 4 else METRICS[i].name})
        for i in range(40)
    ]
    names = [f"docker-bridge-threads-{i}" for i in range(20)]
    values = {m.name: 1000.0 + i for i, m in enumerate(metrics)}
    seconds = [float(t) for t in range(120)]
    strips = {name: [1e4 + (t * 37) % 91 + t / 7 for t in range(120)] for name, _, _ in STRIPS}
    trials, series = [], []
    for i in range(400):
        trial = f"D{i % 4}-B{i // 20:02}-{names[i % 20]}"
        files = [f"trials/{trial}/{name}" for name in ("manifest.json", "a.hlog", "progress.jsonl")]
        changed = {"trial": trial, "condition": names[i % 20], "values": values, "files": files}
        trials.append(analysis.trials[0].model_copy(update={**changed, "block": i // 20}))
        series.append(Series(trial=trial, condition=names[i % 20], t=seconds, values=strips))
    pairs = [Pair(round=b % 4, block=b, ratio=1 + b / 1000) for b in range(20)]
    effects = [
        analysis.effects[2].model_copy(
            update={
                "metric": m.name,
                "treatment": name,
                "baseline": names[0],
                "pairs": pairs,
                "primary": m.name in MARGINS,
                "margin": MARGINS.get(m.name),
            }
        )
        for name in names[1:]
        for m in metrics
    ]
    conditions = [analysis.conditions[0].model_copy(update={"condition": n}) for n in names]
    distributions = [
        d.model_copy(update={"condition": name})
        for name in names
        for d in analysis.distributions
        if d.condition == "native"
    ]
    return analysis.model_copy(
        update={"metrics": metrics, "trials": trials, "series": series, "effects": effects,
                "conditions": conditions, "distributions": distributions}
    )  # fmt: skip


def test_of_very_many_blocks_the_page_draws_some_and_says_so() -> None:
    """Of 500 blocks, an effect's marks are chosen evenly by rank, including both ends."""
    analysis = sample_analysis()
    pairs = [Pair(round=1 + b // 100, block=b % 100, ratio=1 + b / 1000) for b in range(500)]
    effects = [e.model_copy(update={"pairs": pairs}) for e in analysis.effects]
    html = render_html(analysis.model_copy(update={"effects": effects}))
    assert "Of up to 500 ratios of single blocks per effect, 30 are drawn" in words_of(html)
    ratios = drawn_pairs(effects[0])
    assert [ratios[0].ratio, ratios[-1].ratio] == [pairs[0].ratio, pairs[-1].ratio]
    assert drawn_pairs(analysis.effects[0]) == analysis.effects[0].pairs


def test_a_large_study_stays_under_three_megabytes_and_says_what_it_leaves_out() -> None:
    html = render_html(large_analysis())
    assert len(html.encode()) < 3_000_000
    text = words_of(html)
    assert "of up to 120 points of each line" in text
    assert "Shown are 300 of 760 effects" in text
    assert "trials.csv beside this page has them all" in text
    assert (
        "Not drawn, but in effects.csv: 532 further effects, 28 further metrics among them." in text
    )


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
