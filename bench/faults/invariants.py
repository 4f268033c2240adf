"""Invariants that must hold after every fault."""

from __future__ import annotations

import hashlib
import json
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.faults.decoys import Decoys
from bench.faults.ours import Seen
from bench.faults.scene import Command, Scene
from bench.faults.strikes import CLIENT, SERVING, Strike
from tare.records.hlog import read_hlog

DONE, FAILED, NOT_VALID, INTERRUPTED = 0, 1, 3, 130
EARLY = (-signal.SIGHUP, -signal.SIGINT, -signal.SIGTERM)
TIMED = "-rt"
"""Tag of response times in histogram logs."""
SEEN_SHARE = 0.8
"""So much of a stop must be in the longest response time: the last answers before it keep a client
busy, which then asks anew."""
NEW_EACH_TIME = {"processes", "containers", "networks", "groups", "temporary", "mounts"}
NEW_EACH_TIME |= {"host processes", "namespaces"}
"""Kinds whose names a resumed run does not give again."""
OF_ENGINE = ("containers", "networks", "volumes")
"""What an engine that is dead or silent cannot be asked to remove."""
LEFT, NOT_SEEN = "something was left", "could not look "
"""What a command says where it could not remove something, or not look for it."""
WEIGHED = "round 1 of "
"""What a weighing says once it has swept: everything but the directories of runs."""


