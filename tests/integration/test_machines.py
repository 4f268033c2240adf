"""Hosts that SSH reaches: asked by `tare doctor --machines`, made ready by `tare machines prepare`.

The hosts are network namespaces with an sshd each, so they share this machine's programs, kernel
and clock: that a clock is measured can be seen here, and not how well one is that differs.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration import ssh_hosts

pytestmark = pytest.mark.engine
DIRECTORY = "/var/tmp/tare"  # noqa: S108 - of the hosts, not of this machine


@pytest.fixture(scope="module")
def hosts() -> Iterator[ssh_hosts.SshHosts]:
    with ssh_hosts.needed_by("test_machines.py", "db1", "db2", "load1") as made:
        yield made


def tare(inventory: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from tare.cli.app import main; main()", *words],
        env={**os.environ, "TARE_INVENTORY": str(inventory), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def doctor(inventory: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    done = tare(inventory, "doctor", "--machines", "--json")
    assert done.stdout, done.stderr
    return done.returncode, {one["name"]: one for one in json.loads(done.stdout)["hosts"]}


def points(one: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {point["what"]: point for point in one["points"]}


def test_every_host_is_told_ready_with_what_it_is(hosts: ssh_hosts.SshHosts) -> None:
    status, found = doctor(hosts.inventory(nodes=["db1", "db2"], clients=["load1"]))
    assert {name: one["ready"] for name, one in found.items()} == dict.fromkeys(found, True)
    assert status == 0
    assert {name: one["takes"] for name, one in found.items()} == {
        "db1": "nodes",
        "db2": "nodes",
        "load1": "load",
    }
    facts = found["db1"]["facts"]
    assert facts["kernel"] == os.uname().release
    assert facts["cpus"] == os.cpu_count()
    assert facts["root"]
    assert facts["memory"] > 0
    assert facts["disk_free"] > 0
    assert points(found["db2"])["machine"]["says"] == "is the machine that db1 is"


def test_the_clock_of_a_host_is_bounded_and_its_bound_holds_the_truth(
    hosts: ssh_hosts.SshHosts,
) -> None:
    _, found = doctor(hosts.inventory(nodes=["db1"], clients=["load1"]))
    for one in found.values():
        clock = one["clock"]
        assert abs(clock["ahead_s"]) <= clock["uncertain_s"], "the clock is this machine's own"
        assert clock["uncertain_s"] < 0.2


def test_a_host_that_is_not_reached_is_told_with_what_helps_and_the_others_are_asked(
    hosts: ssh_hosts.SshHosts, tmp_path: Path
) -> None:
    good = hosts.inventory(nodes=["db1"], clients=["load1"]).read_text(encoding="utf-8")
    stranger = tmp_path / "known"
    stranger.write_text("", encoding="utf-8")
    wrong = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(wrong)], check=True, timeout=30
    )
    address = hosts.hosts["db2"].address
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(
        "[nodes]\n"
        f"unknown ansible_host={address} tare_known_hosts={stranger}\n"
        f"closed ansible_host={address} ansible_port=2222\n"
        f"locked ansible_host={hosts.hosts['load1'].address} ansible_port=22 "
        f"ansible_ssh_private_key_file={wrong}\n"
        "nowhere ansible_host=nowhere.invalid\n"
        f"{good.replace('load1 ', '# ')}",
        encoding="utf-8",
    )
    status, found = doctor(inventory)
    assert status == 1
    assert {name: one["ready"] for name, one in found.items()} == {
        "unknown": False,
        "closed": False,
        "locked": False,
        "nowhere": False,
        "db1": True,
    }
    assert "fingerprint" in found["unknown"]["next"]
    assert "firewall" in found["closed"]["next"]
    assert "ssh-copy-id" in found["locked"]["next"]
    assert "getent hosts" in found["nowhere"]["next"]


def test_a_login_that_is_not_root_is_told_what_it_cannot_have(
    hosts: ssh_hosts.SshHosts, tmp_path: Path
) -> None:
    host = hosts.boot("plain")
    passwd = hosts.root / "passwd"
    others = Path("/etc/passwd").read_text(encoding="utf-8")
    passwd.write_text(f"{others}ops:*:4321:4321::/:/bin/sh\n", encoding="utf-8")
    words = ["nsenter", f"--target={host.process.pid}", "--mount", "mount", "--bind"]
    subprocess.run([*words, str(passwd), "/etc/passwd"], check=True, timeout=30)
    hosts.root.chmod(0o711)  # sshd reads a user's authorised keys as that user
    own = host.files / "ops"
    own.mkdir()
    os.chown(own, 4321, 4321)
    login = hosts.inventory(nodes=["plain"]).read_text(encoding="utf-8").replace("root", "ops", 1)
    inventory = tmp_path / "hosts.ini"

    inventory.write_text(login, encoding="utf-8")
    status, found = doctor(inventory)
    assert status == 1
    assert "cannot be written by ops" in points(found["plain"])["directory"]["says"]

    inventory.write_text(f"{login}tare_directory={DIRECTORY[:-4]}ops/tare\n", encoding="utf-8")
    status, found = doctor(inventory)
    assert status == 0
    assert not found["plain"]["facts"]["root"]
    assert "no limits" in points(found["plain"])["rights"]["says"]

    if shutil.which("sudo") is None:
        inventory.write_text(f"{login}ansible_become=true\n", encoding="utf-8")
        status, found = doctor(inventory)
        assert status == 1
        assert "log in as root" in found["plain"]["next"]


@pytest.fixture
def pyinfra() -> str:
    found = os.environ.get("TARE_PYINFRA") or shutil.which("pyinfra")
    if not found:
        pytest.skip(
            "no pyinfra: pipx install pyinfra; then pytest tests/integration/test_machines.py"
        )
    return found


def test_preparation_says_what_it_would_change_then_does_it_once(
    hosts: ssh_hosts.SshHosts, pyinfra: str
) -> None:
    inventory = hosts.inventory(nodes=["db1", "db2"])
    words = ("machines", "prepare", "--without", "clock")
    made = [hosts.hosts[name].files / "tare" for name in ("db1", "db2")]

    first = tare(inventory, *words, TARE_PYINFRA=pyinfra)
    assert first.returncode == 0, first.stdout + first.stderr
    assert f"db1: would make {DIRECTORY}" in first.stdout
    assert "nothing was changed" in first.stdout
    assert not any(one.exists() for one in made)

    done = tare(inventory, *words, "--yes", TARE_PYINFRA=pyinfra)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "db1: has everything\ndb2: has everything\n"
    assert [stat.S_IMODE(one.stat().st_mode) for one in made] == [0o700, 0o700]

    again = tare(inventory, *words, TARE_PYINFRA=pyinfra)
    assert again.stdout == done.stdout


def test_a_host_that_is_gone_is_told_and_the_others_are_prepared(
    hosts: ssh_hosts.SshHosts, pyinfra: str
) -> None:
    hosts.boot("gone").kill()
    inventory = hosts.inventory(nodes=["db1", "gone"])
    words = ("machines", "prepare", "--without", "clock", "--json")
    done = tare(inventory, *words, TARE_PYINFRA=pyinfra)
    told = {one["host"]: one for one in json.loads(done.stdout)["hosts"]}
    assert done.returncode == 1
    assert told["db1"]["reached"]
    assert not told["gone"]["reached"]
