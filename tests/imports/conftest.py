"""A small study with result files, and imports into temporary runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tare.imports.run import ImportOutcome, Request, import_files

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(__file__).parent / "data"
STUDY = """\
study: imported
question: Does Docker cost anything here?
factors:
  platform: {native: {}, docker: {platform.runtime: docker, platform.network: bridge}}
  threads: {few: {load.threads: 16}, many: {load.threads: 32}}
baseline: {platform: native, threads: few}
design: {fresh: trial, deployments: 1, blocks: 2}
files:
  template: "{platform}_{threads}_{repetition}.txt"
  values: {platform: {bare: native}}
"""
TWO_PLATFORMS = """\
study: two
factors: {platform: {native: {}, docker: {}}}
baseline: {platform: native}
design: {fresh: trial, deployments: 1, blocks: 2}
files: {template: "{platform}_{repetition}.txt"}
"""


class Import(Protocol):
    """Imports files into a run of the small study."""

    def __call__(self, tool: str, *paths: Path, **more: Any) -> ImportOutcome: ...


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def import_(study: Path, run: Path) -> Import:
    def imported(tool: str, *paths: Path, **more: Any) -> ImportOutcome:
        return import_files(Request(tool, paths, study, run, **more))

    return imported


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A directory with two copies of a real YCSB result for each condition."""
    directory = tmp_path / "results"
    directory.mkdir()
    text = (DATA / "ycsb-cassandra-a-t.txt").read_text(encoding="utf-8")
    for name in names("bare", "docker"):
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def names(*platforms: str) -> Sequence[str]:
    return [f"{p}_{t}_{r}.txt" for p in platforms for t in ("16", "many") for r in (1, 2)]
