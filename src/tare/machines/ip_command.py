"""The command ip of iproute2, run to its end."""

from __future__ import annotations

import subprocess

from tare.errors import RuntimeUnavailableError


def ip(*words: str, remedy: str, check: bool = True) -> str:
    """What it prints to its standard output.

    Args:
        remedy: for the error.
        check: whether a failure is an error.

    Raises:
        RuntimeUnavailableError: it fails, or is missing.
    """
    try:
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise RuntimeUnavailableError(
            f"ip {' '.join(words)} failed", why=str(error), remedy="apt-get install iproute2"
        ) from error
    if check and done.returncode != 0:
        raise RuntimeUnavailableError(
            f"ip {' '.join(words)} failed",
            why=done.stderr.strip() or f"exit status {done.returncode}",
            remedy=remedy,
        )
    return done.stdout
