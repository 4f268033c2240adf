"""Units on a host are run, watched, paused, ended and found again; the host is this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines.inventory.host import Inventory
from tare.machines.ssh import HostError, HostGoneError
from tare.runtimes.ssh.host_machine import HostMachine
from tare.runtimes.ssh.hosts import Hosts
from tare.runtimes.ssh.leftovers import leftovers, remove
from tare.runtimes.ssh.names import MARK_VARIABLE
from tare.runtimes.ssh.native import HostRunning, SshNativeRuntime
from tare.runtimes.unit import PORT_STEP, Bits, Unit
from tare.study.platform import Limits
from tests.machines.fake_ssh import FakeHost


class Rig:
    """Two hosts for nodes, and a runtime on them."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(HostMachine, "groups", False)
        # a separate owner: the test must not touch what real runs of this machine have on hosts
        owner = f"test{os.getpid()}"
        monkeypatch.setattr("tare.runtimes.ssh.leftovers.owner", lambda: owner)
        monkeypatch.setattr("tare.runtimes.ssh.host_machine.mark_of", lambda run: f"{owner}.{run}")
        self.fakes = [FakeHost(root, "h1"), FakeHost(root, "h2")]
        inventory = Inventory(root / "inventory", tuple(one.host for one in self.fakes), ())
        machines = {
            one.host.name: HostMachine(one.host, "run", one.connection) for one in self.fakes
        }
        self.hosts = Hosts(inventory, "run", machines)
        self.hosts.clients = list(self.hosts.nodes)
        self.runtime = SshNativeRuntime(root / "work", self.hosts)

    def unit(self, *command: str, role: Any = "database", name: str = "k1-n1") -> Unit:
        site = self.runtime.site(name, role=role, network="host", storage="directory", group="k1")
        return Unit(
            site, role, [*command], {"WORD": "a b"}, Limits(), Bits(""), ports=(9042,), grace_s=1
        )

    def inventory(self) -> Inventory:
        return self.hosts.inventory


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    made = Rig(tmp_path, monkeypatch)
    yield made
    for machine in made.hosts.machines.values():
        machine.connection.close()


def alive(running: HostRunning) -> bool:
    return Path(f"/proc/{running.accounting().pid}/cwd").exists()


def test_a_node_runs_with_its_files_and_is_gone_after_its_stop(rig: Rig) -> None:
    unit = rig.unit("/bin/sh", "-c", 'echo "$WORD"; cat hello; exec sleep 600')
    (unit.site.conf_on_host / "hello").write_text("file", encoding="ascii")
    running = rig.runtime.launch(unit)
    assert running.exited() is None
    assert running.unit.site.machine == "h1"
    assert running.unit.site.door(9042)[0] == "127.0.0.1"
    assert running.accounting().machine.name == "h1"
    running.stop()
    assert not alive(running)
    assert not Path(unit.site.conf).exists()
    running.stop()


def test_how_it_ended_is_known_and_its_logs_come_back(rig: Rig, tmp_path: Path) -> None:
    running = rig.runtime.launch(rig.unit("/bin/sh", "-c", "echo why >&2; kill -9 $$"))
    running._poll._clock = iter(range(0, 100_000, 10)).__next__
    while (ended := running.exited()) is None:
        pass
    assert ended.detail == "killed by SIGKILL"
    running.collect_logs(tmp_path / "logs")
    assert (tmp_path / "logs" / "k1-n1-stderr.log").read_text(encoding="ascii") == "why\n"
    running.stop()


def test_a_client_s_lines_and_histograms_come_here(rig: Rig) -> None:
    unit = rig.unit(
        "/bin/sh",
        "-c",
        "echo one; echo two; echo hist >x.hlog",
        role="client",
        name="k1-measure-c2",
    )
    running = rig.runtime.launch(unit)
    assert running.unit.site.machine == "h2"
    assert list(running.lines()) == ["one\n", "two\n"]
    assert (unit.site.conf_on_host / "x.hlog").read_text(encoding="ascii") == "hist\n"
    running.stop()


