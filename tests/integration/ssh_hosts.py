"""Hosts of our own to log in to: network namespaces on a bridge, each with an sshd of its own.

The bridge is in a namespace too, without rules of this machine's firewall between them.
Each has processes, mounts and a name of its own too, so that killing its first process kills the
host. The kernel is shared: /proc/stat, control groups and the clock are those of this machine.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import psutil
import pytest

BRIDGE = "tare-ssh"
SWITCH = f"{BRIDGE}-switch"
_PREFIX = "10.221.0"
_WITHIN_S = 20.0
LISTENER = "[listener]"
"""in the command line of the sshd that takes connections, but not of its sessions' sshd"""
_ENGINE_S = 60.0

_SSHD = """\
Port 22
ListenAddress {address}
HostKey {directory}/host_key
AuthorizedKeysFile {authorized}
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UseDNS no
"""
# Its own /run and /var/tmp: nothing of this machine's is seen there, its Docker socket least.
# What it sees of the kernel may be another's: files that are laid over /proc and /sys.
# As an init does, the shell begins an sshd anew that has died, unless it is told not to.
_BOOT = """\
hostname "$1" && mount -t tmpfs tmpfs /run && mkdir /run/sshd && mount --bind "$2" /var/tmp || exit
cd "$5" && find . -type f | while read -r one; do mount --bind "$one" "/$one" || exit; done
cd /
while :; do
  [ -e "$4" ] || /usr/sbin/sshd -D -e -f "$3"
  sleep 0.2
done
"""
_CUTS = {
    "link down": (("down",), ("up",)),
    "packets dropped": (("nomaster",), ("master", "bridge")),
}
"""Settings at the other end of a host's cable that cut the host off and join it again."""
CUTS = tuple(_CUTS)


