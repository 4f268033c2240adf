"""The comparison as a Markdown table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.load.measure import UNDISTURBED_S
from tare.errors import LoadError

BASE = "tare-load"
BEGIN, END = "<!-- bench.load: begin -->", "<!-- bench.load: end -->"
"""Between these lines of a page the tables stand."""
TARGETS = (
    ("CPU time per operation, of latte's", "cpu_us", "latte", 0.5),
    ("CPU time per operation, of cassandra-stress's", "cpu_us", "cassandra-stress", 0.1),
    ("CPU time per operation, of the floor's", "cpu_us", "floor", 1.5),
)
"""tare-load's share of another client's at most: what, metric, of whom, how much."""
MOST_MB = 50.0

_HEAD = (
    "| client | operations/s | CPU us/operation | whole process | of tare-load's CPU | "
    "first second | memory MB | p50 ms | p99 ms | node us/operation |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def markdown(document: Mapping[str, Any]) -> str:
    """The tables of one document that `python -m bench.load` wrote."""
    lines = [_facts(document), "", _HEAD]
    lines += [_row(document, name) for name in document["medians"]]
    for name, runs in document["runs"].items():
        failed = sum(run["errors"] for run in runs)
        lines += ["", f"**{name} had {failed} failed operations.**"] if failed else []
    taken = [run for runs in document["runs"].values() for run in runs]
    stolen = sum(run["undisturbed_s"] < UNDISTURBED_S for run in taken)
    if stolen:
        lines += ["", f"In {stolen} of {len(taken)} runs the host took CPU time all along."]
    lines += ["", *_targets(document)]
    if document["instructions"]:
        lines += ["", "| client | instructions/operation in user space |", "|---|---|"]
        counts = document["instructions"].items()
        lines += [f"| {name} | {count:,.0f} |" for name, count in counts]
    return "\n".join(lines) + "\n"


def inserted(page: str, tables: str) -> str:
    """The page with these tables in place of those that it has.

    Raises:
        LoadError: the page has no place for them.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise LoadError("the page has no place for the tables", remedy=f"write {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after}"


def _facts(document: Mapping[str, Any]) -> str:
    load, machine = document["load"], document["machine"]
    return (
        f"{document['began'][:10]}; {machine['processor']}, {machine['cpus']} CPUs, Linux"
        f" {machine['kernel']}; Cassandra {document['cassandra']}, one node on CPU"
        f" {document['cpus']['server']}, client on CPU {document['cpus']['client']}; reads of one"
        f" row of {load['row_bytes']} bytes among {load['rows']:,}, consistency ONE,"
        f" {load['in_flight']} in flight; medians of {document['blocks']} interleaved runs of"
        f" {document['seconds']} s; load of the machine at the beginning"
        f" {machine['load_average']:.1f}; node {'flat' if document['flat'] else 'not flat'} after"
        " its warm-up."
    )


def _row(document: Mapping[str, Any], name: str) -> str:
    own, version = document["medians"][name], document["versions"][name]
    ratio = document["ratios"][name]["cpu_us"]
    cells = [
        f"{name} ({version})",
        f"{own['per_second']:,.0f}",
        f"{own['cpu_us']:.2f}",
        f"{own['cpu_us_whole']:.2f}",
        "1" if name == BASE else interval(ratio),
        f"{own['first_second']:.2f}",
        f"{own['rss_mb']:.0f}",
        _milliseconds(own["p50_us"]),
        _milliseconds(own["p99_us"]),
        f"{own['server_cpu_us']:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _milliseconds(microseconds: float | None) -> str:
    return "" if microseconds is None else f"{microseconds / 1e3:.2f}"


def interval(ratio: Mapping[str, float | None]) -> str:
    """`2.1 [2.0, 2.2]`, or the estimate alone where one pair gave it."""
    if ratio["low"] is None:
        return f"{ratio['estimate']:.2f}"
    return f"{ratio['estimate']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]"


def _targets(document: Mapping[str, Any]) -> list[str]:
    lines = ["| target | aim | found | |", "|---|---|---|---|"]
    for what, metric, other, most in TARGETS:
        if other not in document["ratios"]:
            continue
        ratio = document["ratios"][other][metric]
        found = _inverse(ratio)
        lines.append(
            f"| {what} | at most {most:g} | {interval(found)} | {verdict_of(found, most)} |"
        )
    memory = document["medians"][BASE]["rss_mb"]
    verdict = "holds" if memory <= MOST_MB else "**missed**"
    lines.append(f"| memory | at most {MOST_MB:g} MB | {memory:.0f} | {verdict} |")
    return lines


def _inverse(ratio: Mapping[str, float | None]) -> dict[str, float | None]:
    """The ratio the other way round, with its interval."""
    upside_down = {"estimate": "estimate", "low": "high", "high": "low"}
    return {name: None if (x := ratio[of]) is None else 1 / x for name, of in upside_down.items()}


def verdict_of(found: Mapping[str, float | None], most: float) -> str:
    """Whether a target holds, as far as the interval says so."""
    low, high = found["low"], found["high"]
    if low is None or high is None:
        return "not decided: one block"
    if high <= most:
        return "holds"
    return "**missed**" if low > most else "not decided"
