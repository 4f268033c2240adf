"""The faults: each strikes a running study at once, and is undone if possible."""

from __future__ import annotations

import contextlib
import math
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
from tests.integration.ssh_hosts import CUTS

from bench.faults import hosts, ours
from bench.faults.scene import AS_FROM_A_TERMINAL, TARE, Command, Scene

NOBODY = 65534
LIMITED = Path("/sys/fs/cgroup")
LOCK = Path("/run/lock/tare-lab.lock")
AIMED = 0.5
"""Share of stops that are aimed at what serves a trial, while it is measured."""
CLIENT = "native tare-load"
SERVING = {True: {"native java", CLIENT}, False: {"container", "docker-proxy", CLIENT}}
"""What serves a trial, by whether its condition is native."""
AIMED_WITHIN_S = 30.0
"""So long a trial is waited for."""
ENDS_AFTER_S = 8.0
"""Nothing else strikes a trial that a stop was aimed at, so that it may get its record: a driver
ends, and its units are looked at, within so long."""
SHORTEST_S, LONGEST_S = 0.5, 20.0
"""For how long what a run asks does not answer."""
ENDED_MEANWHILE = 0.25
"""Share of lost connections during which the study is asked to end, or killed."""


@dataclass
class Strike:
    """One fault, done.

    Attributes:
        kind: of fault, such as "kill".
        target: what it was done to; "nothing": there was nothing of that kind at that instant.
        at: when, Unix time.
        seconds: for how long something was stopped.
        findings: promises that were seen broken while it was done.
        statuses: exit statuses of the struck command that it explains.
        hides: kinds of what is ours that may have been out of the command's reach for it.
        subjects: hosts, and deployments on hosts, that stood still.
    """

    kind: str
    target: str
    at: float
    seconds: float = 0.0
    findings: tuple[str, ...] = ()
    statuses: tuple[int, ...] = ()
    hides: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()

    @property
    def hit(self) -> bool:
        """Whether there was something to do it to."""
        return self.target != "nothing"