def test_a_paused_node_stands_still(rig: Rig) -> None:
    running = rig.runtime.launch(rig.unit("sleep", "600"))
    running.pause()
    state = Path(f"/proc/{running.accounting().pid}/stat")
    assert state.read_text(encoding="ascii").rpartition(")")[2].split()[0] == "T"
    running.resume()
    assert state.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "T"
    running.stop()


def test_a_unit_that_is_slow_to_begin_is_told_once_its_group_can_be_signalled(
    rig: Rig, tmp_path: Path
) -> None:
    slow = tmp_path / "setsid"
    slow.write_text(f'#!/bin/sh\nsleep 0.3\nexec {shutil.which("setsid")} "$@"\n', "ascii")
    slow.chmod(0o755)
    rig.fakes[0].connection._environment["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
    running = rig.runtime.launch(rig.unit("sleep", "600"))
    pid = running.accounting().pid
    assert os.getpgid(pid) == pid
    assert MARK_VARIABLE in Path(f"/proc/{pid}/environ").read_text("utf-8")
    running.stop()
    assert not alive(running)


def test_limits_without_root_there_are_refused_and_nothing_stays(rig: Rig) -> None:
    unit = rig.unit("sleep", "600")
    limited = Unit(unit.site, "database", ["sleep", "600"], {}, Limits(cpus=1), Bits(""))
    with pytest.raises(RuntimeUnavailableError, match="limits cannot be set"):
        rig.runtime.launch(limited)
    assert not Path(unit.site.conf).exists()


def test_nodes_of_a_cluster_are_on_different_hosts_and_a_third_has_none(rig: Rig) -> None:
    names = [rig.unit("true", name=f"k1-n{n}").site.machine for n in (1, 2)]
    assert names == ["h1", "h2"]
    with pytest.raises(RuntimeUnavailableError, match="no host is left for node 3"):
        rig.unit("true", name="k1-n3")


def test_clusters_that_live_together_have_other_ports(rig: Rig) -> None:
    words: dict[str, Any] = {"role": "database", "network": "host", "storage": "directory"}
    first = rig.runtime.site("a", group="a", **words)
    second = rig.runtime.site("b", group="b", **words)
    assert (first.binds(9042), second.binds(9042)) == (9042, 9042 + PORT_STEP)
    rig.runtime.release_group("a")
    assert rig.runtime.site("c", group="c", **words).binds(9042) == 9042


def test_a_host_that_is_gone_gives_its_node_to_a_spare_one(rig: Rig) -> None:
    rig.fakes[0].unplug()
    assert rig.unit("true").site.machine == "h2"


def test_a_node_of_a_host_that_is_gone_is_ended_when_the_host_is_back(rig: Rig) -> None:
    running = rig.runtime.launch(rig.unit("sleep", "600"))
    machine = running._machine
    rig.fakes[0].unplug()
    with pytest.raises(HostGoneError, match="not reached"):
        running.exited()
    with pytest.raises(HostGoneError):
        running.stop()
    assert alive(running)
    rig.fakes[0].plug()
    machine.connection._lost = None
    machine.settle()
    assert not alive(running)


def test_what_is_left_is_found_by_its_mark_and_removed_and_nothing_else(rig: Rig) -> None:
    running = rig.runtime.launch(rig.unit("sleep", "600"))
    connect = lambda host: next(f for f in rig.fakes if f.host is host).connect()  # noqa: E731
    found = leftovers(rig.inventory(), connect)
    kinds = {line.partition(" ")[0] for line in found.found[rig.fakes[0].host]}
    assert kinds == {"process", "unit"}
    assert found.words().keys() == {"processes of hosts", "units of hosts"}
    assert remove(found, connect) == []
    assert not alive(running)
    assert not Path(running._home).exists()
    assert leftovers(rig.inventory(), connect).words() == {}
    assert Path(f"/proc/{os.getpid()}").exists()


def test_a_host_that_cannot_be_looked_at_is_said(rig: Rig) -> None:
    rig.fakes[1].unplug()
    connect = lambda host: next(f for f in rig.fakes if f.host is host).connect()  # noqa: E731
    found = leftovers(rig.inventory(), connect)
    (fault,) = remove(found, connect)
    assert "h2" in fault.where


def test_another_s_process_that_was_given_the_number_is_left_alone(rig: Rig) -> None:
    running = rig.runtime.launch(rig.unit("sleep", "600"))
    Path(running._home, "born").write_text("before-the-restart 1\n", encoding="ascii")
    running.terminate()
    with pytest.raises(HostError, match=r"freeze\.sh"):
        running.pause()
    running.stop()
    assert not Path(running._home).exists()
    assert Path(f"/proc/{running.accounting().pid}").exists()
    os.kill(running.accounting().pid, signal.SIGKILL)


def test_what_outlives_a_unit_s_first_process_is_killed_with_it(rig: Rig) -> None:
    unit = rig.unit("/bin/sh", "-c", "sleep 600 & echo $! >child; exit 3")
    running = rig.runtime.launch(unit)
    running._poll._clock = iter(range(0, 100_000, 10)).__next__
    while running.exited() is None:
        pass
    child = Path("/proc", Path(unit.site.conf, "child").read_text(encoding="ascii").strip())
    assert (child / "cwd").exists()
    running.stop()
    assert not (child / "cwd").exists()
    assert not Path(running._home).exists()


def test_what_is_left_in_a_unit_s_control_group_is_killed(tmp_path: Path) -> None:
    home, group = tmp_path / "runs" / "me.run" / "n1", tmp_path / "group"
    home.mkdir(parents=True)
    group.mkdir()
    (home / "groups").write_text(f"unified {group}\n", encoding="ascii")
    process = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    (group / "cgroup.procs").write_text(f"0\n{process.pid}\n", encoding="ascii")
    try:
        script = Path(str(files("tare.runtimes.ssh") / "stop.sh"))
        subprocess.run(["/bin/sh", script, home, "0"], check=True)
        assert process.wait(5) == -signal.SIGKILL
    finally:
        process.kill()
        process.wait()
    assert not home.exists()


def test_groups_are_noted_before_a_limit_of_theirs_can_fail(tmp_path: Path) -> None:
    (tmp_path / "cpuacct").mkdir()  # without `cpu`, so that setting a quota fails
    text = Path(str(files("tare.runtimes.ssh") / "group.sh")).read_text(encoding="ascii")
    text = text.replace("root=/sys/fs/cgroup", f"root={tmp_path}")
    words = [str(tmp_path), "tare-ssh/u", "1000", "-", "-"]
    done = subprocess.run(["/bin/sh", "-c", text, "sh", *words], check=False, capture_output=True)
    assert done.returncode != 0
    noted = f"cpuacct {tmp_path}/cpuacct/tare-ssh/u\n"
    assert (tmp_path / "groups").read_text(encoding="ascii") == noted


def test_a_node_whose_ports_have_no_way_here_is_ended_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = rig.unit("sleep", "600")
    home = rig.hosts.nodes[0].home("k1-n1")
    pids: list[int] = []

    def refused(*_: object) -> int:
        pids.append(int(Path(home, "pid").read_text(encoding="ascii")))
        raise HostError("ssh could not forward a port")

    monkeypatch.setattr(rig.fakes[0].connection, "forward_port", refused)
    with pytest.raises(HostError, match="could not forward"):
        rig.runtime.launch(unit)
    assert not Path(home).exists()
    assert not Path(f"/proc/{pids[0]}/cwd").exists()


def test_that_a_spare_host_takes_a_node_is_said_once(rig: Rig) -> None:
    said: list[str] = []
    rig.hosts.prepare(said.append)
    rig.fakes[0].unplug()
    said.clear()
    for _ in range(2):
        assert rig.unit("true").site.machine == "h2"
        rig.runtime.release_group("k1")
    (line,) = said
    assert "h1" in line
    assert "different machines" in line


def test_the_way_to_a_node_s_port_is_taken_back_with_the_node(rig: Rig) -> None:
    running = rig.runtime.launch(rig.unit("sleep", "600"))
    (way,) = rig.fakes[0].told("forward")
    assert way.endswith(f":{running.unit.site.peers}:9042")
    assert rig.fakes[0].told("cancel") == []
    running.stop()
    assert rig.fakes[0].told("cancel") == [way]
