"""One virtual machine: its files, its key, and its life from boot to end."""

from __future__ import annotations

import io
import signal
import socket
import subprocess
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.machines.inventory.host import Host
from tare.machines.kvm import qemu, recipe
from tare.machines.kvm.kinds import KVM, TCG
from tare.machines.kvm.networks import NETWORKS
from tare.runtimes.registry import CONTAINER

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psutil

    from tare.machines.kvm.image import Image
    from tare.machines.kvm.network import Network
    from tare.machines.kvm.qemu import Shape
    from tare.machines.kvm.works import Works

UP_S = {KVM: 60.0, TCG: 300.0}
"""longest wait for its SSH server"""
_SSHD = """\
Port 22
HostKey /run/tare/host_key
AuthorizedKeysFile /run/tare/authorized_keys
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UseDNS no
MaxSessions 100
"""


@dataclass
class Domain:
    """A domain of a run.

    Attributes:
        name: also the host's.
        group: of hosts, that a study's conditions name.
        number: decides its address.
        shape: its size.
        engine: whether it runs an engine for containers.
        directory: of its files, which are removed with the run.
        image: what it boots.
        works: the kind of its processor.
        labels: environment of its process, by which it is found when a run is killed.
    """

    name: str
    group: str
    number: int
    shape: Shape
    engine: bool
    directory: Path
    image: Image
    works: Works
    labels: Mapping[str, str] = field(default_factory=dict)
    process: psutil.Process | None = None
    starts: int = 0
    suspended: bool = False

    @property
    def network(self) -> Network:
        """The network that it is on."""
        return NETWORKS[self.shape.network]

    @property
    def host(self) -> Host:
        """The machine as others reach it."""
        return Host(
            name=self.name,
            address=str(self.network.address(self.number)),
            user="root",
            key=self.directory / "key",
            known_hosts=self.directory / "known_hosts",
            groups=frozenset({self.group}),
            made=True,
        )

    @property
    def emulated(self) -> bool:
        """Its processor is QEMU's."""
        return self.works.accelerator == TCG

    @property
    def confined(self) -> bool:
        """Its CPUs are those of the limits, pinned to this machine's."""
        return True

    def make(self) -> None:
        """Make its disk and its keys; it does not run yet.

        Raises:
            RuntimeUnavailableError: they cannot be made.
        """
        self.directory.mkdir(parents=True, mode=0o700)
        qemu.disk(self.image.disk, self._disk, self.shape)
        for name in ("key", "host_key"):
            _keygen(self.directory / name)
        public = (self.directory / "host_key.pub").read_text(encoding="ascii").split()
        known = f"{self.host.address} {public[0]} {public[1]}\n"
        (self.directory / "known_hosts").write_text(known, encoding="ascii")
        self._seed()

    def start(self) -> None:
        """Start it, and come back before it has booted.

        Raises:
            RuntimeUnavailableError: QEMU does not start.
        """
        root = "root=/dev/vda rw rootfstype=ext4 rootflags=noatime,noinit_itable"
        append = f"net.ifnames=0 {root} init={recipe.INIT_AT}"
        shape = self.shape
        words = qemu.command(self.image, self.works.accelerator, shape.cpus, shape.memory, append)
        disk = f"file={self._disk},format={shape.format},cache={shape.cache},if=none,id=disk"
        seed = f"file={self.directory / 'seed.tar'},format=raw,readonly=on,if=none,id=seed"
        vhost = Path("/dev/vhost-net").exists() and self.works.accelerator == KVM
        self.starts, self.suspended = self.starts + 1, False
        with self.network.card(self.number, self._card, self.directory) as card:
            self.process = qemu.start(
                [
                    *words,
                    *("-name", f"tare-{self.name}", "-serial", f"file:{self._console}"),
                    *("-drive", disk, "-device", "virtio-blk-pci,drive=disk"),
                    *("-drive", seed, "-device", "virtio-blk-pci,drive=seed"),
                    *("-netdev", card.netdev + (",vhost=on" if vhost else "")),
                    *("-device", f"virtio-net-pci,netdev=net,mac={self._card}"),
                ],
                shape.cpuset,
                self.directory / "pid",
                self.labels,
                card.open_files,
            )

    def restart(self) -> None:
        """Start it again with the disk that it has, on its network, which may be gone too.

        Raises:
            RuntimeUnavailableError: it does not boot.
        """
        self.end()
        self.network.mend()
        self.start()
        self.await_up()

    def await_up(self) -> None:
        """Wait until its SSH server answers.

        Raises:
            RuntimeUnavailableError: it does not answer; with the last lines of its console.
        """
        within = UP_S[self.works.accelerator]
        deadline = time.monotonic() + within
        while True:
            gone = not qemu.alive(self.process)
            if not gone and self._answers():
                return
            if gone or time.monotonic() > deadline:
                raise RuntimeUnavailableError(
                    f"the virtual machine {self.name} does not boot",
                    where=str(self._console),
                    why=f"{'QEMU has ended' if gone else f'no SSH server within {within:.0f} s'}"
                    f"; its console ends: {self._last_words()}",
                    remedy="tare doctor; give it more memory (platform.limits.memory); then the "
                    "same command again",
                )
            time.sleep(0.1)

    def _answers(self) -> bool:
        """Whether its SSH server does."""
        try:
            with socket.create_connection((self.host.address, 22), 2.0) as server:
                server.settimeout(5.0)
                return server.recv(4).startswith(b"SSH")
        except OSError:
            return False

    def alive(self) -> bool:
        """Whether its process is there."""
        return qemu.alive(self.process)

    def suspend(self) -> None:
        """Let all of it stand still."""
        if self.process is not None and not self.suspended:
            qemu.signalled(self.process, signal.SIGSTOP)
            self.suspended = True

    def resume(self) -> None:
        """Let it go on."""
        if self.process is not None and self.suspended:
            qemu.signalled(self.process, signal.SIGCONT)
            self.suspended = False

    def end(self) -> None:
        """End it at once.

        Raises:
            RuntimeUnavailableError: it does not end.
        """
        if self.process is not None:
            qemu.end(self.process)

    def as_dict(self) -> dict[str, object]:
        """What the records keep of it."""
        return {
            "accelerator": self.works.accelerator,
            "why_no_kvm": self.works.why_not,
            "qemu": self.works.qemu,
            "image": self.image.digest,
            "processor": qemu.PROCESSORS[self.works.accelerator],
            "cpus": self.shape.cpus,
            "cpuset": self.shape.cpuset,
            "memory": self.shape.memory,
            "disk_cache": self.shape.cache,
            "disk_format": self.shape.format,
            "network": self.shape.network,
            "starts": self.starts,
        }

    @property
    def _disk(self) -> Path:
        return self.directory / f"disk.{self.shape.format}"

    @property
    def _console(self) -> Path:
        return self.directory / "console.log"

    @property
    def _card(self) -> str:
        """Address of its network device: one for life, as others remember it."""
        parts = self.host.address.split(".")
        return "02:00:" + ":".join(f"{int(part):02x}" for part in parts)

    def _last_words(self) -> str:
        try:
            text = self._console.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return "it said nothing"
        lines = [one.strip() for one in text.splitlines() if one.strip()]
        return " / ".join(lines[-3:]) or "it said nothing"

    def _seed(self) -> None:
        """What it is told at its boot, as a tar archive on its second disk."""
        told = {
            "name": self.name,
            "address": f"{self.host.address}/{self.network.addresses.prefixlen}",
            "host_key": (self.directory / "host_key").read_text(encoding="ascii"),
            "authorized_keys": (self.directory / "key.pub").read_text(encoding="ascii"),
            "sshd_config": _SSHD,
        }
        if self.engine:
            told[CONTAINER] = ""
        at = self.directory / "seed.tar"
        at.touch(mode=0o600)
        with tarfile.open(at, "w") as archive:
            for name, text in told.items():
                one = tarfile.TarInfo(name)
                one.size, one.mode = len(text.encode()), 0o600
                archive.addfile(one, io.BytesIO(text.encode()))


def _keygen(path: Path) -> None:
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "tare", "-f", str(path)]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeUnavailableError(
            "no key for a virtual machine",
            why=str(error),
            remedy="apt-get install openssh-client",
        ) from error
