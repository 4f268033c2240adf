"""Two runs side by side: reads and compares them, and gives the exit status."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from tare.analysis.analyse import analyse
from tare.analysis.comparison.compare import compare
from tare.analysis.model import Analysis
from tare.cli.compare import FailOn
from tare.cli.compare_prices import prices_in, show
from tare.cli.console import Terminal, say_document, say_json
from tare.cli.finish import NOT_VALID, only_one
from tare.errors import RecordError, UsageError
from tare.knowledge.analysis_file import MOST_BYTES
from tare.report.comparison import render_markdown, render_terminal
from tare.report.write import to_json
from tare.study.named_file import read_bytes
from tare.study.quantities import parse_fraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.comparison.model import RunComparison

MET = 1
_REMEDY = "name a run's directory, or make its analysis.json again with `tare report`"


def read_side(path: Path) -> Analysis:
    """The analysis of a run's directory, or of an earlier report's `analysis.json`.

    Raises:
        UsageError: the path does not exist.
        RecordError: the path is neither.
    """
    if not path.exists():
        raise UsageError(
            "there is no such run",
            where=str(path),
            why="neither a directory nor a file has this name",
            remedy="name a run's directory, runs/NAME, or its analysis.json",
        )
    if not path.is_file():
        return analyse(path.absolute())
    content = read_bytes(
        path, MOST_BYTES, "an analysis", RecordError, missing=_REMEDY, too_large=_REMEDY
    )
    try:
        return Analysis.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RecordError(
            "this is not the analysis of a run",
            where=str(path),
            why=f"{place + ': ' if place else ''}{first['msg']}",
            remedy=_REMEDY,
        ) from error


def status(comparison: RunComparison, fail_on: Sequence[FailOn]) -> int:
    """The exit status: 3 a side is not valid, 1 a condition is met, else 0.

    Only primary endpoints count. A difference within the margin does not fail; a primary
    question without an interval is inconclusive.
    """
    if not comparison.valid:
        return NOT_VALID
    primary = [d for d in comparison.differences if d.primary]
    different = [d for d in primary if d.verdict == "different"]
    met = {
        FailOn.DIFFERENT: bool(different),
        FailOn.WORSE: any(d.direction == "worse" for d in different),
        FailOn.INCONCLUSIVE: bool(comparison.unanswered)
        or any(d.verdict == "inconclusive" for d in primary),
    }
    return MET if any(met[one] for one in fail_on) else 0


def renamed(texts: Sequence[str]) -> dict[str, str]:
    """`old=new` to a mapping.

    Raises:
        UsageError: a text without both names, or a name given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        old, _, new = (part.strip() for part in text.partition("="))
        if not old or not new or old in found:
            raise UsageError(
                f"{text!r} does not say what is called how" if old not in found else
                f"{old!r} is given two names",
                where="--map",
                remedy="write NAME_IN_A=NAME_IN_B, once per name",
            )  # fmt: skip
        found[old] = new
    return found


def margins(texts: Sequence[str]) -> dict[str, float]:
    """`throughput=5%` to a fraction per metric.

    Raises:
        UsageError: it is not a fraction between 0 and 100%.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        try:
            fraction = parse_fraction(value) if value.endswith("%") else float(value)
        except ValueError:
            fraction = None
        if not name or not isinstance(fraction, float) or not 0 < fraction < 1:
            raise UsageError(
                f"{text!r} is not a margin",
                where="--margin",
                remedy="write a metric and a fraction, e.g. throughput=5%",
            )
        found[name] = fraction
    return found


def compare_runs(
    a: Path,
    b: Path,
    *,
    map_: Sequence[str],
    margin: Sequence[str],
    metric: Sequence[str],
    fail_on: Sequence[FailOn],
    json: bool,
    markdown: bool,
) -> int:
    """Compare run B with run A and show it; the exit status, see `status`.

    Two files of prices are compared as prices.
    """
    only_one(json=json, markdown=markdown)
    weighed = prices_in(a), prices_in(b)
    if weighed[0] is not None and weighed[1] is not None:
        if markdown or any((map_, margin, metric, fail_on)):
            raise UsageError(
                "prices are compared as they are",
                why="--map, --margin, --metric, --fail-on and --markdown are of runs",
                remedy="leave them out; --json has every difference with its interval",
            )
        show(weighed[0], weighed[1], json=json)
        return 0
    names, limits = renamed(map_), margins(margin)
    first, second = read_side(a), read_side(b)
    if first.trials == second.trials:
        raise UsageError(
            "A and B are the same trials",
            why="conditions of one run share blocks, and are compared inside it",
            remedy=f"tare report {shlex.quote(str(a))}",
        )
    comparison = compare(first, second, renamed=names, margins=limits, metrics=metric)
    if json:
        say_json(to_json(comparison))
    elif markdown:
        say_document(render_markdown(comparison))
    else:
        Terminal().print(render_terminal(comparison))
    return status(comparison, fail_on)
