"""The paths of the files in a run directory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.errors import RecordError

if TYPE_CHECKING:
    from pathlib import Path

UNFINISHED = "."
"""Prefix of directories of trials that are still being written."""
FAILED = ".failed-"
"""Between the trial's name and the attempt's number in the directory of a failed attempt."""


@dataclass(frozen=True)
class TrialFiles:
    """The files of one trial."""

    root: Path

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def trial(self) -> str:
        """The trial's name; a failed attempt's directory has a suffix of its own."""
        return self.root.name.partition(FAILED)[0]

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.json"

    @property
    def samples(self) -> Path:
        return self.root / "samples.parquet"

    @property
    def progress(self) -> Path:
        return self.root / "progress.jsonl"

    @property
    def events(self) -> Path:
        """Events inside the database: compactions, garbage collections."""
        return self.root / "events.jsonl"

    @property
    def slices(self) -> Path:
        """One line for each measured slice; absent where it was measured in one piece."""
        return self.root / "slices.jsonl"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    def present(self) -> list[str]:
        """The existing record files, as paths inside the run directory, sorted."""
        try:
            names = sorted(e.name for e in self.root.iterdir() if e.is_file())
        except OSError:
            return []
        parent = self.root.parent.name
        return [f"{parent}/{self.name}/{name}" for name in names if name[0] != UNFINISHED]

    def hlog(self, name: str) -> Path:
        """A client's histogram log, by the file name that its manifest gives.

        Raises:
            RecordError: the name leads out of the trial's directory.
        """
        if not name or "/" in name or "\\" in name or name.startswith("."):
            raise RecordError(
                "the manifest names a histogram log outside of its trial",
                where=str(self.manifest),
                why=f"hlog is {name!r}; a plain file name is expected",
                remedy="remove this trial's directory and run the study again to repeat it",
            )
        return self.root / name


@dataclass(frozen=True)
class RunFiles:
    """The files of one run."""

    root: Path

    @property
    def study(self) -> Path:
        return self.root / "study.yaml"

    @property
    def source(self) -> Path:
        """The study's file as its author wrote it; absent where other tools measured."""
        return self.root / "study.source.yaml"

    @property
    def plan(self) -> Path:
        return self.root / "plan.json"

    @property
    def journal(self) -> Path:
        return self.root / "journal.jsonl"

    @property
    def environment(self) -> Path:
        """Facts of the machine and the software that made the run."""
        return self.root / "environment.json"

    @property
    def maxima(self) -> Path:
        """The maxima found for loads that refer to them; absent where none does."""
        return self.root / "maxima.json"

    @property
    def looks(self) -> Path:
        """The looks at the run before and at its end; absent where none was planned before."""
        return self.root / "looks.json"

    @property
    def prices(self) -> Path:
        """The costs of ways to a server here, without a database; absent unless weighed."""
        return self.root / "prices.json"

    @property
    def working_prices(self) -> Path:
        """The same to servers that work for each request; absent unless weighed."""
        return self.root / "prices-working.json"

    @property
    def trials(self) -> Path:
        return self.root / "trials"

    @property
    def report(self) -> Path:
        return self.root / "report.html"

    def trial(self, name: str) -> TrialFiles:
        """The files of the trial with this directory name."""
        return TrialFiles(self.trials / name)

    def finished(self) -> list[TrialFiles]:
        """Every trial directory under its final name, sorted by name.

        Raises:
            RecordError: this is no run directory.
        """
        if not self.study.is_file():
            raise RecordError(
                "this is not the directory of a run",
                where=str(self.root),
                why="it holds no study.yaml",
                remedy="name the directory that `tare run` printed, runs/NAME",
            )
        if not self.trials.is_dir():
            return []
        with os.scandir(self.trials) as entries:
            names = [e.name for e in entries if e.is_dir() and not e.name.startswith(UNFINISHED)]
        return [TrialFiles(self.trials / name) for name in sorted(names)]
