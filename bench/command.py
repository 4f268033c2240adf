"""Shared parts of benchmark commands: help, progress lines, the machine for a table's head."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path
from typing import Any


def parser(package: str, text: str | None) -> argparse.ArgumentParser:
    """The parser of `python -m PACKAGE`, whose help is the module's docstring."""
    return argparse.ArgumentParser(
        prog=f"python -m {package}",
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def say(line: str) -> None:
    """A line of progress; the results go to standard output."""
    print(line, file=sys.stderr, flush=True)


def machine() -> dict[str, Any]:
    """This machine, for a table's head."""
    lines = Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.machine(),
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "load_average": os.getloadavg()[0],
    }
