"""A mark names one process of one boot; after its end, all that it started is left over."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from tare import starter

TELL = "from tare import starter; print(starter.mark(), flush=True); input()"


def test_what_an_ended_process_started_has_no_owner() -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", TELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    mark = other.stdout.readline().strip()
    assert not starter.without_owner(mark)
    other.kill()
    other.wait()
    other.communicate()
    assert starter.without_owner(mark)


def test_what_this_process_started_is_its_own_to_remove() -> None:
    assert starter.without_owner(starter.mark())


def test_the_same_id_of_another_process_is_another_owner() -> None:
    _, start, boot, ids = starter.mark().split("-")
    assert starter.without_owner(f"999999999-{start}-{boot}-{ids}")


def test_a_process_of_another_boot_or_of_another_container_is_not_looked_for_here() -> None:
    _, start, boot, ids = starter.mark().split("-")
    assert not starter.without_owner(f"999999999-{start}-{'0' * 12}-{ids}")
    assert not starter.without_owner(f"999999999-{start}-{boot}-1")


@pytest.mark.parametrize("text", ["", "mine", "1", "1-2", "a-b-c", "1-2-3\n"])
def test_other_text_is_no_mark(text: str) -> None:
    assert not starter.without_owner(text)
    assert not starter.labelled_without_owner(f"{text}@{platform.node()}")