class Striker:
    """Draws and does faults; what a fault needs and is not here is never drawn."""

    def __init__(self, scene: Scene, draw: random.Random, kinds: set[str], *, clock: bool) -> None:
        self._scene = scene
        self._draw = draw
        root = os.geteuid() == 0
        possible: dict[str, tuple[int, Callable[[Command], Strike], bool]] = {
            "kill": (8, self._kill, True),
            "hang up": (2, self._hang_up, True),
            "stop": (4, self._stop, True),
            "full disk": (1, self._fill, scene.on_own_disk),
            "read-only disk": (1, self._read_only, scene.on_own_disk),
            "memory limit": (1, self._limit_memory, root),
            "second run": (1, self._second_run, True),
            "second user": (1, self._second_user, root and _nobody_may_run()),
            "connection lost": (5, self._cut_off, bool(scene.hosts)),
            "sshd killed": (2, self._kill_sshd, bool(scene.hosts)),
            "API server silent": (4, self._silence_api, scene.cluster is not None),
            "engine killed": (1, self._kill_engine, scene.engine.ours),
            "engine silent": (1, self._silence_engine, scene.engine.ours),
            "clock jump": (1, self._jump, clock and root),
        }
        if unknown := kinds - set(possible):
            raise SystemExit(f"no such fault: {', '.join(unknown)}; there are {list(possible)}")
        drawn = {name for name, (_, _, here) in possible.items() if here} & (kinds or set(possible))
        if not drawn:
            raise SystemExit(f"nothing of {', '.join(kinds)} can be done here")
        self._do = {name: possible[name][1] for name in possible if name in drawn}
        self._weights = {name: possible[name][0] for name in self._do}
        self.left_out = sorted(set(possible) - set(self._do))

    def strike(self, command: Command) -> Strike:
        """Do one fault to a running study and what belongs to it."""
        names = list(self._do)
        (name,) = self._draw.choices(names, [self._weights[n] for n in names])
        return self._do[name](command)

    def end(self, command: Command) -> Strike:
        """Ask the study to end, or kill it."""
        sent = self._draw.choices(
            (signal.SIGKILL, signal.SIGHUP, signal.SIGTERM, signal.SIGINT), (5, 2, 2, 2)
        )[0]
        to_all = sent in (signal.SIGHUP, signal.SIGINT) and self._draw.random() < 0.5
        at = time.time()
        with contextlib.suppress(ProcessLookupError):
            if to_all:  # as a terminal does
                os.killpg(command.process.pid, sent)
            else:
                command.process.send_signal(sent)
        again = self._draw.random() < 0.25 and not command.wait_s(self._draw.uniform(0.05, 2))
        if again:  # as an impatient user does
            with contextlib.suppress(ProcessLookupError):
                command.process.send_signal(sent)
        statuses = (-9,) if sent == signal.SIGKILL else (130, -sent)
        target = "tare and its group" if to_all else "tare"
        target += ", twice" if again else ""
        return Strike(sent.name, target, at, statuses=statuses)

    def _one(self, command: Command, kinds: set[str] | None = None) -> tuple[str, int] | None:
        """One process of ours, of a kind (of these) that is drawn first; None: there is none."""
        groups = _of_run(command)
        for host in self._scene.hosts:
            for kind, pids in hosts.of_run(host).items():
                groups.setdefault(kind, []).extend(pids)
        if kinds is not None:
            groups = {name: pids for name, pids in groups.items() if name in kinds}
        if not groups:
            return None
        name = self._draw.choice(sorted(groups))
        return name, self._draw.choice(groups[name])

    def _kill(self, command: Command) -> Strike:
        return self._send(command, signal.SIGKILL)

    def _hang_up(self, command: Command) -> Strike:
        return self._send(command, signal.SIGHUP)

    def _send(self, command: Command, sent: signal.Signals) -> Strike:
        chosen = self._one(command)
        kind = "kill" if sent == signal.SIGKILL else "hang up"
        at = time.time()
        if chosen is None:
            return Strike(kind, "nothing", at)
        with contextlib.suppress(ProcessLookupError):
            os.kill(chosen[1], sent)
        connected = chosen[0] in (hosts.SSH, hosts.SESSION)
        return Strike(kind, chosen[0], at, hides=ours.ON_HOSTS if connected else frozenset())

    def _stop(self, command: Command) -> Strike:
        aimed = self._await_trial(command) if self._draw.random() < AIMED else None
        # a longer one is mostly found by a look at the units, which fails the trial
        seconds = self._draw.uniform(0.2, 0.8 if aimed else 3.0)
        chosen = self._one(command, SERVING[aimed.endswith("-native")] if aimed else None)
        if chosen is None or (not aimed and self._draw.random() < 0.3):
            chosen = ("tare", command.process.pid)
        subjects = frozenset(filter(None, [hosts.deployment_of(chosen[1])]))
        at = time.time()
        with contextlib.suppress(ProcessLookupError):
            os.kill(chosen[1], signal.SIGSTOP)
            try:
                command.wait_s(seconds)
            finally:
                os.kill(chosen[1], signal.SIGCONT)
        if aimed:
            self._await_end(command, aimed)
        return Strike("stop", chosen[0], at, seconds, subjects=subjects)

    def _cut_off(self, command: Command) -> Strike:
        """Packets to and from a host are lost, for less than ssh bears or for more; now and then
        the study is ended meanwhile."""
        host, how = self._draw.choice(self._scene.hosts), self._draw.choice(CUTS)
        at, seconds = time.time(), self._outage_s()
        statuses: tuple[int, ...] = ()
        with host.cut_off(how):
            if not command.wait_s(seconds / 2) and self._draw.random() < ENDED_MEANWHILE:
                ended = self.end(command)
                how, statuses = f"{how}, {ended.kind}", ended.statuses
            command.wait_s(seconds / 2)
        return Strike(
            "connection lost",
            how,
            at,
            time.time() - at,
            statuses=statuses,
            hides=ours.ON_HOSTS,
            subjects=frozenset([host.name]),
        )

    def _kill_sshd(self, command: Command) -> Strike:
        """A host begins no session any more; those that there are go on."""
        at = time.time()
        with self._draw.choice(self._scene.hosts).without_sshd():
            command.wait_s(self._outage_s())
        return Strike("sshd killed", "sshd", at, hides=ours.ON_HOSTS)

    def _outage_s(self) -> float:
        """Log-uniform: half of them are shorter than three seconds."""
        return math.exp(self._draw.uniform(math.log(SHORTEST_S), math.log(LONGEST_S)))

    def _await_trial(self, command: Command) -> str | None:
        """Wait until a trial is driven, and then for its warm-up's end; its name, if there is
        one."""
        deadline = time.monotonic() + AIMED_WITHIN_S
        while command.name and time.monotonic() < deadline and not command.wait_s(0.1):
            under_way = self._under_way(command)
            if under_way and CLIENT in _of_run(command):
                ended = command.wait_s(self._draw.uniform(0.6, 1.6))
                return None if ended else under_way
        return None

    def _await_end(self, command: Command, trial: str) -> None:
        deadline = time.monotonic() + ENDS_AFTER_S
        while time.monotonic() < deadline and not command.wait_s(0.1):
            if self._under_way(command) != trial:
                return

    def _under_way(self, command: Command) -> str | None:
        """The trial that has begun and not ended, if there is one."""
        of_trials = [e for e in self._scene.journal(command.name) if "trial" in e]
        begun = bool(of_trials) and of_trials[-1]["event"] == "trial begun"
        return str(of_trials[-1]["trial"]) if begun else None

    def _fill(self, command: Command) -> Strike:
        at, filler = time.time(), self._scene.runs / "filler"
        with filler.open("wb", buffering=0) as file:
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(1 << 20))
            command.wait_s(self._draw.uniform(1, 8))
        filler.unlink()
        return Strike("full disk", "runs", at, statuses=(2,))  # the plan asks for room on it

    def _read_only(self, command: Command) -> Strike:
        """The kernel refuses while a file is open for writing: tried until none is."""
        runs, at = str(self._scene.runs), time.time()
        for _ in range(100):
            if _mounted(runs, "ro"):
                command.wait_s(self._draw.uniform(1, 8))
                while not _mounted(runs, "rw"):
                    time.sleep(0.1)
                return Strike("read-only disk", "runs", at)
            if command.wait_s(0.05):
                break
        return Strike("read-only disk", "nothing", at)

    def _limit_memory(self, command: Command) -> Strike:
        """What Tare's own process allocates from now on must fit into so much."""
        unified = (LIMITED / "cgroup.controllers").exists()
        base = LIMITED if unified else LIMITED / "memory"
        group = base / f"faults-{command.process.pid}"
        group.mkdir()
        limit = group / ("memory.max" if unified else "memory.limit_in_bytes")
        at = time.time()
        try:
            limit.write_text(str(self._draw.randint(2, 24) << 20))
            with contextlib.suppress(OSError):
                (group / "cgroup.procs").write_text(str(command.process.pid))
            command.wait_s(self._draw.uniform(2, 10))
        finally:
            limit.write_text("max" if unified else "-1")
            _leave(group, base)
        return Strike("memory limit", "tare", at, statuses=(-9,))

    def _second_run(self, command: Command) -> Strike:
        run = ("run", "whole.yaml", "--no-weigh", "--name", "rival")
        words = self._draw.choice((run, ("clean",), ("weigh", "native")))
        return self._rival(command, "second run", words, ())

    def _second_user(self, command: Command) -> Strike:
        other = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        words = self._draw.choice((("clean", "--runs", "elsewhere"), ("weigh", "native")))
        return self._rival(command, "second user", words, other)

    def _rival(
        self, command: Command, kind: str, words: tuple[str, ...], before: tuple[str, ...]
    ) -> Strike:
        """Another command while this one has the lab: refused at once, and nothing is touched."""
        at = time.time()
        if not _holds_lab(command):
            return Strike(kind, "nothing", at)
        rival = self._scene.start(*words, before=before)
        if not rival.wait_s(60):
            rival.process.terminate()
            rival.wait_s(60)
        findings = []
        if command.process.poll() is None:  # else the lab was free meanwhile
            if rival.process.returncode != 1 or "holds this machine" not in rival.said():
                findings.append(
                    f"{' '.join(words)} was not refused: {rival.process.returncode}, {rival.said()}"
                )
            if (self._scene.runs / "rival").exists():
                findings.append("a refused run made a directory")
        if "Traceback" in rival.said():
            findings.append(f"a traceback: {rival.said()}")
        return Strike(kind, " ".join(words), at, findings=tuple(findings))

    def _kill_engine(self, command: Command) -> Strike:
        at = time.time()
        self._scene.engine.kill()
        try:
            command.wait_s(self._draw.uniform(0, 6))
        finally:
            self._scene.engine.restart()
        return Strike("engine killed", "engine", at, statuses=(2,))  # the plan asks for one

    def _silence_engine(self, command: Command) -> Strike:
        at, seconds = time.time(), self._draw.uniform(SHORTEST_S, LONGEST_S)
        with self._scene.engine.silent():
            command.wait_s(seconds)
        return Strike("engine silent", "engine", at, seconds, statuses=(2,))

    def _silence_api(self, command: Command) -> Strike:
        at, seconds = time.time(), self._outage_s()
        if self._scene.cluster is None:
            return Strike("API server silent", "nothing", at)
        with self._scene.cluster.silent():
            command.wait_s(seconds)
        return Strike(
            "API server silent",
            "API server",
            at,
            seconds,
            statuses=(2,),  # the plan asks it
            hides=frozenset({"namespaces"}),
        )

    def _jump(self, command: Command) -> Strike:
        """The clock jumps, and goes right again by the time that has really passed."""
        by = self._draw.choice((-1, 1)) * self._draw.uniform(2, 90)
        real, steady = time.time(), time.monotonic()
        time.clock_settime(time.CLOCK_REALTIME, real + by)
        try:
            command.wait_s(self._draw.uniform(0.5, 6))
        finally:
            time.clock_settime(time.CLOCK_REALTIME, real + time.monotonic() - steady)
        return Strike("clock jump", f"{by:+.0f} s", real)


