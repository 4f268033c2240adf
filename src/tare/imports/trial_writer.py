"""Trials written as records: a directory gets its final name only when it is complete."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.imports.file_content import UnreadableError
from tare.imports.machine_series import append_samples, iso
from tare.records.layout import UNFINISHED
from tare.records.manifest import ImportSource, SourceFile, TrialManifest, unmeasured
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tare.imports.file_content import FileReading
    from tare.imports.trial_identity import TrialPlace
    from tare.records.layout import RunFiles, TrialFiles

CLIENT = "c1"
HISTOGRAMS = "latency-{number}.hlog"
HLOG_HEAD = "#[Imported histogram log]\n#[Histogram log format version 1.3]\n"
PARTIAL = ".partial"


@dataclass
class FromFile:
    """One file's part of a trial."""

    reading: FileReading
    source: SourceFile


def source_file(label: str, data: bytes, tool: str, scope: str = "") -> SourceFile:
    """The file as named in manifests."""
    digest = hashlib.sha256(data).hexdigest()
    return SourceFile(path=label, bytes=len(data), sha256=digest, tool=tool, scope=scope)


@dataclass
class ImportedTrial:
    """One trial to be written, from one or several files.

    Attributes:
        named: its repetition has a name, and `block` is the number assigned to it.
    """

    place: TrialPlace
    block: int
    parts: list[FromFile] = field(default_factory=list)
    named: bool = False

    @property
    def name(self) -> str:
        return f"D{self.place.round}-B{self.block:02}-{self.place.condition.name}"


def write_trial(files: RunFiles, trial: ImportedTrial, fresh: str, position: int) -> None:
    """Write the trial's directory under another name, then rename it.

    Args:
        fresh: design.fresh of the study, which decides which trials share a deployment.
        position: 1-based place among the block's trials.

    Raises:
        OSError: the run's directory cannot be written.
    """
    final = files.trial(trial.name)
    aside = files.trials / f"{UNFINISHED}{trial.name}{PARTIAL}"
    if aside.exists():
        shutil.rmtree(aside)
    aside.mkdir(parents=True)
    manifest = _manifest(files, trial, fresh, position)
    intervals = [one for part in trial.parts for one in part.reading.intervals]
    if intervals:
        lines = [
            json.dumps(
                {"event": "interval", "phase": "measure", "client": CLIENT, "t": one.t,
                 "ops_per_s": one.ops_per_s, "p99_us": one.p99_us}
            )
            for one in intervals
        ]  # fmt: skip
        (aside / "progress.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for part in trial.parts:
        if part.reading.histograms:
            name = HISTOGRAMS.format(number=len(manifest.histograms) + 1)
            text = HLOG_HEAD + "\n".join(part.reading.histograms) + "\n"
            (aside / name).write_text(text, encoding="utf-8")
            manifest.histograms.append(name)
            manifest.histogram_tick_ns = part.reading.tick_ns
    text = manifest.model_dump_json(exclude_defaults=False)
    (aside / "manifest.json").write_text(text + "\n", encoding="utf-8")
    aside.rename(final.root)


def _manifest(files: RunFiles, trial: ImportedTrial, fresh: str, position: int) -> TrialManifest:
    place, condition = trial.place, trial.place.condition
    readings = [part.reading for part in trial.parts]
    started = next((one.started for one in readings if one.started is not None), None)
    seconds = next((one.seconds for one in readings if one.seconds is not None), 0.0)
    begin = started if started is not None else 0.0
    kinds: dict[str, int] = {}
    for one in readings:
        kinds |= one.errors_by_kind
    return TrialManifest(
        run=files.root.name,
        trial=trial.name,
        status="done",
        condition=condition.name,
        levels=condition.levels,
        round=place.round,
        block=trial.block,
        position=position,
        deployment=_deployment(trial, fresh),
        started="" if started is None else iso(started),
        ended="" if started is None else iso(started + seconds),
        measure_start=begin,
        measure_end=begin + seconds,
        setup=condition.setup.model_dump(mode="json"),
        **unmeasured(),
        source=ImportSource(
            tool=trial.parts[0].source.tool,
            files=[part.source for part in trial.parts],
            told=_facts(readings),
        ),
        reported={name: value for one in readings for name, value in one.values.items()},
        operations=next((one.operations for one in readings if one.operations is not None), None),
        errors_by_kind=kinds,
        notes=list(dict.fromkeys(note for one in readings for note in one.notes)),
    )


def _facts(readings: Iterable[FileReading]) -> dict[str, str]:
    """Facts on the tool and its load in the trial's files."""
    kept = ("threads", "concurrency", "rate", "consistency")
    told: dict[str, str] = {}
    for one in readings:
        told |= one.told | {name: one.facts[name] for name in kept if name in one.facts}
    return told


def _deployment(trial: ImportedTrial, fresh: str) -> str:
    """The life of a cluster that served the trial, as far as the study's design shows."""
    key = trial.place.condition.deployment
    if fresh == "deployment":
        return f"D{trial.place.round}-{key}"
    if fresh == "block":
        return f"D{trial.place.round}-B{trial.block:02}-{key}"
    return trial.name


def add_series(files: TrialFiles, manifest: TrialManifest, part: FromFile) -> None:
    """Add a machine's series to an existing trial: the samples first, then the manifest.

    A crash between the two leaves samples that the manifest does not name; adding the same file
    again adds the name.

    Raises:
        UnreadableError: the trial has this series already, or the series is of another time.
        OSError: the trial's directory cannot be written.
    """
    append_samples(files.samples, manifest, part.reading, part.source.scope)
    _replace(files.manifest, manifest, part)


def add_histograms(files: TrialFiles, manifest: TrialManifest, part: FromFile) -> None:
    """Add histogram logs to an existing trial.

    Raises:
        UnreadableError: their unit differs from the trial's.
        OSError: the trial's directory cannot be written.
    """
    if manifest.histograms and manifest.histogram_tick_ns != part.reading.tick_ns:
        raise UnreadableError("the trial's other histograms are in another unit")
    name = HISTOGRAMS.format(number=len(manifest.histograms) + 1)
    text = HLOG_HEAD + "\n".join(part.reading.histograms) + "\n"
    replace_file(files.root / name, text)
    manifest.histograms.append(name)
    manifest.histogram_tick_ns = part.reading.tick_ns
    _replace(files.manifest, manifest, part)


def _replace(path: Path, manifest: TrialManifest, part: FromFile) -> None:
    if manifest.source is not None:
        manifest.source.files.append(part.source)
    manifest.notes += [note for note in part.reading.notes if note not in manifest.notes]
    replace_file(path, manifest.model_dump_json() + "\n")


def already(manifest: TrialManifest, part: FromFile) -> bool:
    """Whether the trial has this tool's series of this machine, or histograms of these tags."""
    files = manifest.source.files if manifest.source is not None else []
    new = set(part.source.scope.split())
    return any(one.tool == part.source.tool and new & set(one.scope.split()) for one in files)
