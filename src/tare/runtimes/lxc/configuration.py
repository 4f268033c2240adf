"""A container's configuration, as lxc.container.conf(5) has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.runtimes.lxc import groups
from tare.runtimes.open_files import open_files
from tare.runtimes.slug import slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tare.machines.cgroups import LimitValues
    from tare.runtimes.lxc.bridge import Bridge

COMMON = Path("/usr/share/lxc/config/common.conf")
"""what LXC's own templates give every container: capabilities, devices, seccomp filter, mounts"""
_LONGEST_NAME = 63
"""characters of a host's name"""
_HOOKS = ("pre-start", "pre-mount", "mount", "autodev", "start-host", "start")
"""Programs that LXC runs while a container starts, as lxcfs has them added. An empty value removes
them: they would be taken for the unit, and show files that no other platform has."""
_NET = "lxc.net.0"
_MADE = "create=dir"

Line = tuple[str, str]


def container(
    run: str, unit: str, home: Path, limits: LimitValues, network: Iterable[Line]
) -> list[Line]:
    """A container that shows the machine's files, and writes only where its unit does.

    Args:
        run: the run's name.
        unit: the unit's, unique within the run.
        home: the unit's directory, in which it begins.
        limits: what it may use.
        network: how it is attached, from the functions below.
    """
    shown = [
        # the machine's, as for any process: what a unit runs from may lie below it
        _mount("/tmp", "/tmp", "none", "bind"),  # noqa: S108
        _mount(str(home), str(home), "none", "bind"),
        _mount("tmpfs", "/dev/shm", "tmpfs", f"nosuid,nodev,{_MADE}"),  # noqa: S108
        _mount(str(hosts_of(home)), "/etc/hosts", "none", "bind,ro,optional"),
    ]
    return [
        ("lxc.include", str(COMMON)),
        *((f"lxc.hook.{one}", "") for one in _HOOKS),
        ("lxc.uts.name", host_name(unit)),
        ("lxc.rootfs.path", "dir:/"),
        ("lxc.rootfs.options", "ro"),
        # LXC leaves it to an init such as systemd; without it a JVM does not see its limits
        ("lxc.mount.auto", "cgroup:mixed:force"),
        *(("lxc.mount.entry", one) for one in shown),
        ("lxc.prlimit.nofile", str(open_files())),
        *groups.settings(run, unit, limits),
        *network,
    ]


def on_host() -> list[Line]:
    """In the machine's network namespace."""
    return [(f"{_NET}.type", "none")]


def on_bridge(bridge: Bridge, address: str) -> list[Line]:
    """In a network namespace of its own, by a veth pair."""
    return [
        (f"{_NET}.type", "veth"),
        (f"{_NET}.link", bridge.name),
        (f"{_NET}.name", "eth0"),
        (f"{_NET}.flags", "up"),
        (f"{_NET}.ipv4.address", f"{address}/{bridge.network.prefixlen}"),
        (f"{_NET}.ipv4.gateway", str(bridge.gateway)),
    ]


def in_namespace(path: str) -> list[Line]:
    """In this network namespace, which is there."""
    return [("lxc.namespace.share.net", path)]


def alone() -> list[Line]:
    """In a network namespace that has a loopback and nothing else."""
    return [(f"{_NET}.type", "empty")]


def written(lines: Sequence[Line]) -> str:
    """The file's text.

    Raises:
        RuntimeUnavailableError: a value, such as a path, has a line break.
    """
    for key, value in lines:
        if "\n" in value:
            raise RuntimeUnavailableError(
                "LXC could not start a container",
                where=key,
                why=f"there is a line break in {value!r}",
                remedy="keep runs in a directory without one (--runs)",
            )
    return "".join(f"{key} = {value}\n" for key, value in lines)


def host_name(unit: str) -> str:
    """The name of the host that a container is to its processes."""
    return slug(unit, _LONGEST_NAME)


def hosts_of(home: Path) -> Path:
    """The file that a container has as /etc/hosts.

    A Java server looks up the name of its host, which no server of names knows.
    """
    return home / "hosts"


def hosts(unit: str, address: str, machine: Path = Path("/etc/hosts")) -> str:
    """The text of that file: the machine's, and the container itself."""
    own = machine.read_text(encoding="utf-8") if machine.exists() else "127.0.0.1 localhost\n"
    return f"{own.rstrip()}\n{address or '127.0.1.1'} {host_name(unit)}\n"


def _mount(source: str, target: str, kind: str, options: str) -> str:
    """A line of fstab(5); the target is relative to the container's root."""
    return f"{_escaped(source)} {_escaped(target.lstrip('/'))} {kind} {options} 0 0"


def _escaped(path: str) -> str:
    return "".join(f"\\{ord(one):03o}" if one in " \t\n\\" else one for one in path)
