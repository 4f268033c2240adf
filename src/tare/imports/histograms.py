"""Interval histogram logs of other tools: HdrHistogram logs, version 1.0 to 1.3, any tags.

Tags that end in -st, -rt or -wt are service, response and wait time, as cassandra-stress and Tare
write them; others are operations. Histograms in the older V0 and V1 encodings become V2.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np
from hdrh.histogram import HdrHistogram

from tare.errors import RecordError
from tare.imports.file_content import FileReading, PrintedInterval, UnreadableError
from tare.imports.parsing import lines_of, operation_name
from tare.imports.recognise import not_ours
from tare.records.hlog import DECODE_ERRORS, Latencies, parse_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KINDS = ("st", "rt", "wt")
MOST_DAYS_S = 31 * 86400.0
_TOOLS = {"Cassandra Stress": 1, "Logged with Latte": 1}  # header to nanoseconds per unit
_START = re.compile(r"#\[StartTime: ([0-9]{1,12}(?:\.[0-9]+)?) ")
_TAG = re.compile(r"Tag=([^,]*),")
_OLD = {0x1C849308: 0x1C849309, 0x1C849301: 0x1C849302}  # V0, V1: cookie to that of compressed
_COOKIE_BASE = ~0xF0
LARGEST_PAYLOAD = 1 << 24
"""Bytes of one unpacked histogram; 5 digits over the whole range of 64 bits take under 60 MB in
theory, and 4 digits in practice under 5 MB."""


def line_of(tag: str, seconds: float, histogram: str) -> str:
    """A log's line for one histogram over the whole measured part.

    Raises:
        UnreadableError: the histogram cannot be read.
    """
    line = f"Tag={tag},0.000,{seconds:.3f},0.000,{histogram}"
    _decode(line, f"histogram {tag}")
    return line


def read(data: bytes, tick: int | None, operation: str | None) -> list[FileReading]:
    """The trial, or the part of one, in a log.

    Args:
        tick: nanoseconds per unit; None: the log's head must name the tool.
        operation: of lines without a tag; None: all operations together.

    Raises:
        UnreadableError: it is no log, a line is damaged, or its unit is not known.
    """
    lines = lines_of(data)
    body = [line for line in lines if line and line[0] not in '#"']
    head = [line for line in lines if line.startswith("#")]
    if not body or not any(re.search(r",HIST[A-Za-z]", line) for line in body):
        missing = "no histogram: an empty log, or none at all"
        raise UnreadableError(not_ours("hlog", "\n".join(lines[:1000]), missing))
    reading = FileReading(tick_ns=tick if tick is not None else _tick(head))
    start = next((float(m[1]) for line in head if (m := _START.match(line))), None)
    if start is not None and start > 0:
        reading.started = start
    _take_lines(reading, body, operation)
    return [reading]


def _tick(head: Iterable[str]) -> int:
    for line in head:
        for words, tick in _TOOLS.items():
            if words in line:
                return tick
    raise UnreadableError(
        "the log does not say its unit; give --unit (cassandra-stress, latte and Tare log ns, "
        "YCSB us)"
    )


def _take_lines(reading: FileReading, body: Sequence[str], operation: str | None) -> None:
    totals: dict[str, Latencies] = {}
    seconds: dict[float, tuple[float, Latencies]] = {}
    whole = _own_tags(body)
    begin = end = None
    for number, line in enumerate(body, start=1):
        tag = whole.get(_tag(line), None)
        if tag is None:
            continue
        tag = tag or f"{(operation or 'ALL').upper()}-rt"
        start, length, found, text = _decode(line, f"histogram {number}")
        begin = start if begin is None else min(begin, start)
        end = start + length if end is None else max(end, start + length)
        reading.histograms.append(f"Tag={tag},{text}")
        try:
            totals.setdefault(tag, Latencies()).add(found)
            if not tag.endswith("-st") or not _has_response(whole):
                seconds.setdefault(start + length, (length, Latencies()))[1].add(found)
        except RecordError as error:
            raise UnreadableError(f"{error.what}: {error.why}") from None
    if begin is None or end is None or not 0 < end - begin < MOST_DAYS_S:
        raise UnreadableError("its intervals have no length, or are damaged")
    reading.seconds = end - begin
    reading.tags = frozenset(totals)
    _add_values(reading, totals)
    reading.intervals = [
        PrintedInterval(t - begin, part.total / length, _us(part.quantiles_us([99.0])[0], reading))
        for t, (length, part) in sorted(seconds.items())
        if part.total and length > 0
    ]


def _own_tags(body: Iterable[str]) -> dict[str, str]:
    """Each tag of the file to its new tag; waiting times and doubles are left out."""
    tags = list(dict.fromkeys(_tag(line) for line in body))
    if set(tags) == {"cycles", "requests"}:  # latte: every request is a part of a cycle
        return {"cycles": "ALL-rt"}
    own = {}
    for tag in tags:
        name, _, kind = tag.rpartition("-")
        if name and kind in KINDS:
            if kind != "wt":
                own[tag] = tag
        else:
            own[tag] = f"{tag.upper()}-rt" if tag else ""
    if not _has_response(own):
        # without intended times the time from the send is the response time
        own = {tag: re.sub(r"-st$", "-rt", new) for tag, new in own.items()}
    return own


def _has_response(tags: dict[str, str]) -> bool:
    return any(tag.endswith("-rt") for tag in tags)


def _tag(line: str) -> str:
    found = _TAG.match(line)
    return found[1] if found else ""


def _decode(line: str, what: str) -> tuple[float, float, Latencies, str]:
    """Start, length, histogram, and the line without its tag in the V2 encoding."""
    try:
        plain = line.split(",", 1)[1] if line.startswith("Tag=") else line
        head, _, text = plain.rpartition(",")
        plain = f"{head},{_modern(text.strip())}"
        interval = parse_line(plain)
    except (*DECODE_ERRORS, UnicodeEncodeError) as error:
        raise UnreadableError(
            f"{what} cannot be read ({type(error).__name__}): cut off or damaged"
        ) from None
    if not (0 <= interval.start_s < 1e11 and 0 < interval.length_s < MOST_DAYS_S):
        raise UnreadableError(f"{what} has no sound interval")
    return interval.start_s, interval.length_s, interval.latencies, plain


def _modern(text: str) -> str:
    """A V0 or V1 histogram, base64 of a compressed payload, in V2; V2 as it is."""
    try:
        raw = base64.b64decode(text, validate=True)
        (cookie,) = struct.unpack_from(">i", raw)
    except (binascii.Error, struct.error) as error:
        raise ValueError(str(error)) from None
    payload = zlib.decompressobj().decompress(raw[8:], LARGEST_PAYLOAD + 1)
    if len(payload) > LARGEST_PAYLOAD:
        raise ValueError("it unpacks to too much")
    old = next((o for o, c in _OLD.items() if cookie & _COOKIE_BASE == c), None)
    return text if old is None else _reencoded(payload, old)


def _reencoded(payload: bytes, cookie: int) -> str:
    """HdrHistogram's Java sources: V1 has 40 bytes of head, V0 32; then words of fixed width."""
    (own,) = struct.unpack_from(">i", payload)
    if own & _COOKIE_BASE != cookie:
        raise ValueError("not the encoding that it says")
    if cookie == 0x1C849301:
        _, length, _, digits, low, high, _ = struct.unpack_from(">iiiiqqd", payload)
        body = payload[40 : 40 + length]
    else:
        _, digits, low, high, _ = struct.unpack_from(">iiqqq", payload)
        body = payload[32:]
    width = (own & 0xF0) >> 4
    if width not in (2, 4, 8) or not 1 <= digits <= 5 or not 1 <= low < high:
        raise ValueError("a head that makes no sense")
    counts = np.frombuffer(body[: len(body) // width * width], dtype=f">i{width}").astype(np.int64)
    if counts.size and counts.min() < 0:
        raise ValueError("negative counts")
    histogram = HdrHistogram(low, high, digits)
    for index in np.flatnonzero(counts):
        value = histogram.get_value_from_index(int(index))
        if not histogram.record_value(value, int(counts[index])):
            raise ValueError("a value beyond its own range")
    encoded = histogram.encode()
    return encoded.decode() if isinstance(encoded, bytes) else str(encoded)


def _add_values(reading: FileReading, totals: dict[str, Latencies]) -> None:
    """Throughput and means; the analysis takes percentiles from the histograms."""
    response = {tag[:-3]: part for tag, part in totals.items() if tag.endswith("-rt")}
    count = sum(part.total for part in response.values())
    if not count or not reading.seconds:
        raise UnreadableError("its histograms are empty")
    reading.values["throughput"] = count / reading.seconds
    reading.operations = count
    means = {name: part.mean_us() or 0.0 for name, part in response.items() if part.total}
    weighted = sum(mean * response[name].total for name, mean in means.items()) / count
    reading.values["all.mean"] = _us(weighted, reading)
    for name, mean in means.items():
        reading.values[f"{operation_name(name)}.mean"] = _us(mean, reading)


def _us(value: float, reading: FileReading) -> float:
    """The library counts in nanoseconds; a log in another unit has larger ticks."""
    return value * reading.tick_ns
