"""A command's outputs end at its mark, even if ssh prints messages of its own."""

from __future__ import annotations

import subprocess

from tare.machines.shell_output import Streams

SCRIPT = r"printf 'out\nMARK 3\n'; printf 'err\nMARK\nssh: a line of its own\n' >&2; exec cat"


def test_what_ssh_says_after_the_mark_keeps_no_answer_back() -> None:
    shell = subprocess.Popen(
        ["/bin/sh", "-c", SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with shell:
        done = Streams(shell, b"MARK").read(within_s=30.0)
    assert done is not None
    assert (done.status, done.out, done.err) == (3, b"out", b"err")
