"""Any answer from a host becomes a verdict and the next command, or is refused."""

from __future__ import annotations

import platform
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.errors import TareError
from tare.machines.checkup import Checked, check_hosts
from tare.machines.clocks import Offset
from tare.machines.inventory.host import Host, Inventory
from tare.machines.ssh import Connection, Done, HostGoneError
from tare.machines.survey import survey

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD = {
    "user": "root",
    "uid": "0",
    "sudo": "yes",
    "os": "Debian GNU/Linux 12 (bookworm)",
    "kernel": "6.1.0",
    "architecture": platform.machine(),
    "boot": "b1",
    "cpus": "8",
    "memory": str(32 * 2**20),
    "available": str(30 * 2**20),
    "ticks": "10 0 10 975 0 0 0 5 0 0",
    "disk": str(100 * 2**20),
    "writes": "yes",
    "java": "",
    "docker": "20.10.24",
    "answers": "yes",
    "synchronised_by": "chronyd",
    "missing": "",
}


class Scripted(Connection):
    """A host that gives a fixed answer, or is unreachable."""

    def __init__(self, host: Host, answer: bytes = b"", gone: str = "") -> None:
        super().__init__(host)
        self.answer, self.gone = answer, gone

    def script(self, text: str, *words: str, within_s: float = 1.0) -> Done:
        if self.gone:
            raise HostGoneError("the host is not reached over SSH", why=self.gone)
        return Done(0, self.answer, b"")

    def check(self, *command: object, within_s: float = 1.0) -> str:
        return "1000.5"


def answer(**changed: str) -> bytes:
    return "".join(f"{name}={value}\n" for name, value in (GOOD | changed).items()).encode()


def inventory(*names: str, groups: tuple[str, ...] = ("nodes",)) -> Inventory:
    hosts = [
        Host(name, f"192.0.2.{i}", user="tare", groups=frozenset(groups))
        for i, name in enumerate(names, 1)
    ]
    return Inventory(Path("hosts"), tuple(hosts))


def checked(text: bytes = b"", gone: str = "") -> Checked:
    (found,) = check_hosts(inventory("db1"), lambda host: Scripted(host, text, gone))
    return found


def failing(found: Checked) -> list[str]:
    return [one.what for one in found.points if not one.ok]


def test_a_host_that_has_everything_is_ready() -> None:
    found = checked(answer())
    assert found.ready
    assert failing(found) == []
    assert found.next == ""
    assert found.takes == "nodes"
    assert found.facts is not None
    assert found.facts.steal == pytest.approx(0.005)
    assert found.facts.memory == 32 * 2**30
    assert found.clock is not None


@pytest.mark.parametrize(
    ("changed", "what", "ready", "remedy"),
    [
        ({"architecture": "riscv64"}, "system", False, "riscv64"),
        ({"writes": "no"}, "directory", False, "tare machines prepare"),
        ({"disk": "1000"}, "directory", False, "larger disk"),
        ({"missing": "tar setsid"}, "programs", False, "tare machines prepare"),
        ({"uid": "1000", "sudo": "yes"}, "rights", True, "sudo (ansible_become)"),
        ({"ticks": "10 0 10 900 0 0 0 80 0 0"}, "steal", True, "shared"),
        ({"docker": "", "answers": ""}, "docker", True, "--with docker"),
        ({"synchronised_by": ""}, "time synchronisation", True, "tare machines prepare"),
    ],
)
def test_what_a_host_lacks_is_told_with_what_helps(
    changed: dict[str, str], what: str, ready: bool, remedy: str
) -> None:
    found = checked(answer(**changed))
    assert failing(found) == [what]
    assert found.ready == ready
    assert remedy in found.next


