"""The nodes that both drop-ins are tried on, started once for all of these tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from bench.load.server import start

from .nodes import ADDRESS, GUARDED, guarded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="package")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a node alone."""
    server = start(ADDRESS, tmp_path_factory.mktemp("node"), "0-1")
    try:
        yield ADDRESS
    finally:
        server.kill()


@pytest.fixture(scope="package")
def behind_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Path]]:
    """As in `guarded`, at `GUARDED`."""
    with guarded(GUARDED, tmp_path_factory.mktemp("guarded")) as both:
        yield both
