"""The domains of a run: named after their group, numbered through, and gone with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.declaration import Missing
from tare.machines.kvm import made as module
from tare.machines.kvm.image import Image
from tare.machines.kvm.made import domains_for
from tare.machines.kvm.works import Works
from tare.study.domains import Domains
from tare.study.platform import Domain


@pytest.fixture(autouse=True)
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image that is there, and nothing that is missing."""
    monkeypatch.setattr(module, "missing", lambda: None)
    monkeypatch.setattr(module.images, "made", lambda say: Image(tmp_path, "digest"))
    monkeypatch.setattr(module.works, "tried", lambda image: Works("boot", "digest", "7.2", ""))


def alike(group: str, count: int) -> Domains:
    return Domains(group, count, 1, "", 2**30, False, Domain(), "kvm")


def quiet(line: str) -> None: ...


def test_what_is_missing_is_said_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "missing", lambda: Missing("no QEMU", "apt-get install qemu"))
    with pytest.raises(RuntimeUnavailableError) as told:
        domains_for("run", [alike("kvm", 1)], quiet, tmp_path)
    assert (told.value.why, told.value.remedy) == ("no QEMU", "apt-get install qemu")


def test_domains_of_several_groups_have_addresses_of_their_own(tmp_path: Path) -> None:
    found = domains_for("run", [alike("kvm", 2), alike("kvm-raw", 1)], quiet, tmp_path)
    hosts = {name: one.host.address for name, one in found.machines.items()}
    assert list(hosts) == ["kvm-1", "kvm-2", "kvm-raw-1"]
    assert len(set(hosts.values())) == 3
    assert {one.labels["TARE_RUN"] for one in found.machines.values()} == {"run"}
    assert not found.directory.exists(), "nothing is made yet"


def test_more_than_find_an_address_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailableError) as told:
        domains_for("run", [alike("kvm", 300)], quiet, tmp_path)
    assert "--only" in told.value.remedy