@pytest.mark.parametrize(
    ("uncertain_ms", "hindered"),
    [
        (0.6, []),
        (4, []),
        (4.1, ["no slices, which need ± 4 ms"]),
        (10.1, ["no slices, which need ± 4 ms", "no load clients on several hosts"]),
    ],
)
def test_a_clock_that_is_known_too_roughly_is_told_with_what_it_hinders(
    uncertain_ms: float, hindered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Offset(0.0, uncertain_ms / 1e3, 12)
    monkeypatch.setattr("tare.machines.checkup.clock_offset", lambda _: clock)
    found = checked(answer())
    assert found.ready
    assert failing(found) == ["clock"] * bool(hindered)
    (point,) = [one for one in found.points if one.what == "clock"]
    _, *said = point.says.split("; ")
    assert len(said) == len(hindered)
    assert all(one.startswith(other) for one, other in zip(said, hindered, strict=True))
    assert ("design.slice: off" in found.next) == bool(hindered)
    assert ("client.machines" in found.next) == (len(hindered) > 1)


def test_an_engine_that_does_not_answer_says_why() -> None:
    found = checked(answer(docker="permission denied", answers=""))
    (docker,) = [one for one in found.points if one.what == "docker"]
    assert docker.says == "permission denied"


@pytest.mark.parametrize(
    ("why", "remedy"),
    [
        ("Host key verification failed.", "fingerprint"),
        ("tare@192.0.2.1: Permission denied (publickey).", "ssh-copy-id"),
        ("sudo: a password is required", "NOPASSWD"),
        ("/bin/sh: 1: exec: sudo: not found", "log in as root"),
        ("ssh: Could not resolve hostname db1: Name or service not known", "getent hosts"),
        ("ssh: connect to host 192.0.2.1 port 22: Connection refused", "firewall"),
        ("ssh: connect to host 192.0.2.1 port 22: Connection timed out", "ping 192.0.2.1"),
    ],
)
def test_what_ssh_says_leads_to_what_helps(why: str, remedy: str) -> None:
    found = checked(gone=why)
    assert not found.ready
    assert found.points[0].says == why
    assert remedy in found.next


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    found = checked(answer(os="\x1b[2JDebian", java="\x07" + "j" * 1000))
    assert found.facts is not None
    assert found.facts.os == "[2JDebian"
    assert found.facts.java == "j" * 200
    assert checked(gone="\x1b]0;x\x07no route").points[0].says == "]0;xno route"


def test_hosts_are_asked_at_the_same_time() -> None:
    both = threading.Barrier(3, timeout=20)

    class Waits(Scripted):
        def script(self, text: str, *words: str, within_s: float = 1.0) -> Done:
            both.wait()
            return Done(0, answer(), b"")

    found = check_hosts(inventory("a", "b", "c"), Waits)
    assert [one.ready for one in found] == [True] * 3


def test_hosts_that_share_a_kernel_are_told() -> None:
    boots = {"a": "b1", "b": "b2", "c": "b1"}
    found = check_hosts(
        inventory("a", "b", "c"), lambda host: Scripted(host, answer(boot=boots[host.name]))
    )
    assert [failing(one) for one in found] == [[], [], ["machine"]]
    assert found[2].points[-1].says == "is the machine that a is"


def test_every_connection_is_closed() -> None:
    closed: list[str] = []

    class Counts(Scripted):
        def close(self) -> None:
            closed.append(self.host.name)

    makers: list[Callable[[Host], Connection]] = [
        lambda host: Counts(host, answer()),
        lambda host: Counts(host, b"", "gone"),
    ]
    for make in makers:
        check_hosts(inventory("db1"), make)
    assert closed == ["db1", "db1"]


@settings(deadline=None)
@given(
    st.one_of(
        st.binary(),
        st.fixed_dictionaries({name: st.text(max_size=20) for name in GOOD}).map(
            lambda told: "".join(f"{name}={value}\n" for name, value in told.items()).encode()
        ),
    )
)
def test_whatever_a_host_answers_it_is_read_or_refused(told: bytes) -> None:
    try:
        facts = survey(Scripted(Host("db1", "192.0.2.1"), told))
    except TareError as error:
        assert error.where == "db1 (192.0.2.1)"
        return
    assert facts.cpus >= 0
    assert 0 <= facts.steal <= 1


def test_groups_that_share_a_kernel_are_told_that_they_cannot_be_compared() -> None:
    def host(name: str, group: str) -> Host:
        return Host(name, name, groups=frozenset({group}))

    there = Inventory(Path("hosts"), (host("m1", "metal"), host("v1", "vmware")))
    found = check_hosts(there, lambda one: Scripted(one, answer(boot="b1")))
    assert found[1].points[-1].says == (
        "is the machine that m1 is; of one machine the groups metal and vmware cannot be compared"
    )


def test_a_host_of_another_group_takes_nodes_where_a_study_names_it() -> None:
    groups = {"db1": {"nodes"}, "v1": {"vmware", "guests"}, "both": {"nodes", "vmware"}}
    hosts = [Host(name, name, groups=frozenset(own)) for name, own in groups.items()]
    hosts.append(Host("load1", "load1", groups=frozenset({"clients"})))
    there = Inventory(Path("hosts"), tuple(hosts))
    assert [there.takes(one) for one in there.hosts] == [
        "nodes",
        "nodes where a study names guests and vmware",
        "nodes; of vmware",
        "load",
    ]
