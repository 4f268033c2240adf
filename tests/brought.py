"""Packages that bring a runtime or a kind of machines, for tests of their use."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True)
class Distribution:
    name: str


@dataclass(frozen=True)
class Point:
    """An entry point of an installed package, `tare-` and the entry point's name."""

    name: str
    load: Callable[[], Any]

    @property
    def value(self) -> str:
        return f"tare_{self.name}:DECLARED"

    @property
    def dist(self) -> Distribution:
        return Distribution(f"tare-{self.name}")


def found(monkeypatch: pytest.MonkeyPatch, registry: Any, *points: Point) -> list[str]:
    """A registry's names with these packages installed."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
    return list(registry.ALL.found())


STUDY = """\
study: namespaces
database: {nodes: 1, replication_factor: 1}
factors:
  platform:
    native: {}
    LEVEL
baseline: {platform: native}
design: DESIGN
"""


def install(page: str, group: str, name: str, level: str, where: Path, design: str = "{}") -> Path:
    """Lay down the package that a page of the documentation shows as pip does, and a study.

    Args:
        level: of the study's platform, beside native.
        design: of the study.

    Returns:
        `where`.
    """
    text = (DOCS / page).read_text("utf-8")
    python, toml = re.findall(r"```(?:python|toml)\n(.*?)```", text, re.DOTALL)
    (where / f"tare_{name}.py").write_text(python, encoding="utf-8")
    point = re.findall(rf"^{name} = \"(.*)\"$", toml, re.MULTILINE)[0]
    about = where / f"tare_{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tare-{name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {point}\n")
    study = STUDY.replace("LEVEL", level).replace("DESIGN", design)
    (where / "study.yaml").write_text(study, encoding="utf-8")
    return where


def told(installed: Path, script: str) -> Any:
    """The last line of a script, as JSON, in a Python that has the package."""
    path = os.pathsep.join([str(installed), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", f"import json\nfrom pathlib import Path\n{script}"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=installed,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
