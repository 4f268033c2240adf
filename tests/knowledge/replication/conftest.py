"""A run with a known effect, and its analysis; a module may define another run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tests.knowledge.replication.published import PAIR
from tests.synthetic_run import write_run

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with little noise: throughput in Docker is 90% of native at both loads."""
    place = tmp_path_factory.mktemp("runs") / "run"
    return write_run(
        place, effects=PAIR, between=0.004, within=0.004, measure_s=3, blocks=2,
        threads=[16, 64],
    )  # fmt: skip


@pytest.fixture(scope="module")
def analysis(run: Path) -> Analysis:
    return analyse(run)
