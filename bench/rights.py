"""Does taking rights from a container change its measurements? Run as root; takes 15 minutes.

    python -m bench.rights

Runs bench/studies/rights.yaml. The databases of one of its two conditions start as Docker starts
them by default: as root, with the usual capabilities. The report compares the two conditions. At
the end, the command prints the rights of each database, and fails if the two sides do not differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.cli import app
from tare.runtimes import confinement
from tare.runtimes.docker import DockerRunning, DockerRuntime

if TYPE_CHECKING:
    from tare.runtimes.unit import Unit

STUDY = Path(__file__).with_name("studies") / "rights.yaml"
BY_DEFAULT, WITHOUT = "docker-default", "no-rights"
"""The level whose databases keep Docker's rights (it is part of their names), and the other."""


@dataclass(frozen=True)
class Rights:
    """A process's rights in the kernel: its effective user, and its capabilities as a set of bits
    (proc_pid_status(5))."""

    user: int
    capabilities: int

    @classmethod
    def of(cls, status: str) -> Rights:
        """From the text of /proc/PID/status."""
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        return cls(int(fields["Uid"].split()[1]), int(fields["CapEff"], 16))

    def __str__(self) -> str:
        return f"user {self.user}, capabilities {self.capabilities:016x}"


def keeps(unit: Unit) -> bool:
    """Whether the unit is a database that keeps Docker's rights."""
    return unit.role == "database" and BY_DEFAULT in unit.site.name


def kept(name: str, otherwise: object) -> None:
    """Make a rule of `confinement` return another value for units that keep their rights."""
    rule: Callable[..., Any] = getattr(confinement, name)

    def either(unit: Unit, *more: Any) -> Any:
        return otherwise if keeps(unit) else rule(unit, *more)

    setattr(confinement, name, either)


def watched(seen: dict[str, set[Rights]]) -> None:
    """Read each database's rights once it runs, by side."""
    launch = DockerRuntime.launch

    def seeing(runtime: DockerRuntime, unit: Unit) -> DockerRunning:
        running = launch(runtime, unit)
        if unit.role == "database":
            status = Path(f"/proc/{running.accounting().pid}/status").read_text(encoding="utf-8")
            seen[BY_DEFAULT if keeps(unit) else WITHOUT].add(Rights.of(status))
        return running

    DockerRuntime.launch = seeing  # type: ignore[method-assign]  # for this command alone


def doubts(seen: dict[str, set[Rights]]) -> list[str]:
    """Why the run does not compare containers with Docker's rights and containers without any."""
    found = [f"no database of {side} was started" for side, rights in seen.items() if not rights]
    found += [
        f"{BY_DEFAULT} does not keep Docker's rights: {one}"
        for one in seen[BY_DEFAULT]
        if one.user != 0 or one.capabilities == 0
    ]
    found += [
        f"{WITHOUT} has rights: {one}"
        for one in seen[WITHOUT]
        if one.user == 0 or one.capabilities != 0
    ]
    return found


def main() -> None:
    seen: dict[str, set[Rights]] = {BY_DEFAULT: set(), WITHOUT: set()}
    for name, otherwise in (("settings", {}), ("user_of", 0), ("identity", "0:0")):
        kept(name, otherwise)
    watched(seen)
    sys.argv = ["tare", "run", str(STUDY), "--no-weigh", *sys.argv[1:]]
    status: str | int | None = 0
    try:
        app.main()
    except SystemExit as ended:
        status = ended.code
    for side, rights in seen.items():
        print(f"{side}: {'; '.join(map(str, sorted(rights, key=str)))}")
    if found := doubts(seen):
        print("\n".join(found), file=sys.stderr)
        status = 1
    sys.exit(status)


if __name__ == "__main__":
    main()