@dataclass
class Invariants:
    """Checks a scene after each command, and remembers what it saw before.

    Attributes:
        trials: finished trials that were seen, by path.
        operations: that trials which say "done" accounted for.
        stops_seen: stops inside the measured part of a trial in one piece, found in its record.
    """

    scene: Scene
    decoys: Decoys
    baseline: Seen
    trials: dict[str, dict[str, str]] = field(default_factory=dict)
    operations: int = 0
    stops_seen: int = 0
    _journals: dict[Path, bytes] = field(default_factory=dict)

    def left(self) -> Seen:
        """What is Tare's on this machine now."""
        return self.scene.ours().without(self.baseline)

    def after(self, command: Command, strikes: list[Strike], before: Seen) -> list[str]:
        """Broken promises, a sentence each.

        Args:
            command: that has ended.
            strikes: faults that were done to it.
            before: what an earlier command had left when it began.
        """
        found = [finding for strike in strikes for finding in strike.findings]
        found += self._ended(command, strikes)
        found += [f"of others: {change}" for change in self.decoys.changed()]
        found += self._trials(strikes)
        found += self._appended()
        found += self._left(command, strikes, before)
        return found

    def _left(self, command: Command, strikes: list[Strike], before: Seen) -> list[str]:
        """A command that ended by itself leaves nothing; one that was killed nothing of others."""
        left, may_stay = self.left(), self._may_stay(command, before)
        if any(strike.kind in ("engine killed", "engine silent") for strike in strikes):
            for kind in OF_ENGINE:
                left.kinds.pop(kind, None)
        for kind in _hidden(command, strikes):
            left.kinds.pop(kind, None)
        if any(strike.kind == "read-only disk" for strike in strikes):
            left.kinds.pop("directories", None)  # the next command may remove them
        if command.process.returncode in (DONE, FAILED, NOT_VALID, INTERRUPTED):
            own = left.without(may_stay)
            return [f"left behind by a command that ended by itself: {own}"] if own else []
        earlier = left.both(before).without(may_stay).kinds
        same = {kind: names for kind, names in earlier.items() if kind in NEW_EACH_TIME}
        return [f"of an earlier run, and not removed by this one: {Seen(same)}"] if same else []

    def _may_stay(self, command: Command, before: Seen) -> Seen:
        """What was left before that this command cannot have removed yet, by how far it got."""
        new = self.scene.journal(command.name)[command.events_before :] if command.name else []
        if any(event["event"] == "deployment begun" for event in new):
            return Seen()
        if WEIGHED in command.said():
            return Seen({"directories": before.kinds.get("directories", set())})
        return before

    def _ended(self, command: Command, strikes: list[Strike]) -> list[str]:
        status, said = command.process.returncode, command.said()
        allowed = {DONE, NOT_VALID}.union(*(strike.statuses for strike in strikes))
        if any(strike.hit for strike in strikes):
            allowed.add(FAILED)
        found = []
        late = status in EARLY and said  # before the first word nothing catches a signal yet
        if status not in allowed or late:
            found.append(f"exit status {status}, and {sorted(allowed)} are documented: {said}")
        if "Traceback" in said:
            found.append(f"a traceback: {said}")
        return found

    def _trials(self, strikes: list[Strike]) -> list[str]:
        found, now = [], {}
        for trial in sorted(self.scene.runs.glob("r*/trials/[!.]*")):
            name = str(trial.relative_to(self.scene.runs))
            now[name] = {
                str(file.relative_to(trial)): hashlib.sha256(file.read_bytes()).hexdigest()
                for file in sorted(trial.rglob("*"))
                if file.is_file()
            }
            if name not in self.trials:
                found += [f"{name}: {broken}" for broken in self._accounts(trial, strikes)]
        for name, files in self.trials.items():
            if now.get(name) != files:
                found.append(f"{name} was finished, and is not as it was: {now.get(name)}")
        self.trials = now
        return found

    def forget(self, run: str) -> None:
        """A run that has ended is removed, so that the disk does not fill by itself."""
        self.trials = {n: f for n, f in self.trials.items() if not n.startswith(f"{run}/")}
        self._journals = {p: j for p, j in self._journals.items() if p.parent.name != run}

    def _accounts(self, trial: Path, strikes: list[Strike]) -> list[str]:
        """Whether every operation of a trial that says "done" is in all its records."""
        manifest = json.loads((trial / "manifest.json").read_text(encoding="utf-8"))
        if manifest["status"] != "done":
            return [] if manifest["reason"] else ["it failed without a reason"]
        found, slowest_us = [], [0.0]
        for client in manifest["clients"]:
            for count in ("ok", "errors", "under_way"):
                summed = sum(one[count] for one in client["operations"])
                if summed != client[count]:
                    found.append(f"{client['client']}: {count} is {client[count]}, not {summed}")
            log = read_hlog(trial / client["hlog"])
            responses = [part for tag, part in log.totals.items() if tag.endswith(TIMED)]
            slowest_us += [us for part in responses for us in part.quantiles_us([100.0])]
            timed = sum(part.total for part in responses)
            if log.damage or timed != client["ok"] + client["under_way"]:
                found.append(f"{client['client']}: {timed} latencies, {client}, {log.damage}")
            self.operations += client["ok"] + client["errors"] + client["under_way"]
        return found + self._unseen_stops(manifest, max(slowest_us) / 1e6, strikes)

    def _unseen_stops(
        self, manifest: dict[str, Any], slowest_s: float, strikes: list[Strike]
    ) -> list[str]:
        """What stood still in the middle of a trial must be in its longest response time: the
        client, the driven node, the proxy before it."""
        jumped = any(strike.kind == "clock jump" for strike in strikes)
        if manifest.get("slices") is not None or jumped:
            return []
        serving = SERVING[manifest["condition"] == "native"]
        driven = {manifest["deployment"].lower(), *(unit["machine"] for unit in manifest["units"])}
        gap_s = max(client["longest_gap_s"] or 0.0 for client in manifest["clients"])
        found = []
        for strike in strikes:
            inside = (
                manifest["measure_start"] < strike.at
                and strike.at + strike.seconds < manifest["measure_end"]
            )
            struck = strike.kind == "stop" and strike.target in serving
            if inside and (struck or strike.subjects & driven):
                # a client may stand still between an answer and what it asks then
                shown_s = max(slowest_s, gap_s) if strike.target == CLIENT else slowest_s
                self.stops_seen += 1
                if shown_s < SEEN_SHARE * strike.seconds:
                    found.append(f"{strike.target} stood still {strike.seconds} s, not {shown_s} s")
        return found

    def _appended(self) -> list[str]:
        """Journals only grow, but for a last line that was cut off."""
        found = []
        for path in self.scene.runs.glob("r*/journal.jsonl"):
            now = path.read_bytes()
            before = self._journals.get(path, b"")
            whole = before[: before.rfind(b"\n") + 1]
            if not now.startswith(whole):
                found.append(f"{path.parent.name}: the journal lost lines")
            self._journals[path] = now
        return found


def _hidden(command: Command, strikes: list[Strike]) -> frozenset[str]:
    """Kinds of which something may be left: out of reach for a fault, which the command says."""
    said = command.said()
    if LEFT not in said and NOT_SEEN not in said:
        return frozenset()
    return frozenset().union(*(strike.hides for strike in strikes))
