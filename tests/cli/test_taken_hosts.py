"""What a plan says of virtual machines that it will make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.cli.taken_hosts import made_domains
from tare.machines.registry import declared
from tare.study.plan import make_plan
from tare.study.schema import Study

if TYPE_CHECKING:
    import pytest

    from tare.study.plan import Plan


def plan(**levels: Any) -> Plan:
    study = {
        "study": "pair",
        "platform": {"limits": {"cpuset": "0", "memory": "1GiB"}},
        "factors": {"platform": {"native": {}, **levels}},
        "baseline": {"platform": "native"},
        "design": {"slice": "off", "fresh": "block"},
    }
    return make_plan(Study.model_validate(study))


def seen(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """What was found about virtual machines here."""
    monkeypatch.setattr(declared("kvm"), "seen_to_be", lambda: what)


VM = {"platform": {"machines": "kvm"}}
DOCKER = {"platform": {"machines": "kvm", "runtime": "docker", "storage": "volume"}}


def test_a_plan_without_any_says_nothing() -> None:
    assert made_domains(plan(again={})) == []


def test_how_many_how_large_and_that_they_are_emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    seen(monkeypatch, "emulated by QEMU: KVM does not work here (x)")
    lines = made_domains(plan(vm=VM, docker=DOCKER))
    assert lines[0].endswith("emulated by QEMU: KVM does not work here (x)")
    assert lines[1] == "  what is measured in them is QEMU's emulation, not KVM's cost"
    assert lines[2].endswith("expect more time than is told below")
    assert lines[3] == (
        "  kvm-on0-1024MiB: 1 domain, each 1 CPU on 0 of this machine, 1728 MiB of memory, "
        "disk qcow2, cache none, network bridge, with a Docker engine"
    )


def test_in_kvm_nothing_is_said_of_emulation(monkeypatch: pytest.MonkeyPatch) -> None:
    seen(monkeypatch, "KVM")
    assert not any("emul" in line for line in made_domains(plan(vm=VM)))


def test_before_it_was_tried_the_plan_says_that_it_will_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen(monkeypatch, "")
    assert "is tried when the run begins" in made_domains(plan(vm=VM))[0]
