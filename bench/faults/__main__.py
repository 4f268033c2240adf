"""Injects faults into running studies at random times, and checks what Tare promises.

    python -m bench.faults                        520 faults: an hour or more
    python -m bench.faults --seed 2 --instants 10 about two minutes
    python -m bench.faults --kinds kill,stop      only these kinds of faults
    python -m bench.faults --engine-command dockerd --clock
    python -m bench.faults --hosts                on hosts over SSH
    python -m bench.faults --kubernetes           in pods of a rig that is up

The command starts real studies, strikes them with faults and resumes them; some weigh first. They
use Cassandra as a process, and in a container if an engine answers. Other targets are `tare weigh`
and the pilot of `tare doctor --noise`. With `--hosts`, nodes and clients are on hosts over SSH,
which are network namespaces of this machine. With `--kubernetes`, the second nodes are pods. In
both cases, nothing is weighed. After each command, all checks of `invariants.py` run. The seed
determines the order of faults and the waiting times, but not the machine's own behaviour.

It needs two CPUs, and root for most faults. It uses the installed `tare`, and nobody else can run
studies meanwhile. `--engine-command` starts an engine that may be killed; an engine that already
runs is used, but no fault strikes it. `--clock` lets this machine's clock jump by up to 90 s.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.command import parser
from bench.faults import hosts
from bench.faults.cluster import Cluster
from bench.faults.decoys import Decoys
from bench.faults.invariants import DONE, Invariants
from bench.faults.scene import ENDS_WITHIN_S, WEIGHINGS, Command, Engine, Scene
from bench.faults.strikes import Strike, Striker
from tare.cli.signals import take_over

SOONEST_S, LATEST_S = 0.1, 12.0
"""Waiting time before a fault, log-uniform: all phases of a command are met."""
MOST_STRIKES = 5
TO_THE_END, CLEANED_NEXT = 0.08, 0.3
"""Shares of commands that are left to end, and that `tare clean` follows."""
WEIGHINGS_ALONE, WEIGHED_FIRST = 0.2, 0.15
"""Shares of commands that measure without a database, and of runs that may weigh first."""


class Campaign:
    """Begins runs, strikes them, checks and counts."""

    def __init__(self, invariants: Invariants, striker: Striker, draw: random.Random) -> None:
        self._invariants = invariants
        self._scene = invariants.scene
        self._striker = striker
        self._draw = draw
        self._number = 1
        self.commands: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.findings: list[dict[str, object]] = []

    @property
    def instants(self) -> int:
        """Faults that were done to something."""
        return sum(self.counts.values()) - self.counts["nothing"]

    def cycle(self, number: int) -> str:
        """One command, struck once or more, and what comes after it: in words."""
        before = self._invariants.left()
        command = self._begin()
        strikes: list[Strike] = []
        try:
            self._struck(command, strikes)
            if not command.wait_s(ENDS_WITHIN_S):
                self._find(number, command, strikes, ["it did not end"])
        finally:
            command.process.kill()
            command.process.wait()
        self._scene.engine.restart()
        self.statuses[command.process.returncode] += 1
        for strike in strikes:
            hit = f"{strike.kind}: {_class_of(strike)}"
            self.counts[hit if strike.hit else "nothing"] += 1
        self._find(number, command, strikes, self._invariants.after(command, strikes, before))
        if self._draw.random() < CLEANED_NEXT:
            self.clean(number, strikes)
        self._next_run(command)
        did = [f"{strike.kind} {strike.target}" for strike in strikes]
        what = command.name or "weighing"
        return f"{what}: {', '.join(did) or 'nothing'}: {command.process.returncode}"

    def _begin(self) -> Command:
        """A run, begun or resumed, or a weighing."""
        weighs = self._scene.weighs
        if weighs and self._draw.random() < WEIGHINGS_ALONE:
            words = self._draw.choice(WEIGHINGS)
            self.commands[f"tare {words[0]}"] += 1
            return self._scene.start(*words)
        weigh = weighs and self._draw.random() < WEIGHED_FIRST
        self.commands["tare run --weigh" if weigh else "tare run"] += 1
        return self._scene.run(self._number, weigh=weigh)

    def _struck(self, command: Command, strikes: list[Strike]) -> None:
        for _ in range(self._draw.randint(0, MOST_STRIKES)):
            if not command.wait_s(self._instant()):
                strikes.append(self._striker.strike(command))
        if self._draw.random() > TO_THE_END and not command.wait_s(self._instant()):
            strikes.append(self._striker.end(command))

    def _instant(self) -> float:
        return math.exp(self._draw.uniform(math.log(SOONEST_S), math.log(LATEST_S)))

    def clean(self, number: int, strikes: list[Strike]) -> None:
        """The next command is `tare clean`: it says so, nothing is left, and nothing of others
        is touched."""
        command = self._scene.start("clean")
        command.wait_s(ENDS_WITHIN_S)
        found = []
        if command.process.returncode != DONE:
            found.append(f"tare clean: {command.process.returncode}, {command.said()}")
        if left := self._invariants.left():
            found.append(f"left behind by tare clean: {left}")
        found += [f"of others: {change}" for change in self._invariants.decoys.changed()]
        self._find(number, command, strikes, found)

    def _next_run(self, command: Command) -> None:
        """A run that ended makes room for one of the other kind."""
        if not command.name:
            return
        run = self._scene.runs / command.name
        finished = any(e["event"] == "run finished" for e in self._scene.journal(command.name))
        if finished and (run / "report.html").is_file():
            self._invariants.forget(command.name)
            shutil.rmtree(run)
            self._number += 1

    def _find(self, number: int, command: Command, strikes: list[Strike], found: list[str]) -> None:
        for finding in found:
            self.findings.append(
                {
                    "cycle": number,
                    "finding": finding,
                    "strikes": [f"{s.kind}: {s.target} {s.seconds:.1f} s" for s in strikes],
                    "status": command.process.returncode,
                    "said": command.said()[-3000:],
                    "journal": self._scene.journal(command.name)[-6:] if command.name else [],
                }
            )
            print(f"\nFOUND in cycle {number}: {finding}", flush=True)


def _class_of(strike: Strike) -> str:
    return "by seconds" if strike.kind == "clock jump" else strike.target


def main() -> int:
    command = parser("bench.faults", __doc__)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument(
        "--instants", type=int, default=520, help="number of faults (default: 520)"
    )
    command.add_argument(
        "--kinds", default="", help="kinds of faults, comma-separated (default: all)"
    )
    command.add_argument(
        "--engine-command", default="", help="command that starts an engine, which may be killed"
    )
    where = command.add_mutually_exclusive_group()
    where.add_argument("--hosts", action="store_true", help="run studies on hosts over SSH")
    where.add_argument(
        "--kubernetes", action="store_true", help="run studies in pods of `make rig`"
    )
    command.add_argument("--clock", action="store_true", help="also let the machine's clock jump")
    command.add_argument("--out", type=Path, help="JSON file for the results")
    options = command.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background
    take_over()  # so that the engine, the disk and the decoys go, however it is ended
    draw = random.Random(options.seed)  # noqa: S311 a seed repeats it
    with (
        # Tens of gigabytes, which an error may not leave behind.
        tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as root,
        Engine(options.engine_command).running() as engine,
        hosts.made(options.hosts) as made,
    ):
        cluster = Cluster() if options.kubernetes else None
        scene = Scene(Path(root), engine=engine, hosts=made, cluster=cluster)
        scene.take_cache()
        others = Decoys(scene.runs, engine=engine.answers(), hosts=scene.hosts, cluster=cluster)
        with scene.disk(), others.standing() as decoys:
            kinds = set(filter(None, options.kinds.split(",")))
            striker = Striker(scene, draw, kinds, clock=options.clock)
            invariants = Invariants(scene, decoys, scene.ours())
            campaign = Campaign(invariants, striker, draw)
            print(f"not drawn here: {', '.join(striker.left_out) or 'nothing'}", flush=True)
            _cycles(campaign, options.instants)
            _clean_up(scene, campaign)
    _report(campaign, invariants, options)
    return 1 if campaign.findings else 0


def _cycles(campaign: Campaign, instants: int) -> None:
    """Until so many faults were done, or until it is interrupted, which is reported too."""
    number, began = 0, time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):
        while campaign.instants < instants:
            number += 1
            struck = campaign.cycle(number)
            minutes = (time.monotonic() - began) / 60
            print(
                f"{campaign.instants} instants in {number} commands, {minutes:.1f} min, "
                f"{len(campaign.findings)} findings; {struck}",
                flush=True,
            )


def _clean_up(scene: Scene, campaign: Campaign) -> None:
    """At the end nothing of the campaign's own stays, whatever it found."""
    scene.engine.restart()
    campaign.clean(campaign.commands.total(), [])
    if not campaign.findings:
        return
    print(f"what was found is in {scene.root}-findings.json", flush=True)
    (scene.root.parent / f"{scene.root.name}-findings.json").write_text(
        json.dumps(campaign.findings, indent=1), encoding="utf-8"
    )


def _report(campaign: Campaign, invariants: Invariants, options: argparse.Namespace) -> None:
    told = {
        "seed": options.seed,
        "instants": campaign.instants,
        "faults": dict(campaign.counts.most_common()),
        "commands": dict(campaign.commands.most_common()),
        "exit statuses": {str(status): n for status, n in sorted(campaign.statuses.items())},
        "operations accounted for": invariants.operations,
        "stops inside a trial, seen in its record": invariants.stops_seen,
        "findings": campaign.findings,
    }
    if options.out is not None:
        options.out.write_text(json.dumps(told, indent=1), encoding="utf-8")
    for name, value in told.items():
        if isinstance(value, dict):
            print(f"{name}:")
            for one, count in value.items():
                print(f"  {count:5d}  {one}")
        else:
            print(f"{name}: {len(value) if isinstance(value, list) else value}")


if __name__ == "__main__":
    sys.exit(main())
