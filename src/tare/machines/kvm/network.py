"""A network of domains: this machine's device on it, its owner, and the addresses of domains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tare.errors import RuntimeUnavailableError
from tare.machines import ip_command, neighbours
from tare.starter import mark, without_owner

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from ipaddress import IPv4Address, IPv4Network

DEVICES = "tare-vm"
"""prefix of the names of domains' network devices"""
SYSFS = Path("/sys/class/net")
ip = partial(
    ip_command.ip,
    remedy="run as root, and see that nothing else uses 198.19.254.0/23 (ip route); where the "
    "kernel has no macvtap, platform.domain.network: bridge",
)
MOST = 200
"""number of domains for which there are addresses"""
_FIRST = 10


@dataclass(frozen=True)
class Card:
    """A domain's network device, as QEMU is told of it.

    Attributes:
        netdev: QEMU's words for it.
        open_files: file descriptors that QEMU inherits.
    """

    netdev: str
    open_files: tuple[int, ...] = ()


class Network(ABC):
    """A network of domains on this machine.

    Attributes:
        name: as a study names it.
        device: this machine's own device on it, with the first address.
        owned: the device that carries its owner's mark, and with which all of it goes.
        addresses: of this machine and of domains, behind those of container networks.
    """

    name: ClassVar[str]
    device: ClassVar[str]
    owned: ClassVar[str]
    addresses: ClassVar[IPv4Network]

    def address(self, number: int) -> IPv4Address:
        """Of the domain of this number, from 0."""
        return self.addresses[_FIRST + number]

    def make(self) -> str:
        """Make it for this process; empty, or why neighbours are not kept from it.

        Raises:
            RuntimeUnavailableError: it cannot be made, or another live process has it.
        """
        self.remove()
        if self.there():
            raise RuntimeUnavailableError(
                f"no {self.name} for virtual machines",
                where=self.owned,
                why=f"another process of Tare's has it ({self._owner()})",
                remedy=f"wait for it; ip link del {self.owned} if it is none that runs",
            )
        try:
            self._build()
            ip("link", "set", self.owned, "alias", mark())
            ip("addr", "add", f"{self.addresses[1]}/{self.addresses.prefixlen}", "dev", self.device)
            ip("link", "set", self.device, "up")
        except RuntimeUnavailableError:
            self._delete()
            raise
        return neighbours.keep_out()

    def mend(self) -> None:
        """Make it again if it is gone.

        Raises:
            RuntimeUnavailableError: it cannot be made.
        """
        if not self.there():
            self.make()
            self._take_back()

    def remove(self) -> None:
        """Remove it, where it is there and no other process has it."""
        if self.left() or not self.there():
            self._delete()

    def _delete(self) -> None:
        ip("link", "del", self.owned, check=False)
        self._forget()

    def left(self) -> list[str]:
        """Its owned device, where that is there and no other process that runs has it."""
        owner = self._owner()
        return [self.owned] if self.there() and (not owner or without_owner(owner)) else []

    def there(self) -> bool:
        """Whether this machine has it."""
        return (SYSFS / self.owned).exists()

    @abstractmethod
    def card(self, number: int, hardware: str, directory: Path) -> AbstractContextManager[Card]:
        """The device of a domain, while QEMU is started with it.

        Args:
            number: of the domain.
            hardware: address of the guest's device.
            directory: of the domain's own files.

        Raises:
            RuntimeUnavailableError: it cannot be made.
        """

    @abstractmethod
    def _build(self) -> None:
        """Make its devices."""

    @abstractmethod
    def _take_back(self) -> None:
        """Attach domains that still run, where their devices outlive the network."""

    @abstractmethod
    def _forget(self) -> None:
        """Remove what its devices do not take with them."""

    def _owner(self) -> str:
        """The mark of the process that made it; empty: it was killed before it left one."""
        try:
            return (SYSFS / self.owned / "ifalias").read_text(encoding="utf-8").strip()
        except OSError:
            return ""


def device(number: int) -> str:
    """Name of the network device, on this machine, of the domain of this number."""
    return f"{DEVICES}{number}"
