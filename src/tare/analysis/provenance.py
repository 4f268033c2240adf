"""Provenance of a result: software, machine, bits, commands, seed and times."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import tare
from tare.analysis.stated_database import NOT_SAID, stated_database
from tare.study.design import OFF
from tare.study.said import said_only, said_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from tare.analysis.trials import Trial
    from tare.records.manifest import TrialManifest, UnitRecord
    from tare.study.schema import Study

MACHINE_FACTS = ("kernel", "clock source", "transparent huge pages", "file system")


def provenance(
    study: Study,
    study_file: Path,
    environment: dict[str, Any],
    trials: Sequence[Trial],
    slicing: Mapping[str, Any],
) -> dict[str, Any]:
    """Sections of facts, as recorded; the machine that analyses is not asked.

    Args:
        environment: what the lab recorded of the machine and its software.
        slicing: why the plan has slices or one piece.
    """
    manifests = [trial.manifest for trial in trials]
    examples = _first_per_condition(manifests)
    return {
        "software": _software(manifests),
        "sources": _sources(manifests),
        "told by the files": _facts_of_files(examples),
        "environment": environment,
        "machine": _machine(manifests),
        "database": _database(manifests),
        "study": {
            "name": study.study,
            "digest": "sha256:" + hashlib.sha256(study_file.read_bytes()).hexdigest(),
            **({"scale": study.scale} if study.scale else {}),
            **(
                {"only": {f: list(levels) for f, levels in study.only.items()}}
                if study.only
                else {}
            ),
            "seed": study.design.seed,
            "design": study.design.model_dump(mode="json") | {"slice": study.design.slice_s or OFF},
            **({"slicing": dict(slicing)} if slicing else {}),
            "margins": dict(study.margins),
        },
        "times": _times(manifests),
        "bits": _per_condition(examples, lambda unit: unit.bits),
        "images": _per_condition(examples, lambda unit: unit.image),
        "commands": _per_condition(examples, lambda unit: unit.command),
        "limits": _per_condition(examples, lambda unit: unit.limits),
        "paths": _per_condition(examples, lambda unit: unit.path),
        "settings": {manifest.condition: _settings(manifest, study) for manifest in examples},
    }


def _settings(manifest: TrialManifest, study: Study) -> dict[str, Any]:
    """The condition's document. For an imported trial it holds what the study's file says, because
    nobody stated a default."""
    source, setup = manifest.source, manifest.setup
    if source is None:
        return setup
    found = said_only(setup, said_paths(study, manifest.levels))
    kind = str(setup.get("database", {}).get("kind", ""))
    database = stated_database(study, manifest.levels, kind, source) or NOT_SAID
    return found | {"database": {**found.get("database", {}), "kind": database}}


def _first_per_condition(manifests: Iterable[TrialManifest]) -> list[TrialManifest]:
    """One trial of each condition as its example, a successful one where there is one."""
    examples: dict[str, TrialManifest] = {}
    for manifest in sorted(manifests, key=lambda m: m.status != "done"):
        examples.setdefault(manifest.condition, manifest)
    return list(examples.values())


def _per_condition(
    examples: Iterable[TrialManifest], fact: Callable[[UnitRecord], Any]
) -> dict[str, dict[str, Any]]:
    """Condition to unit name to a fact, without those that are empty."""
    return {
        manifest.condition: {unit.name: fact(unit) for unit in manifest.units if fact(unit)}
        for manifest in examples
    }


def _software(manifests: Iterable[TrialManifest]) -> dict[str, Any]:
    versions = {client.version for manifest in manifests for client in manifest.clients}
    return {"tare": tare.__version__, "load client": sorted(versions)}


def _sources(manifests: Iterable[TrialManifest]) -> dict[str, int]:
    """Tool to the number of its files that were imported; empty: Tare measured everything."""
    found: dict[str, set[str]] = {}
    for manifest in manifests:
        if manifest.source is not None:
            files = {file.path for file in manifest.source.files}
            found.setdefault(manifest.source.tool, set()).update(files)
    return {tool: len(files) for tool, files in sorted(found.items())}


def _facts_of_files(examples: Iterable[TrialManifest]) -> dict[str, dict[str, str]]:
    """For imported trials: condition to the facts on tool and load in one of its files."""
    return {
        manifest.condition: dict(manifest.source.told)
        for manifest in examples
        if manifest.source is not None and manifest.source.told
    }


def _machine(manifests: Iterable[TrialManifest]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for manifest in manifests:
        for unit in manifest.units:
            if unit.role == "database":
                for fact in MACHINE_FACTS:
                    if fact in unit.parity:
                        found.setdefault(fact, set()).add(unit.parity[fact])
    return {fact: sorted(found[fact]) for fact in MACHINE_FACTS if fact in found}


def _database(manifests: Iterable[TrialManifest]) -> dict[str, Any]:
    """What the first measured cluster said of itself."""
    return next((m.database for m in manifests if m.status == "done"), {})


def _times(manifests: Sequence[TrialManifest]) -> dict[str, Any]:
    if not manifests:
        return {}
    return {
        "started": min(manifest.started for manifest in manifests),
        "ended": max(manifest.ended for manifest in manifests),
        "trials": len(manifests),
    }
