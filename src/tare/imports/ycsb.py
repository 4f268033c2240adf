"""YCSB's results: the summary at the end of its output, and its status lines.

Names and units as YCSB prints them, 0.1 to 0.18: `[READ], AverageLatency(us), 10069.5`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tare.imports import go_ycsb, properties
from tare.imports.file_content import FileReading, PrintedInterval, UnreadableError
from tare.imports.parsing import lines_of, microseconds, number, operation_name
from tare.imports.recognise import not_ours
from tare.study.metric_names import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

OVERALL = "OVERALL"
CLEANUP = "CLEANUP"
VERIFY = "VERIFY"
"""The client's check of read values (dataintegrity=true): no operation of its own."""
_FAILURES = re.compile(r".*-(FAILED|ERROR|NOT_FOUND|UNEXPECTED_STATE|SERVICE_UNAVAILABLE)")
"""Blocks of failed operations; under their status with reportlatencyforeacherror=true."""
RMW = "rmw"
"""Made of a read and an update, whose blocks have the return codes; its own block has none."""
INTENDED = "Intended-"
"""Latency from the intended start (measurement.interval=both): Tare's response time."""
LOST_SHARE = 0.02
"""Share of the operations that may be missing from the blocks per operation."""

_LINE = re.compile(r"\[([A-Za-z_-]+)\], (.*), ([^,]*)")
_PERCENTILE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:st|nd|rd|th)?PercentileLatency\((ns|us|ms)\)")
_LATENCY = re.compile(r"(Average|Min|Max)Latency\((ns|us|ms)\)")
_RETURN = re.compile(r"Return=(\S+)")
_BINDINGS = {
    "CassandraCQLClient": "cassandra",
    "CassandraClient": "cassandra",
    "MongoDbClient": "mongodb",
    "AsyncMongoDbClient": "mongodb",
}
_OK = {"OK", "BATCHED_OK", "0"}  # 0 until YCSB 0.5
_KINDS = {"50": "p50", "95": "p95", "99": "p99", "99.9": "p999"}
_THREADS = re.compile(r"^Command line:.* -threads ([0-9]{1,9})\b")
_HEAD = {
    "database binding": re.compile(
        r"^Command line:.* -db (?:site\.ycsb\.|com\.yahoo\.ycsb\.)?([\w.]{1,80})"
    ),
    "read consistency": re.compile(
        r"^Command line:.* -p cassandra\.readconsistencylevel=([A-Za-z_]{1,20})\b"
    ),
    "write consistency": re.compile(
        r"^Command line:.* -p cassandra\.writeconsistencylevel=([A-Za-z_]{1,20})\b"
    ),
    "tool version": re.compile(r"^YCSB Client v?([\w.-]{1,40})"),
}
_STATUS = re.compile(
    r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}) \d+ sec: \d+ operations;"
    r"(?: ([0-9.,E+-]+) current ops/sec;)?(.*)",
    re.ASCII,
)
_STATUS_OPERATION = re.compile(r"\[([A-Z-]+): Count=([0-9]{1,18}), ([^\]]*)\]")
_STATUS_P99 = re.compile(r"(?:^|, )99=([0-9.]+)")


@dataclass
class _Block:
    """The printed values of one operation."""

    count: float | None = None
    latencies: dict[str, float] = field(default_factory=dict)
    least: float | None = None
    lines: dict[str, int] = field(default_factory=dict)
    returns: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> float:
        """Operations that succeeded."""
        if self.returns:
            return sum(n for code, n in self.returns.items() if code in _OK)
        return self.count or 0.0

    @property
    def errors(self) -> dict[str, int]:
        return {code: n for code, n in self.returns.items() if code not in _OK and n}


def read(data: bytes) -> list[FileReading]:
    """The one trial in a file of YCSB's, or of go-ycsb's, output.

    Raises:
        UnreadableError: it is not YCSB's, cut off, or contradicts itself.
    """
    lines = lines_of(data)
    if any(line.startswith("[OVERALL]") for line in lines):
        reading = _summary(lines)
    elif any(go_ycsb.is_line(line) for line in lines):
        return [go_ycsb.read(lines)]
    else:
        reading = FileReading(summary=False)
    _add_status(reading, lines)
    if not reading.summary and not reading.intervals:
        raise UnreadableError(
            not_ours("ycsb", "\n".join(lines), "no [OVERALL] block: cut off, or not YCSB output")
        )
    threads = next((m[1] for line in lines[:50] if (m := _THREADS.match(line))), None)
    if threads is not None:
        reading.facts["threads"] = threads
    reading.told["tool"] = "YCSB"
    for name, pattern in _HEAD.items():
        found = next((m[1] for line in lines[:50] if (m := pattern.match(line))), None)
        if found is not None:
            reading.told[name] = _BINDINGS.get(found.rpartition(".")[2], found)
    reading.told |= properties.of_command_line(lines[:50])
    return [reading]