def _of_run(command: Command) -> dict[str, list[int]]:
    """Processes of the run by kind: its own children, its containers and what serves those."""
    found: dict[str, list[int]] = {}
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(command.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                found.setdefault(f"native {child.name()}", []).append(child.pid)
    ids = {str(one.id) for one in ours.containers()}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if process.name() == "docker-proxy" and "198.1" in " ".join(words):
                found.setdefault("docker-proxy", []).append(process.pid)
            elif process.name().startswith("containerd-shim") and ids & set(words):
                found.setdefault("shim", []).append(process.pid)
                for inside in process.children():
                    found.setdefault("container", []).append(inside.pid)
    return found


def _holds_lab(command: Command) -> bool:
    """By the kernel's table of locks, whether it is this process that has the lab."""
    pid, inode = str(command.process.pid), str(LOCK.stat().st_ino) if LOCK.exists() else ""
    locks = (line.split() for line in Path("/proc/locks").read_text().splitlines())
    return any(
        words[1] == "FLOCK" and words[4] == pid and words[5].rpartition(":")[2] == inode
        for words in locks
    )


def _mounted(at: str, how: str) -> bool:
    command = ["mount", "-o", f"remount,{how}", at]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _leave(group: Path, base: Path) -> None:
    """Everything goes back to the group above, so that this one can be removed."""
    for _ in range(50):
        for pid in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (base / "cgroup.procs").write_text(pid)
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.05)


def _nobody_may_run() -> bool:
    """Whether another user may run this very Tare: its files may lie where nobody else reads.

    Tried as commands are started: `setpriv` itself still runs what lies there.
    """
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    with contextlib.suppress(FileNotFoundError):
        tried = [*command, *AS_FROM_A_TERMINAL, TARE, "--help"]
        return subprocess.run(tried, capture_output=True, check=False).returncode == 0
    return False
