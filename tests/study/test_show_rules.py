"""What a study may ask to show: existing names, and fields with a meaning."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

from tare.study.document import parse_document
from tare.study.question import AskedExhibit, ExhibitKind
from tare.study.show_rules import step_factor

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy, RefuseStudy

BASE = """\
study: shown
factors:
  platform: {native: {}, docker: {platform: {runtime: docker, network: bridge}}}
  threads: {t1: {load.threads: 1}, t2: {load.threads: 2}, t4: {load.threads: 4}}
  cache: {cold: {}, warm: {database.key_cache: 0MiB}}
baseline: {platform: native, threads: t1, cache: cold}
analysis:
  compare: [platform]
  show:
"""


def asking(*show: str) -> str:
    return BASE + "".join(f"    - {one}\n" for one in show)


def test_a_name_stands_for_a_list_of_one(read: ReadStudy) -> None:
    shown = read(asking("{kind: box, lines: cache, where: {threads: t1}}")).analysis.show[0]
    assert (shown.lines, shown.where) == (["cache"], {"threads": ["t1"]})


def test_durations_and_shares_are_written_as_everywhere(read: ReadStudy) -> None:
    study = read(asking("{kind: band, window: 1m}", "{kind: rankings, ties: 2%}"))
    assert study.analysis.show[0].window == 60
    assert study.analysis.show[1].ties == 0.02


@pytest.mark.parametrize(
    ("show", "field", "remedy"),
    [
        (
            "{kind: box, lines: platfrom}",
            "lines: unknown factor 'platfrom'",
            "did you mean platform?",
        ),
        ("{kind: ladder, x: thread}", "x: unknown factor 'thread'", "did you mean threads?"),
        ("{kind: box, panels: [nodes]}", "panels: unknown factor 'nodes'", "name one of those"),
        (
            "{kind: box, where: {theads: t1}}",
            "where.theads: unknown factor",
            "did you mean threads?",
        ),
        ("{kind: box, where: {threads: t3}}", "where.threads: unknown level 't3'", "name one"),
        (
            "{kind: rankings, panels: threads, groups: {few: [t1, t8]}}",
            "groups.few: unknown level 't8'",
            "name one",
        ),
        ("{kind: rankings, groups: {few: t1}}", "groups.few: groups of which factor", "add panels"),
        ("{kind: box, window: 30s}", "window: box has no window", "remove window"),
        ("{kind: band, x: threads}", "x: band has no x", "remove x"),
        ("{kind: maximum, x: cache, panels: cache}", "panels: factor cache is x", "take it out"),
        ("{kind: quadratic-fit, x: cache}", "x: cache has no levels that are numbers", "threads"),
        ("{kind: spread, lines: cache, where: {cache: cold}}", "spread of a single", "several"),
        ("{kind: mean-bars, x: throughput}", "x: unknown factor 'throughput'", "name one"),
        ("{kind: box, wherre: {}}", "wherre: unknown field", "where"),
        ("{kind: boxes}", "kind: 'boxes' is not known", "did you mean box?"),
        ("{kind: interval-means, intervals: [0]}", "intervals.0: 0 is out of range", "at least 1"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_remedy(
    refuse: RefuseStudy, show: str, field: str, remedy: str
) -> None:
    error = refuse(asking("{kind: box}", show))
    assert error.where == "study.yaml:11"
    assert field in error.what
    assert remedy in error.remedy


def test_a_ladder_may_run_along_the_measured_throughput(read: ReadStudy) -> None:
    assert read(asking("{kind: ladder, x: throughput}")).analysis.show[0].x == "throughput"


def test_a_curve_needs_steps(refuse: RefuseStudy) -> None:
    text = asking("{kind: ladder, lines: [platform, threads]}")
    assert "a ladder needs a factor with numbers" in refuse(text).what


def test_the_axis_is_the_load_where_the_study_does_not_say(read: ReadStudy) -> None:
    study = read(asking("{kind: ladder}", "{kind: ladder, lines: cache, x: threads}"))
    assert step_factor(study, study.analysis.show[0]) == "threads"
    assert step_factor(study, study.analysis.show[1]) == "threads"


def test_every_kind_is_documented_with_an_entry_that_can_be_copied() -> None:
    page = Path(__file__).parents[2] / "docs" / "figures.md"
    blocks = re.findall(r"```yaml\n(- .*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    entries = [one for block in blocks for one in parse_document(block, page.name).data]
    assert {AskedExhibit.model_validate(one).kind for one in entries} == set(get_args(ExhibitKind))
