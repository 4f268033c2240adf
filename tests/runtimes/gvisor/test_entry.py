"""Why gVisor cannot run: the engine's entry is missing, is another program, or cannot boot."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.gvisor.entry import platform_of, usable
from tare.runtimes.registry import declared

from .conftest import Engine

PLAIN = {"path": "RUNSC"}
KVM = {"path": "RUNSC", "runtimeArgs": ["--debug", "--platform=kvm"]}


def test_what_it_is_is_told_with_what_the_engine_starts(engine: Engine) -> None:
    program = engine(runsc=PLAIN, runsc_kvm=KVM)
    found = f"gVisor release-20260921.0, Docker's entry runsc: {program}"
    assert declared("gvisor").seen().says == found
    assert usable("runsc-kvm", "kvm").words == (
        f"gVisor release-20260921.0, Docker's entry runsc-kvm: {program} --debug --platform=kvm"
    )
    assert declared("gvisor").fault() is declared("gvisor-kvm").fault() is None


@pytest.mark.parametrize(
    ("runtime", "entries", "why", "remedy"),
    [
        ("gvisor", {}, "the Docker engine has no runtime runsc", "apt-get install runsc; add"),
        ("gvisor-kvm", {"runsc": PLAIN}, "has no runtime runsc-kvm", "--platform=kvm"),
        ("gvisor-ptrace", {"runsc_ptrace": PLAIN}, "does not have --platform=ptrace", "have it as"),
        (
            "gvisor-systrap",
            {"runsc_systrap": KVM},
            "does not have --platform=systrap",
            "have it as",
        ),
        ("gvisor", {"runsc": {"runtimeType": "io.containerd.runsc.v1"}}, "names a shim", '"path"'),
        ("gvisor", {"runsc": {"path": "/no/runsc"}}, "cannot be started", "apt-get install runsc"),
    ],
)
def test_what_the_engine_lacks_is_told_with_what_to_write(
    engine: Engine, runtime: str, entries: dict[str, Any], why: str, remedy: str
) -> None:
    engine(**entries)
    seen = declared(runtime).seen()
    assert not seen.ok
    assert why in seen.says
    assert remedy in seen.remedy
    assert why in (declared(runtime).fault() or "")


def test_what_is_to_be_written_is_json_that_the_engine_reads(engine: Engine) -> None:
    engine()
    remedy = declared("gvisor-systrap").seen().remedy
    written = re.search(r"add (.*) to \"runtimes\"", remedy)
    assert written is not None
    assert json.loads(f"{{{written[1]}}}") == {
        "runsc-systrap": {"path": "/usr/bin/runsc", "runtimeArgs": ["--platform=systrap"]}
    }


def test_an_entry_that_starts_something_else_is_no_gvisor(engine: Engine) -> None:
    engine(version="runc version 1.1.5", runsc=PLAIN)
    with pytest.raises(RuntimeUnavailableError, match="cannot be used") as refused:
        usable("runsc", "")
    assert "which is no runsc (runc version 1.1.5)" in refused.value.why


def test_a_sandbox_must_have_been_seen_to_run(engine: Engine) -> None:
    engine(does="echo some; echo opening /dev/kvm: no such device >&2; exit 128", runsc_kvm=KVM)
    with pytest.raises(RuntimeUnavailableError) as refused:
        usable("runsc-kvm", "kvm")
    assert refused.value.why.endswith("does not run here: opening /dev/kvm: no such device")
    assert "another platform" in refused.value.remedy


def test_the_sandbox_that_is_tried_has_the_entry_s_flags_and_a_network_of_its_own(
    engine: Engine, tmp_path: Path
) -> None:
    copy = (
        f'for one; do case $one in --bundle=*) cp "${{one#*=}}/config.json" {tmp_path};; esac; done'
    )
    engine(does=f'echo "$@" > {tmp_path}/asked; {copy}', runsc_kvm=KVM)
    usable("runsc-kvm", "kvm")
    asked = (tmp_path / "asked").read_text().split()
    assert asked[:3] == ["--debug", "--platform=kvm", "--ignore-cgroups"]
    assert asked[-3] == "run"
    tried = json.loads((tmp_path / "config.json").read_text())
    assert {"type": "network"} in tried["linux"]["namespaces"]


@pytest.mark.parametrize(
    ("flags", "platform"),
    [
        ((), ""),
        (("--platform=kvm",), "kvm"),
        (("-platform=ptrace", "--debug"), "ptrace"),
        (("--platform=kvm", "--platform=systrap"), "systrap"),
        (("platform=kvm",), ""),
    ],
)
def test_the_platform_is_the_last_that_flags_name(flags: tuple[str, ...], platform: str) -> None:
    assert platform_of(flags) == platform
