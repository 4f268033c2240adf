"""The likely tool of a file that is not of the named tool."""

from __future__ import annotations

import re

HEAD = 200_000
"""Number of characters that are examined."""

# In this order: the surest sign first.
_SIGNS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("cassandra-stress", "cassandra-stress output", re.compile(
        r"Stress Settings \*|^type[ ,]+total ops,|^total ops ?,|^op rate +:", re.M | re.I)),
    ("ycsb", "YCSB output", re.compile(r"^\[OVERALL\], |current ops/sec; ", re.M)),
    ("ycsb", "go-ycsb output", re.compile(r"^[A-Z_]+ +- Takes\(s\): ", re.M)),
    ("latte", "latte's JSON report", re.compile(r'"cycle_throughput"')),
    ("", "what latte prints on the terminal; its JSON report has the numbers", re.compile(
        r"^(CONFIG|SUMMARY STATS) ═", re.M)),
    ("hlog", "a log of HdrHistogram intervals", re.compile(r"[,:]HIST[A-Z]|Histogram log format")),
    ("iostat", "iostat output", re.compile(r"^avg-cpu: |\"avg-cpu\"", re.M)),
    ("sar", "sar output", re.compile(r"^Linux .*\(\d+ CPU\)|\"sysstat\"", re.M)),
    ("dstat", "dstat's CSV", re.compile(r"(dstat|dool) .*CSV|\"total (cpu )?usage\"", re.I)),
)  # fmt: skip


def looks_like(text: str) -> tuple[str, str] | None:
    """The tool's name for `tare import` (empty: none reads it) and what the text seems to be."""
    head = text[:HEAD]
    return next(((tool, what) for tool, what, sign in _SIGNS if sign.search(head)), None)


def not_ours(tool: str, text: str, missing: str) -> str:
    """Why a file is not read: what it lacks, and what it looks like instead."""
    found = looks_like(text)
    if found is None or found[0] == tool:
        return missing
    other, what = found
    remedy = f"; use tare import {other}" if other else ""
    return f"this looks like {what}{remedy}"
