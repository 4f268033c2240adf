"""A machine's id identifies it, or its name if it has no id."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from tare.machines.identity import identity

if TYPE_CHECKING:
    from pathlib import Path


def test_the_machine_s_id_tells_it_from_others(tmp_path: Path) -> None:
    file = tmp_path / "machine-id"
    file.write_text("0123abcd\n", encoding="ascii")
    assert identity(file) == "0123abcd"


@pytest.mark.parametrize("content", [None, ""])
def test_a_machine_without_an_id_goes_by_its_name(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "machine-id"
    if content is not None:
        file.write_text(content, encoding="ascii")
    assert identity(file) == socket.gethostname()
