"""A mongod for the tests: the one that MONGOD names (`make test-mongod`), else an old one that
`setup/mongod.sh` fetches once."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

import pytest

from tare.databases.mongodb.installation import release_of

NAMED = os.environ.get("MONGOD", "")
"""Path of a mongod of the user's; empty: none is named."""
_SETUP = Path(__file__).parents[2] / "setup" / "mongod.sh"
_CANNOT = 3


@functools.cache
def _fetched() -> subprocess.CompletedProcess[str]:
    return subprocess.run([_SETUP], capture_output=True, text=True, timeout=900, check=False)


def program() -> str:
    """The mongod's path; if none is available, the test is skipped with the reason."""
    if NAMED:
        return NAMED
    done = _fetched()
    if done.returncode == _CANNOT:
        pytest.skip(f"{done.stderr.strip()}; or make test-mongod MONGOD=/path")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def version() -> str:
    """Its release, such as 7.0.14."""
    return release_of(program())


def release() -> tuple[int, ...]:
    """Its release, such as 7, 0, 14."""
    return tuple(map(int, version().partition("-")[0].split(".")))
