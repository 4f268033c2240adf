"""What a container's configuration says."""

from __future__ import annotations

from ipaddress import IPv4Network
from pathlib import Path

import pytest

from tare.machines import cgroups
from tare.runtimes.lxc import configuration, groups
from tare.runtimes.lxc.bridge import of
from tare.starter import mark
from tare.study.platform import Limits

LIMITS = Limits.model_validate({"cpus": 1.5, "cpuset": "0-1", "memory": "1GiB"})
NETWORK = IPv4Network("198.19.7.0/24")
BRIDGE = of("tare-br7", NETWORK)


def keys(lines: list[configuration.Line]) -> dict[str, str]:
    return dict(lines)


def test_it_has_lxc_s_common_configuration_first_and_names_tare_s_control_groups(
    tmp_path: Path,
) -> None:
    lines = configuration.container("r", "n1", tmp_path, Limits(), configuration.on_host())
    assert lines[0] == ("lxc.include", str(configuration.COMMON))
    own = keys(lines)
    assert own["lxc.cgroup.dir.container"] == f"tare/r@{mark()}/n1"
    assert own["lxc.net.0.type"] == "none"
    assert own["lxc.rootfs.options"] == "ro"
    assert not any(key.startswith(("lxc.cgroup.cpu", "lxc.cgroup2.cpu")) for key in own)


@pytest.mark.parametrize(
    ("version", "limits"),
    [
        (
            1,
            {
                "lxc.cgroup.cpu.cfs_quota_us": "150000",
                "lxc.cgroup.cpuset.cpus": "0-1",
                "lxc.cgroup.memory.limit_in_bytes": "1073741824",
            },
        ),
        (
            2,
            {
                "lxc.cgroup2.cpu.max": "150000 100000",
                "lxc.cgroup2.cpuset.cpus": "0-1",
                "lxc.cgroup2.memory.max": "1073741824",
            },
        ),
    ],
)
def test_limits_are_in_the_words_of_the_kernel_s_version(
    monkeypatch: pytest.MonkeyPatch, version: int, limits: dict[str, str]
) -> None:
    monkeypatch.setattr(cgroups, "version", lambda: version)
    found = groups.settings("r", "n1", LIMITS)
    assert keys(found[3:]) == limits


def test_on_a_bridge_it_has_an_address_and_the_bridge_s_as_its_gateway() -> None:
    own = keys(configuration.on_bridge(BRIDGE, "198.19.7.100"))
    assert own["lxc.net.0.link"] == "tare-br7"
    assert own["lxc.net.0.ipv4.address"] == "198.19.7.100/24"
    assert own["lxc.net.0.ipv4.gateway"] == "198.19.7.1"


def test_a_directory_s_blanks_are_written_as_in_fstab(tmp_path: Path) -> None:
    home = tmp_path / "of my\\own"
    home.mkdir()
    lines = configuration.container("r", "n1", home, Limits(), configuration.alone())
    (mount,) = (value for key, value in lines if key.endswith("entry") and str(tmp_path) in value
                and "/etc/hosts" not in value and "etc/hosts" not in value)  # fmt: skip
    source, target, kind, options, *_ = mount.split()
    assert source == f"{tmp_path}/of\\040my\\134own"
    assert target == source.removeprefix("/")
    assert (kind, options) == ("none", "bind")


def test_its_hosts_are_the_machine_s_and_itself(tmp_path: Path) -> None:
    machine = tmp_path / "hosts"
    machine.write_text("127.0.0.1 localhost\n192.0.2.9 db\n\n", encoding="utf-8")
    assert configuration.hosts("n1", "198.19.7.100", machine).splitlines() == [
        "127.0.0.1 localhost",
        "192.0.2.9 db",
        "198.19.7.100 n1",
    ]
    missing = configuration.hosts("n1", "", tmp_path / "none")
    assert missing == "127.0.0.1 localhost\n127.0.1.1 n1\n"


def test_the_name_of_its_host_is_one_that_a_kernel_takes() -> None:
    assert configuration.host_name("n1") == "n1"
    assert len(configuration.host_name("n" * 90)) == 63
