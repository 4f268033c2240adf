"""A specification as tare-load would get it, for other tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.load.specification import specification
from tare.study.schema import Setup

Specify = Callable[..., dict[str, Any]]


@pytest.fixture
def specify(tmp_path: Path) -> Specify:
    def made(**load: Any) -> dict[str, Any]:
        setup = Setup.model_validate(
            {
                "load": {"records": 1000, "threads": 8, "warmup": "2s", "measure": "5s", **load},
                "database": {"consistency": {"read": "ONE", "write": "ONE"}},
            }
        )
        return specification(
            setup,
            name="t",
            client="c1",
            targets=["127.0.0.1:9042", "127.0.0.2:9042"],
            phase="measure",
            seed=1,
            hlog=tmp_path / "latency-c1.hlog",
        )

    return made
