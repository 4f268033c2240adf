"""Load clients: launches load generators as units, reads their progress, checks their results."""

from __future__ import annotations

import contextlib
import json
import queue
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tare.errors import LoadError, TareError
from tare.records.manifest import ClientResult
from tare.runtimes.poll import AT_MOST_EVERY_S
from tare.runtimes.unit import Bits, Running, Runtime, Unit
from tare.study.schema import Client

SPECIFICATION = "load.json"


@dataclass(frozen=True)
class ClientInstallation:
    """Where a runtime's clients find the load generator."""

    binary: str
    bits: Bits
    words: tuple[str, ...] = ("run",)
    """arguments after the binary, before ``--spec FILE``"""
    tool: Mapping[str, Any] | None = None
    """of another tool: its name, version and command, as `tare.load.tools.drive` takes them"""


class LoadClient:
    """One load generator's process or container."""

    def __init__(
        self,
        name: str,
        unit_name: str,
        runtime: Runtime,
        installation: ClientInstallation,
        settings: Client,
        group: str,
        cluster: int = 0,
        part: int = 0,
        of: int = 1,
        netns: str = "",
    ) -> None:
        """Decide where the client will run.

        Args:
            name: c1, c2, ... as the records name it.
            unit_name: unique within the run.
            runtime: how it runs.
            installation: where its binary is, and what it is.
            settings: the study's `client` section.
            group: network group that it joins when its network is a bridge: its cluster's name.
            cluster: number of the cluster that it loads, from 0.
            part, of: its number, from 0, among the clients that share this cluster's load.
            netns: path of the network namespace that it joins; empty: only its runtime's.
        """
        self.cluster = cluster
        self.part = part
        self.of = of
        self.name = name
        self._runtime = runtime
        self._installation = installation
        self._settings = settings
        self._netns = netns
        self.site = runtime.site(
            unit_name,
            role="client",
            network=settings.network,
            storage="directory",
            group=group,
        )
        self.running: Running | None = None

    @property
    def head_start_s(self) -> float:
        """How long it may take from its launch until it can begin, seconds."""
        return self._runtime.head_start_s

    @property
    def hlog(self) -> str:
        """Path of the histogram log as the client sees it."""
        return f"{self.site.conf}/latency-{self.name}.hlog"

    @property
    def hlog_on_host(self) -> Path:
        return self.site.conf_on_host / f"latency-{self.name}.hlog"

    def launch(self, specification: dict[str, Any]) -> None:
        if self._installation.tool is not None:
            specification = {**specification, "tool": dict(self._installation.tool)}
        file = self.site.conf_on_host / SPECIFICATION
        file.write_text(json.dumps(specification, indent=1), encoding="utf-8")
        self.running = self._runtime.launch(
            Unit(
                site=self.site,
                role="client",
                command=[
                    self._installation.binary,
                    *self._installation.words,
                    "--spec",
                    f"{self.site.conf}/{SPECIFICATION}",
                ],
                environment={},
                limits=self._settings.limits,
                bits=self._installation.bits,
                netns=self._netns,
            )
        )

    def keep_histogram(self, aside: Path) -> None:
        """Copy the histogram log that it left into a directory.

        Raises:
            LoadError: there is none, or it did not get here.
        """
        try:
            shutil.copyfile(self.hlog_on_host, aside / self.hlog_on_host.name)
        except OSError as error:
            raise LoadError(
                "a load client's histograms are not there",
                where=self.site.name,
                why=str(error),
                remedy="see its stderr.log in the trial's logs directory, and the free disk",
            ) from error

    def discard(self) -> None:
        """Stop the client and remove its working directory; copy what is to be kept before."""
        if self.running is not None:
            self.running.stop()
        shutil.rmtree(self.site.conf_on_host.parent, ignore_errors=True)


@dataclass(frozen=True)
class ProgressLine:
    """One line of progress from one client; `event` is None for the end of its output."""

    client: LoadClient
    event: dict[str, Any] | None