@dataclass
class SshHost:
    """One running host."""

    name: str
    address: str
    directory: Path
    process: subprocess.Popen[bytes]

    @property
    def files(self) -> Path:
        """The host's /var/tmp as this machine sees it."""
        return self.directory / "var-tmp"

    @property
    def inside(self) -> list[str]:
        """Prefix of a command to run on the host."""
        words = ["pgrep", "-P", str(self.process.pid)]
        first = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[0]
        return ["nsenter", "-t", first, "--mount", "--uts", "--ipc", "--net", "--pid"]

    def start_engine(self, *, publishes: bool = False) -> None:
        """Start a Docker engine on the host, which ends with the host.

        Args:
            publishes: it makes the firewall's rules for published ports; else containers have the
                host's network alone.
        """
        home = self.directory / "docker"
        with (self.directory / "dockerd.log").open("ab") as log:
            subprocess.Popen(
                [
                    *(*self.inside, "dockerd", "--data-root", str(home), "--exec-root"),
                    *("/run/docker", "--pidfile", "/run/docker.pid", "--bridge", "none"),
                    f"--iptables={str(publishes).lower()}",
                    *("--cgroup-parent", f"/{BRIDGE}-hosts/{self.name}"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + _ENGINE_S
        ask = [*self.inside, "docker", "info"]
        while subprocess.run(ask, capture_output=True, check=False).returncode != 0:
            text = (self.directory / "dockerd.log").read_text(encoding="utf-8", errors="replace")
            assert time.monotonic() < deadline, text
            time.sleep(0.3)

    def processes(self) -> list[psutil.Process]:
        """All processes on the host, identified by its network."""
        own = Path(f"/run/netns/{BRIDGE}-{self.name}").stat().st_ino
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{process.pid}/ns/net").stat().st_ino == own:
                    found.append(process)
        return found

    @contextlib.contextmanager
    def cut_off(self, how: str) -> Iterator[None]:
        """Stop all packets to and from the host, silently; `how` is one of `CUTS`."""
        out, back = _CUTS[how]
        _ip("-n", SWITCH, "link", "set", _link(self.name), *out)
        try:
            yield
        finally:
            _ip("-n", SWITCH, "link", "set", _link(self.name), *back)

    @contextlib.contextmanager
    def without_sshd(self) -> Iterator[None]:
        """Kill the host's SSH server; its open sessions go on."""
        self._no_sshd.touch()
        try:
            for process in self.processes():
                with contextlib.suppress(psutil.Error):
                    if LISTENER in " ".join(process.cmdline()):
                        process.kill()
            yield
        finally:
            self._no_sshd.unlink()
            self.await_answer()

    @property
    def _no_sshd(self) -> Path:
        """While this file exists, the host's init starts no sshd."""
        return self.directory / "no-sshd"

    def await_answer(self) -> None:
        """Wait until the host's SSH server takes connections."""
        deadline = time.monotonic() + _WITHIN_S
        while True:
            with contextlib.suppress(OSError), socket.create_connection((self.address, 22), 1.0):
                return
            log = (self.directory / "sshd.log").read_text(encoding="utf-8", errors="replace")
            assert self.process.poll() is None, log
            assert time.monotonic() < deadline, f"sshd of {self.name} does not answer: {log}"
            time.sleep(0.05)

    def vanish(self) -> None:
        """Pull the host's cable, then its plug: no peer learns that its connections are gone."""
        _ip("-n", SWITCH, "link", "set", _link(self.name), "down")
        self.kill()

    def kill(self) -> None:
        """Kill everything that runs on the host."""
        self.process.kill()
        self.process.wait()


@dataclass
class SshHosts:
    """Hosts on one bridge, and the key that opens them."""

    root: Path
    hosts: dict[str, SshHost] = field(default_factory=dict)

    @property
    def key(self) -> Path:
        return self.root / "key"

    @property
    def known_hosts(self) -> Path:
        return self.root / "known_hosts"

    def boot(self, name: str, sees: Mapping[str, str] = MappingProxyType({})) -> SshHost:
        """Start a host, or restart a killed one with its disk unchanged.

        Args:
            sees: at its first start, path of a file of /proc or /sys to what it has there for good.
        """
        number = list(self.hosts).index(name) if name in self.hosts else len(self.hosts)
        address = f"{_PREFIX}.{10 + number}"
        directory = self.root / name
        if name not in self.hosts:
            (directory / "var-tmp").mkdir(parents=True)
            (directory / "sees").mkdir()
            for path, text in sees.items():
                laid = directory / "sees" / path.lstrip("/")
                laid.parent.mkdir(parents=True, exist_ok=True)
                laid.write_text(text, encoding="utf-8")
            _keygen(directory / "host_key")
            public = (directory / "host_key.pub").read_text(encoding="ascii").split()
            with self.known_hosts.open("a", encoding="ascii") as known:
                known.write(f"{address} {public[0]} {public[1]}\n")
        _network(name, address)
        config = directory / "sshd_config"
        text = _SSHD.format(address=address, directory=directory, authorized=f"{self.key}.pub")
        config.write_text(text, encoding="ascii")
        with (directory / "sshd.log").open("ab") as log:
            process = subprocess.Popen(
                [
                    *("nsenter", f"--net=/run/netns/{BRIDGE}-{name}"),
                    *("unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--mount-proc"),
                    *("--kill-child=KILL", "sh", "-c", _BOOT, "sh", name),
                    *(str(directory / "var-tmp"), str(config), str(directory / "no-sshd")),
                    str(directory / "sees"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        host = self.hosts[name] = SshHost(name, address, directory, process)
        host.await_answer()
        return host

    def inventory(self, **groups: list[str]) -> Path:
        """An inventory of Ansible's in which the named groups hold the named hosts."""
        lines = []
        for group, names in groups.items():
            lines.append(f"[{group}]")
            lines += [f"{name} ansible_host={self.hosts[name].address}" for name in names]
        lines += [
            "[all:vars]",
            "ansible_user=root",
            f"ansible_ssh_private_key_file={self.key}",
            f'ansible_ssh_common_args="-o UserKnownHostsFile={self.known_hosts}"',
        ]
        path = self.root / "inventory.ini"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    @contextlib.contextmanager
    def named(self, **groups: list[str]) -> Iterator[None]:
        """Start all hosts, and name the inventory of these groups in the environment."""
        for host in list(self.hosts.values()):
            if host.process.poll() is not None:
                self.boot(host.name)
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("TARE_INVENTORY", str(self.inventory(**groups)))
            yield

    def close(self) -> None:
        for host in self.hosts.values():
            host.kill()
            _gone(f"{BRIDGE}-{host.name}")
        _gone(SWITCH)


def why_not() -> str | None:
    """Why no such hosts can be made here; None if they can."""
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    for program, package in (("sshd", "openssh-server"), ("ssh", "openssh-client")):
        if shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
            return f"no {program}: setup/ssh.sh installs {package}"
    return None


@contextlib.contextmanager
def ssh_hosts(
    *names: str, sees: Mapping[str, Mapping[str, str]] = MappingProxyType({})
) -> Iterator[SshHosts]:
    """Hosts with these names, all ended afterwards in any case.

    Args:
        sees: name of a host to what it sees of its kernel (`boot`).
    """
    root = Path(tempfile.mkdtemp(prefix="tare-ssh-hosts-", dir="/var/lib"))
    made = SshHosts(root)
    try:
        _keygen(made.key)
        _bridge()
        for name in names:
            made.boot(name, sees.get(name, {}))
        yield made
    finally:
        made.close()
        shutil.rmtree(root, ignore_errors=True)


@contextlib.contextmanager
def needed_by(
    test: str, *names: str, sees: Mapping[str, Mapping[str, str]] = MappingProxyType({})
) -> Iterator[SshHosts]:
    """Such hosts; if none can be made, the test is skipped with the reason.

    Args:
        test: its file in this directory, for the command that runs it then.
    """
    if reason := why_not():
        pytest.skip(f"{reason}; then pytest tests/integration/{test}")
    with ssh_hosts(*names, sees=sees) as made:
        yield made


def _bridge() -> None:
    """A bridge, with this machine at one of its ports."""
    _gone(SWITCH)
    # a device goes with its namespace, but some time after it
    subprocess.run(["ip", "link", "del", BRIDGE], check=False, capture_output=True)
    _ip("netns", "add", SWITCH)
    _ip("-n", SWITCH, "link", "add", "bridge", "type", "bridge")
    _ip("-n", SWITCH, "link", "set", "bridge", "up")
    _ip("link", "add", BRIDGE, "type", "veth", "peer", "name", "here", "netns", SWITCH)
    _ip("-n", SWITCH, "link", "set", "here", "master", "bridge", "up")
    _ip("addr", "add", f"{_PREFIX}.1/24", "dev", BRIDGE)
    _ip("link", "set", BRIDGE, "up")


def _gone(space: str) -> None:
    """Remove a namespace with its devices, if it exists."""
    subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)


def _network(name: str, address: str) -> None:
    space = f"{BRIDGE}-{name}"
    _gone(space)
    subprocess.run(
        ["ip", "-n", SWITCH, "link", "del", _link(name)], check=False, capture_output=True
    )
    _ip("netns", "add", space)
    # one address for life, as a card has: others remember it
    card = "02:00:" + ":".join(f"{int(part):02x}" for part in address.split("."))
    cable = ("type", "veth", "peer", "name", "eth0", "address", card, "netns", space)
    _ip("-n", SWITCH, "link", "add", _link(name), *cable)
    _ip("-n", SWITCH, "link", "set", _link(name), "master", "bridge", "up")
    _ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
    for device in ("lo", "eth0"):
        _ip("-n", space, "link", "set", device, "up")


def _link(name: str) -> str:
    """The host's end of its cable; the kernel keeps 15 characters."""
    return f"ts-{name}"[:15]


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def _keygen(path: Path) -> None:
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "tare", "-f", str(path)]
    subprocess.run(words, check=True, capture_output=True)
