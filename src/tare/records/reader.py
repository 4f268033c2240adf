"""Reads a run directory: its trials, and lazily their series and histograms.

Records may be damaged, cut short or of another version. Records that cannot be used are named with
the reason and skipped; nothing here ends the reading of the rest.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import from_json

from tare.errors import RecordError
from tare.records.hlog import HistogramLog, read_hlog
from tare.records.layout import RunFiles, TrialFiles
from tare.records.manifest import FORMAT, ClientResult, TrialManifest
from tare.records.plan_file import read_left_out, read_slicing
from tare.records.samples import Samples, damaged, read_samples

if TYPE_CHECKING:
    from pathlib import Path


SHARED = ("levels", "setup", "units", "database", "warm_up")
"""Fields of a manifest that are mostly the same in all trials of a deployment."""


class ProgressInterval(NamedTuple):
    """One client's report of one interval of the measured part.

    Attributes:
        t: end of the interval, seconds since that client's measured part began.
        ops_per_s: successful operations per second.
        p99_us: 99th percentile of response time; None where nothing was answered.
    """

    client: str
    t: float
    ops_per_s: float
    p99_us: float | None


@dataclass(frozen=True)
class TrialRecord:
    """One complete trial directory; only its manifest has been read."""

    files: TrialFiles
    manifest: TrialManifest

    @property
    def name(self) -> str:
        """The directory's name: the trial's, with a suffix for a failed attempt."""
        return self.files.name

    @property
    def done(self) -> bool:
        return self.manifest.status == "done"

    def histograms(self, client: ClientResult) -> HistogramLog:
        """Read one client's histogram log.

        Raises:
            RecordError: it is missing or unreadable as a whole.
        """
        return read_hlog(self.files.hlog(client.hlog))

    def samples(self) -> Samples:
        """The sampler's series.

        Raises:
            RecordError: the file is missing or not what it should be.
        """
        return read_samples(self.files.samples)

    def progress(self) -> tuple[list[ProgressInterval], list[str]]:
        """The clients' intervals of the measured part, and a sentence per unreadable line.

        Raises:
            RecordError: the file is missing or unreadable as a whole.
        """
        return _read_progress(self.files.progress)


@dataclass(frozen=True)
class Damage:
    """A trial directory that cannot be used."""

    trial: str
    reason: str


@dataclass(frozen=True)
class Run:
    """One run directory: trials that can be used and those that cannot."""

    files: RunFiles
    trials: list[TrialRecord]
    damaged: list[Damage]

    @property
    def name(self) -> str:
        return self.files.root.resolve().name

    def environment(self) -> dict[str, Any]:
        """Facts of the machine and software that made the run; empty if there is no such record."""
        try:
            facts = json.loads(self.files.environment.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return facts if isinstance(facts, dict) else {}

    def left_out(self) -> dict[str, tuple[str, str]]:
        """Condition that the plan left out to the reason and the remedy."""
        return read_left_out(self.files.plan)

    def slicing(self) -> dict[str, Any]:
        """Why the plan has slices or one piece; empty where it does not say."""
        return read_slicing(self.files.plan)

    def skipped_files(self) -> list[str]:
        """Files that imports into this run did not use, each with its reason."""
        entries = [one for one in _list(self.environment().get("imports")) if isinstance(one, dict)]
        skipped = [_list(one.get("skipped")) for one in entries]
        return [str(reason) for reasons in skipped for reason in reasons]


def read_run(directory: Path) -> Run:
    """Read all manifests of a run.

    Raises:
        RecordError: the directory is not a run's.
    """
    files = RunFiles(directory)
    trials: list[TrialRecord] = []
    damaged: list[Damage] = []
    alike: dict[tuple[str, str], Any] = {}
    for place in files.finished():
        try:
            trials.append(read_record(place))
            _share(trials[-1].manifest, alike)
        except RecordError as error:
            damaged.append(Damage(place.name, error.why or error.what))
    return Run(files, trials, damaged)


def _share(manifest: TrialManifest, alike: dict[tuple[str, str], Any]) -> None:
    """Let trials of one deployment share their common fields: most of a manifest."""
    for name in SHARED:
        own = getattr(manifest, name)
        kept = alike.setdefault((manifest.deployment, name), own)
        if kept is not own and kept == own:
            setattr(manifest, name, kept)


def read_record(files: TrialFiles) -> TrialRecord:
    """Read one trial's manifest.

    Raises:
        RecordError: it is missing, damaged, of another format or of another trial.
    """
    return TrialRecord(files, _read_manifest(files))


def _read_manifest(files: TrialFiles) -> TrialManifest:
    try:
        text = files.manifest.read_text(encoding="utf-8")
        manifest = TrialManifest.model_validate_json(text)
    except OSError as error:
        raise damaged(files.manifest, "manifest.json cannot be read") from error
    except UnicodeDecodeError as error:
        raise damaged(files.manifest, "manifest.json is not UTF-8 text") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        reason = f"manifest.json: {place + ': ' if place else ''}{first['msg']}"
        raise damaged(files.manifest, reason) from error
    if manifest.format != FORMAT:
        reason = f"manifest.json is of format {manifest.format}, this version reads {FORMAT}"
        raise damaged(files.manifest, reason)
    if manifest.trial != files.trial:
        reason = f"manifest.json belongs to trial {manifest.trial!r}"
        raise damaged(files.manifest, reason)
    return manifest


def _read_progress(path: Path) -> tuple[list[ProgressInterval], list[str]]:
    intervals: list[ProgressInterval] = []
    damage: list[str] = []
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    interval = _measured_interval(_parsed(line))
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                    damage.append(f"{path.name}:{number}: unreadable line")
                    continue
                if interval is not None:
                    intervals.append(interval)
    except OSError as error:
        raise damaged(path, "progress.jsonl cannot be read") from error
    return intervals, damage


def _parsed(line: str) -> Any:
    """The quick parser's result; it refuses a little more than the usual parser."""
    try:
        return from_json(line)
    except ValueError:
        return json.loads(line)


def _measured_interval(event: dict[str, Any]) -> ProgressInterval | None:
    if event.get("event") != "interval" or event.get("phase") != "measure":
        return None
    ops_per_s = float(event["ops_per_s"])
    p99 = float(event.get("p99_us") or 0.0)
    t = float(event["t"])
    if not (math.isfinite(t) and math.isfinite(ops_per_s)):
        raise ValueError("not finite")
    client = str(event.get("client", ""))
    return ProgressInterval(client, t, ops_per_s, p99 if 0 < p99 < math.inf else None)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