_LOOK_AGAIN_S = 0.2
_LOOKS = round(2.5 * AT_MOST_EVERY_S / _LOOK_AGAIN_S)
"""how often, and how long apart, nodes are checked before a client is blamed; an orchestrator is
polled twice meanwhile, and has time to learn of a node's death"""
SILENCE_S = 30.0
"""a client reports every second; one that is silent for this long hangs"""


def progress(
    clients: list[LoadClient],
    check: Callable[[], None],
    every_s: float = 1.0,
    silence_s: float = SILENCE_S,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[ProgressLine]:
    """Progress lines of all clients, as they come, until every client has ended.

    Args:
        clients: launched clients.
        check: called about every `every_s` seconds; what it raises ends the iteration.
        every_s: seconds between checks.
        silence_s: seconds without output of any client after which all are given up.
        pause: waits for a number of seconds.

    Raises:
        LoadError: a client reported an error, went silent, or its output is not tare-load's.
    """
    lines: queue.Queue[ProgressLine | TareError] = queue.Queue()
    for client in clients:
        threading.Thread(target=_read, args=(client, lines), daemon=True).start()
    open_clients, silent = len(clients), 0.0
    ended_well: list[LoadClient] = []
    while open_clients:
        try:
            line = lines.get(timeout=every_s)
        except queue.Empty:
            check()
            silent += every_s
            if silent >= silence_s:
                raise LoadError(
                    f"no word from the load client for {silence_s:.0f} s",
                    where=", ".join(client.site.name for client in clients),
                    why="it hangs, or the cluster answers nothing at all",
                    remedy="see its stderr.log and the nodes' system.log in the logs directory",
                ) from None
            continue
        silent = 0.0
        if isinstance(line, TareError):
            await_better_reason(check, pause)
            raise line
        if line.event is None:
            open_clients -= 1
            if line.client not in ended_well:
                await_better_reason(check, pause)
        elif line.event.get("event") == "result":
            ended_well.append(line.client)
        elif line.event.get("event") == "interval":
            check()
        yield line


def await_better_reason(
    check: Callable[[], None], pause: Callable[[float], None] = time.sleep
) -> None:
    """Raise what `check` finds: a node's death is a better reason than its consequences.

    A process that dies first closes its connections and only then shows as ended, so the clients
    know of it before Tare. Its control group, too, may be gone before its orchestrator says so.
    """
    for _ in range(_LOOKS):
        check()
        pause(_LOOK_AGAIN_S)
    check()


def _read(client: LoadClient, lines: queue.Queue[ProgressLine | TareError]) -> None:
    try:
        for text in client.running.lines() if client.running else ():
            if not text.strip():
                continue
            event = json.loads(text)
            if event.get("event") == "error":
                lines.put(
                    LoadError(
                        str(event.get("what", "the load client failed")),
                        where=client.site.name,
                        why=str(event.get("why", "")),
                    )
                )
                return
            lines.put(ProgressLine(client, event))
        lines.put(ProgressLine(client, None))
    except json.JSONDecodeError as error:
        lines.put(LoadError("unreadable progress", where=client.site.name, why=str(error)))
    except TareError as error:
        lines.put(error)
    except (OSError, ValueError) as error:  # the pipe was closed by stop()
        lines.put(
            LoadError("the client's output ended early", where=client.site.name, why=str(error))
        )


def result_of(client: LoadClient, event: dict[str, Any] | None) -> ClientResult:
    """The client's final report as a record.

    Raises:
        LoadError: the client ended without a report (it crashed), or is not of this version.
    """
    if event is None:
        ended = client.running.exited() if client.running else None
        raise LoadError(
            "a load client ended without a result",
            where=client.site.name,
            why=ended.detail if ended else "it is still running",
            remedy="see its stderr.log in the trial's logs directory",
        )
    fields = {k: v for k, v in event.items() if k in ClientResult.model_fields}
    fields["hlog"] = client.hlog_on_host.name
    with contextlib.suppress(KeyError, TypeError):  # what is missing is reported below
        fields["start_unix"] -= client.site.clock.ahead_s  # records have one clock, this machine's
    try:
        return ClientResult.model_validate(fields)
    except ValidationError as error:
        raise LoadError(
            "a load client's result is not of this version", where=client.site.name, why=str(error)
        ) from error