def _summary(lines: Iterable[str]) -> FileReading:
    overall: dict[str, float] = {}
    blocks: dict[str, _Block] = {}
    for place, line in enumerate(lines, start=1):
        found = _LINE.fullmatch(line.strip())
        if found is None:
            if line.startswith("["):
                _refuse_torn(line)
            continue
        section, key, value = found.groups()
        if section == OVERALL:
            if key in overall:
                raise UnreadableError("two [OVERALL] blocks: the output of more than one run")
            overall[key] = number(value, f"[OVERALL], {key}")
        elif section != CLEANUP and not section.startswith("TOTAL_GC"):
            _take(blocks.setdefault(section, _Block()), section, key, value, place)
    seconds = _overall(overall, "RunTime(ms)") / 1000
    throughput = _overall(overall, "Throughput(ops/sec)")
    return _reading(blocks, seconds, throughput)


def _refuse_torn(line: str) -> None:
    """Refuses a torn line of the summary; other lines may begin with a bracket, e.g. log lines."""
    if re.match(r"\[[A-Z-]+\](,|$)|\[[A-Z-]*$", line):
        raise UnreadableError(f"cut off or damaged at {line.strip()[:60]!r}")


def _overall(overall: dict[str, float], key: str) -> float:
    if key not in overall:
        raise UnreadableError(f"cut off: the [OVERALL] block has no {key}")
    if not overall[key]:
        raise UnreadableError(f"[OVERALL], {key} is 0: nothing was measured")
    return overall[key]


def _take(block: _Block, section: str, key: str, value: str, line: int) -> None:
    what = f"line {line}: [{section}], {key}"
    if key == "Operations":
        if block.count is not None:
            raise UnreadableError(f"two [{section}] blocks: the output of more than one run")
        block.count = number(value, what)
    elif found := _LATENCY.fullmatch(key):
        if block.count == 0:  # then YCSB prints NaN
            return
        latency = microseconds(number(value, what), found[2])
        if found[1] == "Min":
            block.least = latency
            return
        kind = "mean" if found[1] == "Average" else "max"
        block.latencies[kind] = latency
        block.lines[kind] = line
    elif found := _PERCENTILE.fullmatch(key):
        if found[1] in _KINDS and block.count != 0:
            block.latencies[_KINDS[found[1]]] = microseconds(number(value, what), found[2])
            block.lines[_KINDS[found[1]]] = line
    elif found := _RETURN.fullmatch(key):
        block.returns[found[1]] = block.returns.get(found[1], 0) + int(number(value, what))


def _reading(blocks: dict[str, _Block], seconds: float, throughput: float) -> FileReading:
    intended = {name: block for name, block in blocks.items() if name.startswith(INTENDED)}
    failed = {n: b for n, b in blocks.items() if _FAILURES.fullmatch(n) and n not in intended}
    plain = {n: b for n, b in blocks.items() if n not in failed and n not in intended}
    plain = {name: block for name, block in plain.items() if block.count or block.returns}
    if not plain and not failed:
        raise UnreadableError("cut off: no operation follows the [OVERALL] block")
    _refuse_cut(plain)
    _refuse_cut(intended)
    reading = FileReading({"throughput": throughput}, seconds=seconds)
    verify = plain.pop(VERIFY, None)
    if verify is not None:
        reading.errors_by_kind |= verify.errors
    for name, block in plain.items():
        reading.counts[operation_name(name)] = block.count or float(sum(block.returns.values()))
        _add_latencies(reading, name, block, intended.get(INTENDED + name))
        for code, n in block.errors.items():
            reading.errors_by_kind[code] = reading.errors_by_kind.get(code, 0) + n
    for name, block in failed.items():
        own = plain.get(name.rpartition("-")[0])
        if own is None or not own.errors:  # else its codes have been counted
            kind = operation_name(name)
            reading.errors_by_kind[kind] = int(block.count or 0)
    reading.values["errors"] = float(sum(reading.errors_by_kind.values()))
    _add_totals(reading, plain)
    return reading


