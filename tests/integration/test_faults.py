"""A short campaign of faults on real studies; `python -m bench.faults` is the long one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration import ssh_hosts

pytestmark = pytest.mark.engine

FAULTS = "6"
HERE = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "where", [(), pytest.param(("--hosts",), marks=pytest.mark.long)], ids=["here", "on hosts"]
)
def test_a_few_faults_break_no_promise(tmp_path: Path, where: tuple[str, ...]) -> None:
    if where and (reason := ssh_hosts.why_not()):
        pytest.skip(f"{reason}; then pytest tests/integration/test_faults.py")
    out = tmp_path / "told.json"
    command = [sys.executable, "-m", "bench.faults", "--seed", "5", "--instants", FAULTS, *where]
    done = subprocess.run(
        [*command, "--out", str(out)], cwd=HERE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["instants"] >= int(FAULTS)
    assert told["findings"] == []
