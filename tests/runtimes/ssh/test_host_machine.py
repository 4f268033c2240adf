"""A run's view of a host, over connections that come and go; the host is this machine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tare.machines.facts import local_facts
from tare.machines.ssh import HostGoneError
from tare.runtimes.ssh.host_machine import HostMachine
from tests.machines.fake_ssh import FakeHost, a_fake_host

fake = pytest.fixture(a_fake_host)


@pytest.fixture
def machine(fake: FakeHost) -> HostMachine:
    return HostMachine(fake.host, "run", fake.connection)


class Engine:
    """An engine client, identified by its socket."""

    def __init__(self, base_url: str, timeout: int) -> None:
        self.socket = base_url

    def ping(self) -> None:
        pass


def test_an_engine_is_reached_anew_after_the_connection_was(
    fake: FakeHost, machine: HostMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docker.DockerClient", Engine)
    first = machine.engine()
    assert machine.engine() is first
    fake.unplug()
    with pytest.raises(HostGoneError):
        machine.connection.run("true")
    fake.plug()
    machine.connection._lost = None
    machine.connection.run("true")  # the next command opens the connection again
    second = machine.engine()
    assert second is not first
    assert machine.engine() is second


@pytest.mark.parametrize(
    ("said", "locked"),
    [
        ("64 128", (65536, 131072)),
        ("64 unlimited", (65536, -1)),
        ("", None),
        ("x y", None),
    ],
)
def test_memory_that_units_may_lock_is_told_in_bytes(
    machine: HostMachine, said: str, locked: tuple[int, int] | None
) -> None:
    machine._facts = {"locked memory": said}
    assert machine.locked_memory == locked


def test_this_machine_as_a_host_tells_what_may_be_locked(machine: HostMachine) -> None:
    assert machine.locked_memory is not None


def test_a_host_that_is_prepared_has_its_clock_read(machine: HostMachine) -> None:
    machine.prepare(lambda _: None)
    assert machine.clock.rounds > 0
    assert abs(machine.ahead_s) <= machine.clock.uncertain_s


def test_a_host_tells_what_it_is_made_of_as_seen_from_inside(machine: HostMachine) -> None:
    traits, here = machine.traits, local_facts()
    assert traits["CPU model"] == here.cpu_model
    assert traits["memory"] == f"{here.memory_bytes / 2**30:.1f} GiB"
    assert traits["hypervisor"] == (here.virtualization or "none")
    assert traits["disk"], "of the directory's own disk, also before Tare has made it"


def test_what_a_host_says_of_itself_is_made_harmless(
    machine: HostMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = SimpleNamespace(text=f"CPU model=\x1b[31mred{'x' * 9000}\nmemory=many\n")
    monkeypatch.setattr(machine.connection, "script", lambda *_: told)
    assert machine.traits["CPU model"].startswith("[31mred")
    assert len(machine.traits["CPU model"]) < 300
    assert machine.traits["memory"] == ""


class Domain:
    """A virtual machine that records the calls to it."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.emulated, self.confined = False, True
        self.alive = lambda: True

    def __getattr__(self, name: str) -> Any:
        return lambda: self.seen.append(name)

    def changes(self) -> list[str]:
        """The calls since the last look; repeated calls in a row count once."""
        told, self.seen = self.seen, []
        return [one for place, one in enumerate(told) if told[place - 1 : place] != [one]]


@pytest.fixture
def domain() -> Any:
    return Domain()


@pytest.fixture
def made(fake: FakeHost, domain: Any) -> HostMachine:
    return HostMachine(fake.host, "run", fake.connection, domain=domain)


def test_a_virtual_machine_stands_still_while_none_of_its_units_runs(
    made: HostMachine, domain: Domain
) -> None:
    made.moves("native")
    made.moves("docker")
    made.stands_still("native")
    assert domain.changes() == ["resume"], "a unit in it runs"
    made.stands_still("docker")
    assert domain.changes() == ["suspend"]
    made.moves("native")
    assert domain.changes() == ["resume"]


def test_whoever_asks_a_virtual_machine_lets_it_go_on_first(
    made: HostMachine, domain: Domain
) -> None:
    made.connection.run("true")
    assert domain.changes() == ["resume"]


def test_one_whose_process_has_ended_is_gone_without_a_wait(
    made: HostMachine, domain: Domain
) -> None:
    made.connection.run("true")
    domain.alive = lambda: False
    with pytest.raises(HostGoneError, match="QEMU has ended"):
        made.connection.run("true")


def test_one_that_was_lost_is_started_and_reached_again_at_once(
    fake: FakeHost, made: HostMachine, domain: Domain
) -> None:
    made.connection.run("true")
    fake.unplug()
    with pytest.raises(HostGoneError):
        made.connection.run("true")
    fake.plug()
    domain.changes()
    made.revive()
    assert domain.changes() == ["restart"]
    made.connection.run("true")


def test_a_virtual_machine_is_the_cpuset_of_its_units(
    machine: HostMachine, made: HostMachine
) -> None:
    assert machine.cpuset("1") == "1"
    assert made.cpuset("1") is None
    assert (machine.inside_here, made.inside_here) == (False, True)


def test_units_of_an_emulated_machine_are_waited_for_longer(
    machine: HostMachine, made: HostMachine, domain: Domain
) -> None:
    assert (machine.patience, made.patience) == (1.0, 1.0)
    domain.emulated = True
    assert made.patience > 1.0
