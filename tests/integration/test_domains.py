"""Virtual machines that Tare makes, for real: one boots, stands still, is lost and comes back; a
study of three conditions is killed in the middle and goes on.

Skipped where something is missing for them, with the command that gets it. Where KVM does not work
they are emulated: booting takes half a minute then.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.kvm import image, networks
from tare.machines.kvm.bridge import BRIDGE
from tare.machines.kvm.kinds import TCG
from tare.machines.kvm.made import MadeDomains, domains_for
from tare.machines.kvm.missing import missing
from tare.machines.ssh import Connection, HostError
from tare.study.domains import Domains
from tare.study.platform import Domain
from tare.study.quantities import MIB

from .conftest import Bench
from .test_studies_on_hosts import left

pytestmark = pytest.mark.engine

STUDY = """\
study: inside
question: What does a virtual machine cost?
database: {kind: mongodb, stand_in: true, version: "7.0.14", nodes: 1, replication_factor: 1}
platform: {limits: {cpuset: "0", memory: 256MiB}}
load: {records: 200, threads: 2, warmup: 500ms, measure: 3s}
factors:
  platform:
    native: {}
    vm: {platform.machines: kvm}
    docker-in-vm: {platform: {machines: kvm, runtime: docker, storage: volume}}
baseline: {platform: native}
design: {slice: off, deployments: 1, blocks: 2, fresh: deployment, reset: keep,
         warm: {at_least: 500ms, at_most: 1s, window: 250ms}}
margins: {throughput: 5%}
"""
DOMAIN = "kvm-on0-256MiB-1"
"""of the study"""


@pytest.fixture(autouse=True)
def able(request: pytest.FixtureRequest) -> None:
    gone = missing()
    if gone is not None:
        pytest.skip(f"{gone.why}; {gone.remedy}, then pytest tests/integration/test_domains.py")
    if request.node.get_closest_marker("long") is None and image.kept() is None:
        pytest.skip(
            "the image of virtual machines is not made yet, which takes some minutes; "
            "pytest -m long tests/integration/test_domains.py makes it"
        )


OTHERWISE = Domain(cache="writeback", format="raw", network="macvtap")


@pytest.fixture(params=[Domain(), OTHERWISE], ids=["as usual", "raw and macvtap"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MadeDomains]:
    wanted = [Domains("kvm", 1, 1, "0", 384 * MIB, False, request.param, "kvm")]
    domains = domains_for("test-domains", wanted, print, tmp_path)
    try:
        domains.start(print)
        yield domains
    finally:
        domains.close()
        assert networks.left() == []
        assert list((tmp_path / "domains").iterdir()) == []


def test_a_domain_boots_stands_still_is_lost_and_comes_back(made: MadeDomains) -> None:
    (domain,) = made.machines.values()
    connection = Connection(domain.host)
    connection.wake = domain.resume
    try:
        assert connection.check("hostname") == "kvm-1"
        assert connection.check("getconf", "_NPROCESSORS_ONLN") == "1"
        assert domain.process is not None
        assert domain.process.cpu_affinity() == [0]
        connection.check("/bin/sh", "-c", "echo kept >/root/kept; sync")

        domain.suspend()
        before = domain.process.cpu_times()
        time.sleep(2.0)
        after = domain.process.cpu_times()
        assert after.user + after.system == before.user + before.system, "all of it stands still"
        assert connection.check("cat", "/root/kept") == "kept", "who asks lets it go on"

        os.kill(domain.process.pid, signal.SIGKILL)
        networks.remove()
        with pytest.raises(HostError):
            connection.check("true", within_s=3.0)
        assert not domain.alive()
        connection.forget()
        domain.restart()
        assert networks.left() == [domain.network.owned], "which it was lost with"
        assert connection.check("cat", "/root/kept") == "kept"
    finally:
        connection.close()


def test_what_does_not_boot_is_told_with_its_last_words(tmp_path: Path) -> None:
    wanted = [Domains("kvm", 1, 1, "", 64 * MIB, False, Domain(), "kvm")]
    domains = domains_for("test-domains", wanted, print, tmp_path)
    with pytest.raises(RuntimeUnavailableError) as told:
        try:
            domains.start(print)
        finally:
            domains.close()
    assert "does not boot" in str(told.value)
    assert networks.left() == []


def emulators() -> list[int]:
    """Processes that are a domain of the study's."""
    return [
        one.pid
        for one in psutil.process_iter(["cmdline"])
        if f"tare-{DOMAIN}" in (one.info["cmdline"] or [])
    ]


@pytest.mark.long
def test_a_study_in_a_virtual_machine_is_killed_and_goes_on(bench: Bench) -> None:
    study = bench.root / "inside.yaml"
    study.write_text(STUDY, encoding="utf-8")
    process = bench.start("run", study)
    bench.await_event(process, "trial done", run="inside")
    process.kill()
    process.wait()
    words = " ".join(left(bench))
    assert BRIDGE in words
    assert "processes" in words
    assert emulators() != []
    bench.cleaned()
    assert left(bench) == []
    assert emulators() == []

    again = bench.measured("run", study, timeout=500)
    found = bench.manifests("inside")
    assert {one["status"] for one in found.values()} == {"done"}, again.stdout
    inside = [one for one in found.values() if one["condition"] != "native"]
    (accelerator,) = {one["path"]["hosts"][DOMAIN]["domain"]["accelerator"] for one in inside}
    told = json.loads((bench.root / "runs/inside/analysis.json").read_text("utf-8"))
    page = (bench.root / "runs/inside/report.html").read_text("utf-8")
    emulated = accelerator == TCG
    assert told.get("emulated", []) == (["docker-in-vm", "vm"] if emulated else [])
    assert ("vm (emulated)" in page) == emulated
    assert told["valid"] is not emulated
    assert left(bench) == []
