"""latte's JSON report: its result, its log of intervals, and its histograms.

Latencies in the report are in milliseconds, those in its histograms in nanoseconds.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tare.imports import properties
from tare.imports.file_content import FileReading, PrintedInterval, UnreadableError
from tare.imports.histograms import line_of
from tare.imports.parsing import json_document, json_number, microseconds, operation_name, text_of
from tare.imports.recognise import not_ours

_OWN = ("id", "timestamp", "baseline", "quiet")
"""Fields that differ in every report."""
_FACTS = ("threads", "concurrency", "rate", "consistency")
_KINDS = {50.0: "p50", 95.0: "p95", 99.0: "p99", 99.9: "p999", 100.0: "max"}


def read(data: bytes) -> list[FileReading]:
    """The one trial in a report.

    Raises:
        UnreadableError: it is no report of latte's, cut off, or of another version.
    """
    text = text_of(data)
    try:
        report = json_document(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("{"):
            raise UnreadableError(f"cut off or damaged JSON: {error}") from None
        raise UnreadableError(
            not_ours("latte", text, "not JSON, so no report of latte's")
        ) from None
    result = report.get("result") if isinstance(report, dict) else None
    if not isinstance(result, dict) or "cycle_throughput" not in result:
        raise UnreadableError(
            not_ours(
                "latte", text[:100_000], "a report of another version: no result.cycle_throughput"
            )
        )
    try:
        return [_reading(report, result)]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise UnreadableError(
            f"a report of another version, or damaged: {type(error).__name__} {error}"
        ) from None


def _reading(report: dict[str, Any], result: dict[str, Any]) -> FileReading:
    percentiles = [json_number(one, "percentiles") for one in report["percentiles"]]
    seconds = _positive(result["elapsed_time_s"], "elapsed_time_s")
    throughput = _positive(result["cycle_throughput"]["value"], "cycle_throughput")
    reading = FileReading({"throughput": throughput}, seconds=seconds)
    reading.started = datetime.fromisoformat(str(result["start_time"])).timestamp()
    errors = int(json_number(result["error_count"], "error_count"))
    reading.operations = max(0, int(json_number(result["cycle_count"], "cycle_count")) - errors)
    reading.values["errors"] = float(errors)
    if errors:
        reading.errors_by_kind = {"failed": errors}
    by_function = result.get("cycle_latency_by_fn") or {}
    for name, latency in {"all": result["cycle_latency"], **by_function}.items():
        _take_latency(reading, operation_name(name), latency, percentiles)
        # the functions add up to the whole; a log has either
        if isinstance(latency.get("histogram"), str) and (name != "all" or not by_function):
            tag = name.upper()
            reading.histograms.append(line_of(f"{tag}-rt", seconds, latency["histogram"]))
    reading.tags = frozenset(line[4:].partition(",")[0] for line in reading.histograms)
    reading.intervals = [_interval(entry, percentiles) for entry in result.get("log") or []]
    reading.intervals = [one for one in reading.intervals if one.t > 0]
    reading.facts = _facts(report["conf"])
    reading.told = _told(report)
    return reading


def _take_latency(
    reading: FileReading, operation: str, latency: dict[str, Any], percentiles: list[float]
) -> None:
    mean = json_number(latency["mean"]["value"], f"{operation}.mean")
    reading.values[f"{operation}.mean"] = microseconds(mean, "ms")
    for percentile, entry in zip(percentiles, latency["percentiles"], strict=True):
        if percentile in _KINDS:
            metric = f"{operation}.{_KINDS[percentile]}"
            reading.values[metric] = microseconds(json_number(entry["value"], metric), "ms")


def _interval(entry: dict[str, Any], percentiles: list[float]) -> PrintedInterval:
    latency = entry["cycle_latency"]["percentiles"]
    p99 = dict(zip(percentiles, latency, strict=True)).get(99.0)
    return PrintedInterval(
        json_number(entry["time_s"], "time_s") + json_number(entry["duration_s"], "duration_s"),
        json_number(entry["cycle_throughput"], "cycle_throughput"),
        microseconds(json_number(p99["value"], "p99"), "ms") if p99 else None,
    )


def _facts(conf: dict[str, Any]) -> dict[str, str]:
    """Facts that a study may vary: the names of latte's own options."""
    found = {name: conf.get(name) for name in _FACTS} | {
        "consistency": (conf.get("connection") or {}).get("consistency")
    }
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in found.items()
        if isinstance(value, (int, float, str))
    }


def _told(report: dict[str, Any]) -> dict[str, str]:
    """The tool, the server that it met, and its settings except those that are facts."""
    conf = {name: value for name, value in report["conf"].items() if name not in (*_FACTS, *_OWN)}
    if "connection" in conf:
        connection = dict(conf["connection"])
        conf["connection"] = {
            name: value for name, value in connection.items() if name not in (*_FACTS, "user")
        }
    if isinstance(conf.get("workload"), str):
        conf["workload"] = conf["workload"].rpartition("/")[2]
    return {"tool": "latte", **properties.of_report(conf)}


def _positive(value: Any, what: str) -> float:
    found = json_number(value, what)
    if not found:
        raise UnreadableError(f"{what} is 0: nothing was measured")
    return found
