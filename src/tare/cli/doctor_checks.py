"""Checks of `tare doctor`: what can run on this machine, and how to get the rest."""

from __future__ import annotations

import shutil
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from rich.text import Text

from tare.artifacts.binaries import find
from tare.cli import doctor_noise
from tare.cli.background_load import STOP_THEM
from tare.cli.console import Terminal, say_as_json
from tare.doctor_check import DoctorCheck
from tare.errors import TareError
from tare.machines import addresses, awake, cgroups, neighbours, page_cache
from tare.machines.facts import local_facts
from tare.machines.inventory.read import named_inventory
from tare.machines.registry import registered as kinds_of_machines
from tare.monitor.background_load import sample
from tare.runtimes.registry import BARE, registered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def _quiet() -> DoctorCheck:
    seen = sample()
    says = str(seen) if seen.disturb else f"{seen}: quiet"
    return DoctorCheck("quiet machine", not seen.disturb, says, STOP_THEM, needed=False)


def _noise() -> DoctorCheck:
    known, says = doctor_noise.kept_line()
    remedy = f"{doctor_noise.COMMAND}, a minute: `tare plan` then says how narrow intervals can be"
    return DoctorCheck("noise", known, says, remedy, needed=False)


def findings() -> list[DoctorCheck]:
    """Everything that decides what can run here."""
    machine = local_facts()
    claim = addresses.can_claim()
    exposed = neighbours.cannot()
    droppable = page_cache.can_drop()
    found = [
        DoctorCheck(
            "machine",
            True,
            f"{machine.cpus} CPUs, {machine.memory_available / 2**30:.1f} GiB of memory free, "
            f"{machine.disk_free / 2**30:.0f} GiB of disk free, kernel {machine.kernel}",
        ),
        *_runtimes(),
        _hosts(),
        *_made_machines(),
        _control_groups(),
        DoctorCheck(
            "host addresses",
            claim is None,
            claim or "can be added to lo (network: published goes through DNAT)",
            "run as root, else published ports go through docker-proxy on loopback",
            needed=False,
        ),
        DoctorCheck(
            "neighbours",
            exposed == "",
            exposed or "kept from the units of this machine while a run is alive",
            f"{neighbours.REMEDY}, else who is on this machine's network can reach published "
            "ports and containers",
            needed=False,
        ),
        DoctorCheck(
            "page cache",
            droppable,
            "can be dropped" if droppable else "cannot be dropped; trials say so",
            "run as root; in a container, with --security-opt systempaths=unconfined",
            needed=False,
        ),
        _idle_cpus(),
        _quiet(),
        _noise(),
        DoctorCheck(
            "maven",
            shutil.which("mvn") is not None,
            shutil.which("mvn") or "missing",
            "apt-get install maven (needed once, to fetch Cassandra's files)",
            needed=False,
        ),
    ]
    found += [_binary("tare-load"), _binary("tare-probe"), _binary("tare-pod")]
    found.append(replace(_binary("tare-stub"), needed=False))  # for noise and prices alone
    found.append(replace(_binary("tare-micro"), needed=False))
    return [*found, _program("javac", "default-jdk-headless", "ycsb, cassandra-stress"),
            _program("cargo", "cargo", "latte")]  # fmt: skip


def _control_groups() -> DoctorCheck:
    kind = cgroups.version()
    return DoctorCheck(
        "control groups",
        cgroups.can_be_made(),
        f"version {kind}" if kind else "none",
        "run as root, in a container with -v /sys/fs/cgroup:/sys/fs/cgroup: native units are then "
        "accounted, limited and paused as containers are",
        needed=False,
    )


def _idle_cpus() -> DoctorCheck:
    why_not = awake.why_not()
    return DoctorCheck(
        "idle CPUs",
        not why_not,
        why_not or "can be kept polling while a run measures (design.idle_cpus)",
        "run as root, on a kernel with a cpuidle driver, in a container with --device "
        f"{awake.LATENCY}; else they halt as usual, and runs say so",
        needed=False,
    )


def _runtimes() -> Iterator[DoctorCheck]:
    able = {""}
    for name, one in registered().items():
        seen = one.seen()
        if seen.ok:
            able.add(name)
        if seen.ok or one.variant_of in able:
            needed = name == BARE
            yield DoctorCheck(f"{name} runtime", seen.ok, seen.says, seen.remedy, needed=needed)


def _hosts() -> DoctorCheck:
    """The named hosts. They are contacted on request only, which may take seconds."""
    what, remedy = (
        "machines over SSH",
        "see docs/machines.md: name an inventory, Ansible's or Tare's, with TARE_INVENTORY",
    )
    try:
        found = named_inventory()
    except TareError as error:
        return DoctorCheck(what, False, f"{error.where}: {error.what}", error.remedy, needed=False)
    if found is None:
        return DoctorCheck(what, False, "no inventory is named", remedy, needed=False)
    says = (
        f"{found.source}: {len(found.nodes)} for nodes, {len(found.clients)} for load; "
        "`tare doctor --machines` asks them"
    )
    return DoctorCheck(what, True, says, needed=False)


def _made_machines() -> Iterator[DoctorCheck]:
    """Machines that Tare makes on this one, and whether their processor is emulated."""
    kinds = [one for one in kinds_of_machines().values() if one.made]
    for one in kinds:
        seen = one.seen()
        if seen is not None:
            what = (
                f"virtual machines ({one.title or one.name})" if kinds[1:] else "virtual machines"
            )
            yield DoctorCheck(what, seen.ok, seen.says, seen.remedy, needed=False)


def _program(name: str, package: str, tools: str) -> DoctorCheck:
    """A program needed to fetch or run another load generator (client.tool)."""
    there = shutil.which(name)
    remedy = f"apt-get install {package} (only for client.tool {tools})"
    return DoctorCheck(name, there is not None, there or "missing", remedy, needed=False)


def _binary(name: str) -> DoctorCheck:
    try:
        return DoctorCheck(name, True, str(find(name)))  # type: ignore[arg-type]  # the two literal names
    except TareError as error:
        return DoctorCheck(name, False, error.what, error.remedy)


def show(*, json: bool) -> bool:
    """Print the checks; returns whether everything required is there."""
    return all(one.ok for one in tell(findings(), json=json) if one.needed)


def tell(checks: Iterable[DoctorCheck], *, json: bool) -> list[DoctorCheck]:
    """Print each check when it is done, or all of them as JSON at the end."""
    found: list[DoctorCheck] = []
    console = Terminal()
    for one in checks:
        found.append(one)
        if not json:
            mark = Text("ok     ", "green") if one.ok else Text("missing", "red")
            console.print(mark, f" {one.what}: ", one.says, sep="")
            if one.remedy and not one.ok:
                console.print("        try: ", one.remedy, sep="")
    if json:
        say_as_json([asdict(one) for one in found])
    return found
