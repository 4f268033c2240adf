"""go-ycsb, built with the go command from the modules that go-ycsb/go.mod and go.sum pin."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts.program import find_program, run_to_end
from tare.artifacts.tools.cache import Tool, kept
from tare.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = "1.0.1"
_SOURCE = Path(__file__).parent / "go-ycsb"
_PACKAGE = "github.com/pingcap/go-ycsb/cmd/go-ycsb"
_BUILD_SECONDS = 3600


def fetch(say: Callable[[str], None]) -> Tool:
    """The program, built once and verified on every call.

    Raises:
        ArtifactError: it cannot be built, or was altered.
        RuntimeUnavailableError: there is no go command.
    """
    name = f"go-ycsb-{VERSION}"
    root, digest = kept(name, None, partial(_build, say=say))
    return Tool("go-ycsb", VERSION, root, (str(root / "go-ycsb"),), digest)


def _build(root: Path, say: Callable[[str], None]) -> None:
    remedy = "install Go 1.21 or later, or leave go-ycsb out of --tools"
    go = find_program("go", "go-ycsb is built from its Go module", remedy)
    say(f"building go-ycsb {VERSION} with go: some five minutes")
    module = root / "module"
    shutil.copytree(_SOURCE, module)
    command = [go, "build", "-mod=mod", "-o", str(root / "go-ycsb"), _PACKAGE]
    ended = run_to_end(command, _BUILD_SECONDS, cwd=module, env=os.environ | {"GOFLAGS": ""})
    shutil.rmtree(module)
    if not ended.ok:
        raise ArtifactError(
            "go could not build go-ycsb",
            why=ended.last(5),
            remedy="check the network and go env GOPROXY, then run the same again",
        )
