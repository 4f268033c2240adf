"""Runs another load generator instead of tare-load: ``python -m ...drive --spec FILE``.

It reads the specification that tare-load would get, with the tool's command in `tool`, and prints
the same JSON lines. The tool's own output is kept in tool.log beside the specification.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tare.errors import LoadError, TareError
from tare.imports.file_content import UnreadableError
from tare.load.tools import cassandra_stress, latte, ycsb
from tare.load.tools.call import SEE_LOG, Call
from tare.load.tools.record import result, write_log
from tare.load.tools.watch import ProcessWatch, Use

LOG = "tool.log"
ALIVE_S = 5.0
"""The lab gives up a client without output for half a minute; some tools are silent that long."""
CALLS: dict[str, Callable[..., Call]] = {
    "ycsb": ycsb.call,
    "cassandra-stress": cassandra_stress.call,
    "latte": latte.call,
}


def main(arguments: list[str]) -> int:
    """Exit status 0 done, 1 failed; the reason is the last line on standard output."""
    where = Path(arguments[-1]).absolute()
    try:
        _drive(json.loads(where.read_text("utf-8")), where.parent)
    except UnreadableError as error:
        return _fail(LoadError("the tool's result cannot be read", why=str(error)))
    except (TareError, OSError) as error:
        return _fail(error)
    return 0


def _drive(specification: dict[str, Any], where: Path) -> None:
    tool = specification.pop("tool")
    call = CALLS[tool["name"]](specification, tool["command"], where)
    stop = threading.Event()
    threading.Thread(target=_alive, args=(stop,), daemon=True).start()
    try:
        with (where / LOG).open("w", encoding="utf-8") as log:
            tell({"event": "ready", "version": f"{tool['name']} {tool['version']}"})
            if call.warm is not None:
                with _started(call.warm, where) as process:
                    for _ in _lines(process, log, "the tool's warm-up"):
                        pass
            with _started(call.command, where) as process:
                text, seen = _measure(call, process, log)
        outcome = call.outcome(text)
        write_log(
            Path(specification["hlog"]),
            outcome.histograms,
            seen.start_unix,
            scheduled=bool(specification["rate"]),
        )
        timed = None if call.own_time else seen.end_unix - seen.start_unix
        version = f"{tool['name']} {tool['version']}"
        tell(result(specification, outcome, seen.use, seen.start_unix, version, timed))
    finally:
        stop.set()


@dataclass(frozen=True)
class _Seen:
    """The measured part, as seen from outside."""

    start_unix: float
    end_unix: float
    use: Use


def _measure(call: Call, process: subprocess.Popen[str], log: IO[str]) -> tuple[str, _Seen]:
    """Follow the tool to its end; its output, and what was seen of its measured part."""
    watch = ProcessWatch(process.pid)
    text: list[str] = []
    begin: float | None = None
    seen: _Seen | None = None
    for line in _lines(process, log, "the tool"):
        text.append(line)
        if begin is None and call.begins.search(line):
            begin = time.time()
            watch.begin()
            tell({"event": "measure_start", "unix": begin})
        elif begin is not None and seen is None:
            if call.ends is not None and call.ends.search(line):
                seen = _ended(begin, watch)
            elif found := call.rate.search(line):
                _tell_rate(float(found[1]), begin)
    if begin is None:
        raise LoadError(
            "the tool never began to measure",
            why="".join(text[-3:]).strip(),
            remedy=SEE_LOG,
        )
    return "".join(text), seen or _ended(begin, watch)


def _ended(begin: float, watch: ProcessWatch) -> _Seen:
    end = time.time()
    tell({"event": "measure_end", "unix": end})
    return _Seen(begin, end, watch.end())


def _tell_rate(ops_per_s: float, start_unix: float) -> None:
    """An interval; its latencies are in the histograms, which come at the end."""
    now = time.time()
    tell(
        {
            "event": "interval",
            "phase": "measure",
            "t": now - start_unix,
            "unix": now,
            "ops_per_s": ops_per_s,
            "p99_us": None,
            "errors": 0,
        }
    )


@contextmanager
def _started(command: list[str], where: Path) -> Iterator[subprocess.Popen[str]]:
    """A running tool; it is killed if it is not followed to its end."""
    process = subprocess.Popen(
        command,
        cwd=where,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _lines(process: subprocess.Popen[str], log: IO[str], what: str) -> Iterator[str]:
    """The process's output, line by line, also kept in the log, until it has ended well."""
    for line in process.stdout or ():
        log.write(line)
        log.flush()
        yield line
    status = process.wait()
    if status:
        raise LoadError(
            f"{what} ended with status {status}",
            where=Path(str(process.args[0] if isinstance(process.args, list) else "")).name,
            remedy=SEE_LOG,
        )


_telling = threading.Lock()


def tell(event: dict[str, Any]) -> None:
    """One JSON line on standard output."""
    with _telling:
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()


def _alive(stop: threading.Event) -> None:
    while not stop.wait(ALIVE_S):
        tell({"event": "waiting"})


def _fail(error: TareError | OSError) -> int:
    what, why = (error.what, error.why) if isinstance(error, TareError) else (str(error), "")
    tell({"event": "error", "kind": "tool", "what": what, "why": why})
    return 1


def _terminated(number: int, frame: object) -> None:
    # the tool does not end with this process: whoever stops the unit kills the rest of it
    os._exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(main(sys.argv[1:]))
