"""A virtual machine's files, and the words with which QEMU is started for it."""

from __future__ import annotations

import contextlib
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.kvm import qemu
from tare.machines.kvm.bridge import Bridge
from tare.machines.kvm.domain import Domain
from tare.machines.kvm.image import Image
from tare.machines.kvm.macvtap import Macvtap
from tare.machines.kvm.network import Card
from tare.machines.kvm.qemu import Shape
from tare.machines.kvm.works import Works

WORKS = Works("boot", "digest", "7.2", "a kernel hangs in it")


def domain(root: Path, number: int = 0, *, engine: bool = False) -> Domain:
    image = Image(root, "digest")
    image.disk.write_bytes(b"disk")
    shape = Shape(2, 2**30, "0-1", "writeback", "raw")
    name = f"kvm-{number + 1}"
    labels = {"TARE_RUN": "run"}
    return Domain(name, "kvm", number, shape, engine, root / name, image, WORKS, labels)


@pytest.fixture
def made(tmp_path: Path) -> Domain:
    one = domain(tmp_path)
    one.make()
    return one


def told(one: Domain) -> dict[str, str]:
    with tarfile.open(one.directory / "seed.tar") as archive:
        return {
            member.name: archive.extractfile(member).read().decode()  # type: ignore[union-attr]  # files
            for member in archive.getmembers()
        }


def test_it_is_told_its_name_its_address_and_its_keys(made: Domain) -> None:
    seed = told(made)
    assert seed["name"] == "kvm-1"
    assert seed["address"] == "198.19.255.10/24"
    assert seed["authorized_keys"] == (made.directory / "key.pub").read_text()
    assert seed["host_key"] == (made.directory / "host_key").read_text()
    assert "PasswordAuthentication no" in seed["sshd_config"]
    assert "docker" not in seed


def test_an_engine_is_asked_for_only_where_one_is_needed(tmp_path: Path) -> None:
    one = domain(tmp_path, engine=True)
    one.make()
    assert "docker" in told(one)


def test_nobody_else_reads_its_keys(made: Domain) -> None:
    assert made.directory.stat().st_mode & 0o077 == 0
    for name in ("key", "host_key", "seed.tar"):
        assert (made.directory / name).stat().st_mode & 0o077 == 0


def test_it_is_a_host_whose_key_is_known_beforehand(made: Domain) -> None:
    host = made.host
    public = (made.directory / "host_key.pub").read_text().split()[:2]
    assert host.known_hosts is not None
    assert host.known_hosts.read_text().split() == [host.address, *public]
    assert (host.user, host.groups, host.made) == ("root", frozenset({"kvm"}), True)


def test_two_have_addresses_and_cards_of_their_own(tmp_path: Path) -> None:
    first, second = domain(tmp_path), domain(tmp_path, 1)
    assert first.host.address != second.host.address
    assert first._card != second._card


def test_qemu_gets_disk_network_cpus_and_the_run_s_labels(
    made: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def start(
        words: Sequence[str],
        cpuset: str,
        pid_file: Path,
        environment: Mapping[str, str],
        open_files: Sequence[int],
    ) -> None:
        seen.extend([" ".join(words), cpuset, pid_file, environment])
        assert open_files == ()

    monkeypatch.setattr(qemu, "start", start)
    made.start()
    words, cpuset, pid_file, environment = seen
    assert f"file={made.directory}/disk.raw,format=raw,cache=writeback" in str(words)
    assert f"tap,id=net,ifname=tare-vm0,script={made.directory}/attach,downscript=no" in str(words)
    assert "vhost" not in str(words), "only KVM has it"
    assert "-smp 2 -m 1024M" in str(words)
    assert (cpuset, pid_file) == ("0-1", made.directory / "pid")
    assert environment == {"TARE_RUN": "run"}
    assert made.as_dict()["starts"] == 1


def test_on_macvtap_qemu_inherits_the_device_that_it_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = domain(tmp_path)
    one = replace(one, shape=replace(one.shape, network="macvtap"))
    one.make()
    seen: list[Sequence[object]] = []

    @contextlib.contextmanager
    def card(_: Macvtap, number: int, hardware: str, directory: Path) -> Iterator[Card]:
        assert hardware == one._card, "the guest's device has the address of the one outside"
        yield Card("tap,id=net,fd=9", (9,))

    monkeypatch.setattr(Macvtap, "card", card)
    monkeypatch.setattr(qemu, "start", lambda *words: seen.append(words))
    one.start()
    (words,) = seen
    assert "-netdev tap,id=net,fd=9 -device virtio-net-pci" in " ".join(map(str, words[0]))
    assert words[-1] == (9,)
    assert one.host.address.startswith("198.19.254.")
    assert one.as_dict()["network"] == "macvtap"


def test_one_that_is_started_again_has_its_bridge_first(
    made: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU puts its device on the bridge as it starts, and does not start without."""
    seen: list[str] = []
    monkeypatch.setattr(Bridge, "mend", lambda _: seen.append("bridge"))
    monkeypatch.setattr(qemu, "start", lambda *_: seen.append("QEMU"))
    monkeypatch.setattr(Domain, "await_up", lambda _: seen.append("up"))
    made.restart()
    assert seen == ["bridge", "QEMU", "up"]


def test_one_that_ends_while_it_boots_is_told_with_its_last_words(made: Domain) -> None:
    (made.directory / "console.log").write_text("first\n\nKernel panic\nno init found\n")
    with pytest.raises(RuntimeUnavailableError) as error:
        made.await_up()
    assert "does not boot" in error.value.what
    assert error.value.why.startswith("QEMU has ended")
    assert "Kernel panic / no init found" in error.value.why


def test_records_say_that_it_is_emulated_and_why(made: Domain) -> None:
    kept = made.as_dict()
    assert kept["accelerator"] == "tcg"
    assert kept["why_no_kvm"] == "a kernel hangs in it"
    assert not any("PRIVATE" in str(value) for value in kept.values())
