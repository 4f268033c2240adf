"""A program that is run to its end: its status and its output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tare.artifacts.program import Ended, run_to_end


def test_both_streams_are_kept_in_order() -> None:
    ended = run_to_end(["sh", "-c", "echo one; echo two >&2; echo three; exit 3"], 60)
    assert ended == Ended(3, ("one", "two", "three"))
    assert not ended.ok
    assert (ended.first(2), ended.last(2)) == ("one\ntwo", "two\nthree")


def test_a_good_end_is_ok_and_silence_is_no_line() -> None:
    ended = run_to_end(["true"], 60)
    assert ended == Ended(0, ())
    assert ended.ok
    assert ended.last(5) == ""


def test_a_program_that_hangs_is_ended_and_says_so() -> None:
    ended = run_to_end(["sleep", "60"], 0.05)
    assert ended == Ended(None, ("no end after 0.05 s",))
    assert not ended.ok


def test_it_has_no_input_and_the_directory_and_environment_that_it_is_given(
    tmp_path: Path,
) -> None:
    script = 'cat; pwd; echo "$WORD"'
    ended = run_to_end(["sh", "-c", script], 60, cwd=tmp_path, env={**os.environ, "WORD": "given"})
    assert ended.lines == (str(tmp_path.resolve()), "given")


def test_bytes_that_are_no_text_do_no_harm() -> None:
    ended = run_to_end(["printf", r"a\377b"], 60)
    assert ended.lines == ("a\N{REPLACEMENT CHARACTER}b",)


def test_what_does_not_exist_is_not_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_to_end([str(tmp_path / "nothing")], 60)


def test_a_program_inherits_the_open_files_that_it_is_given_and_no_others() -> None:
    read, write = os.pipe()
    try:
        writes = [sys.executable, "-c", f"import os; os.write({write}, b'told')"]
        assert run_to_end(writes, 60, open_files=(write,)).ok
        assert not run_to_end(writes, 60).ok
        assert os.read(read, 100) == b"told"
    finally:
        os.close(read)
        os.close(write)