def _refuse_cut(plain: dict[str, _Block]) -> None:
    """The blocks of all operations have the same lines, unless the file was cut."""
    kinds = {kind for block in plain.values() for kind in block.latencies}
    codes = any(block.returns for block in plain.values())
    for name, block in plain.items():
        if block.count is None:
            raise UnreadableError(f"cut off: [{name}] has no Operations")
        if block.count and (missing := kinds - block.latencies.keys()):
            raise UnreadableError(f"cut off: [{name}] has no {', '.join(sorted(missing))}")
        if block.count and "mean" not in block.latencies:
            raise UnreadableError(f"cut off: [{name}] has no AverageLatency")
        if codes and not block.returns and operation_name(name) != RMW:
            raise UnreadableError(f"cut off: [{name}] has no return codes")


def _add_latencies(reading: FileReading, name: str, block: _Block, intended: _Block | None) -> None:
    operation = operation_name(name)
    response = block
    if intended is not None and intended.count:
        response = intended
        _add_order(reading, f"service.{operation}", block)
        reading.values |= {f"service.{operation}.{k}": v for k, v in block.latencies.items()}
        note = "latencies count from the intended start ([Intended-...]); service.* from the send"
        if note not in reading.notes:
            reading.notes.append(note)
    _add_order(reading, operation, response)
    reading.values |= {f"{operation}.{kind}": value for kind, value in response.latencies.items()}


def _add_order(reading: FileReading, operation: str, block: _Block) -> None:
    """Values that show whether the block's latencies can be true."""
    if block.least is not None:
        reading.least[f"{operation}.min"] = block.least
    reading.lines |= {f"{operation}.{kind}": line for kind, line in block.lines.items()}


def _add_totals(reading: FileReading, plain: dict[str, _Block]) -> None:
    """Operations in all, and latency over all operations as far as it follows from the parts."""
    implied = reading.values["throughput"] * (reading.seconds or 0.0)
    if any(operation_name(name) == RMW for name in plain):
        # its reads and updates are in their own blocks, too: nothing may be added up
        reading.operations = max(0, round(implied - reading.values["errors"]))
        return
    ok = sum(block.ok for block in plain.values())
    answered = ok + reading.values["errors"]
    if answered < (1 - LOST_SHARE) * implied:
        raise UnreadableError(
            f"cut off: the operations add up to {answered:,.0f} of the {implied:,.0f} that run "
            "time and throughput imply"
        )
    reading.operations = round(ok)
    measured = {operation_name(n): b.count or 0.0 for n, b in plain.items() if b.latencies}
    if len(measured) == 1:
        only = next(iter(measured))
        for kind in KINDS:
            if f"{only}.{kind}" in reading.values:
                reading.values[f"all.{kind}"] = reading.values[f"{only}.{kind}"]
    elif total := sum(measured.values()):
        sums = [n * reading.values[f"{name}.mean"] for name, n in measured.items()]
        reading.values["all.mean"] = sum(sums) / total
        longest = [v for name in measured if (v := reading.values.get(f"{name}.max")) is not None]
        if len(longest) == len(measured):
            reading.values["all.max"] = max(longest)


def _add_status(reading: FileReading, lines: Iterable[str]) -> None:
    """The series of the status lines, which YCSB stamps with the local time."""
    began: datetime | None = None
    last = 0.0
    for line in lines:
        found = _STATUS.match(line)
        if found is None:
            continue
        stamp = _stamp(found[1])
        if began is None:
            began = stamp
            reading.started = stamp.replace(tzinfo=UTC).timestamp()
        t = (stamp - began).total_seconds()
        # after the last operation YCSB prints a short interval, often empty, that would mislead
        if found[2] is None or t - last < 0.5:
            continue
        last = t
        rate = number(found[2].replace(",", ""), "a status line's rate")
        reading.intervals.append(PrintedInterval(t, rate, _status_p99(found[3])))


def _stamp(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S:%f")
    except ValueError:
        raise UnreadableError(f"a status line's time is damaged: {text!r}") from None


def _status_p99(text: str) -> float | None:
    """The p99 where one kind of operation ran; several p99s give none of the whole."""
    active = [m[3] for m in _STATUS_OPERATION.finditer(text) if m[1] != CLEANUP and int(m[2])]
    found = _STATUS_P99.search(active[0]) if len(active) == 1 else None
    return number(found[1], "a status line's p99") if found else None
