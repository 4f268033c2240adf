"""The locked files really come from the package repositories, by their ordinary clients."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def fetch(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tare.artifacts.fetch", *arguments],
        env={**os.environ, "TARE_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.engine
def test_a_real_fetch_gives_the_locked_tree_and_a_second_one_only_verifies(tmp_path: Path) -> None:
    first, second = fetch(tmp_path), fetch(tmp_path)

    assert first.returncode == 0, first.stderr
    assert "fetching Cassandra 5.0.9: 100 jars with Maven" in first.stdout
    assert second.returncode == 0, second.stderr
    assert "fetching" not in second.stdout
    assert "Cassandra 5.0.9 verified" in second.stdout
    (tree,) = tmp_path.glob("cassandra-*")
    done = subprocess.run(
        [tree / "jre" / "bin" / "java", "-version"], capture_output=True, text=True, check=True
    )
    assert 'version "17' in done.stderr


def test_an_unknown_version_fails_without_fetching(tmp_path: Path) -> None:
    done = fetch(tmp_path, "1.2.3")

    assert done.returncode == 1
    assert "Cassandra 1.2.3 is not a locked version" in done.stderr
    assert not list(tmp_path.iterdir())
