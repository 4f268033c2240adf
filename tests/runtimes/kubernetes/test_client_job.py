"""Files that a client hands over through its pod's log."""

from __future__ import annotations

import pytest

from tare.errors import LoadError
from tare.runtimes.kubernetes.client_job import handed_over


def test_files_come_out_as_they_went_in() -> None:
    text = b'{"file":"a.hlog","bytes":8}\nl1\n{"l2\n\n{"file":"empty.log","bytes":0}\n\n'
    assert handed_over(text, "c1") == {"a.hlog": b'l1\n{"l2\n', "empty.log": b""}


def test_nothing_handed_over_is_no_file() -> None:
    assert handed_over(b"", "c1") == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"file":"a.hlog","bytes":800}\nl1\n', "3 of 800 bytes"),
        (b"the log began earlier\n", "no header"),
        (b'{"file":"../../etc/passwd","bytes":1}\nx\n', "passwd"),
        (b'{"file":"a","bytes":-1}\nx\n', "-1"),
    ],
)
def test_what_came_incomplete_or_strange_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(LoadError) as caught:
        handed_over(text, "c1")
    assert why in caught.value.why
    assert caught.value.where == "c1"
