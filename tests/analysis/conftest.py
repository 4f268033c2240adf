"""One whole synthetic run, analysed once, that several tests look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tests.synthetic_run import write_run

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis


@pytest.fixture(scope="session")
def quickstart_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five conditions, three deployments, four blocks; platform effects as in QUICKSTART."""
    return write_run(tmp_path_factory.mktemp("runs") / "quickstart", within=0.01, between=0.01)


@pytest.fixture(scope="session")
def quickstart(quickstart_dir: Path) -> Analysis:
    return analyse(quickstart_dir)
