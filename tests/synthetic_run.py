"""Writes a whole run directory with known effects: real files, invented measurements.

The truth is lognormal: every trial's log throughput is the condition's mean plus a shared block
effect, an effect of its deployment (one life of a cluster), and its own noise. Latency follows
throughput as in a closed loop, times a ratio of its own.
"""

from __future__ import annotations

import json
import math
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from ruamel.yaml import YAML

from tests.synthetic_trial import Scene, Truth, trial_name, write_trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

EPOCH = 1_790_000_000.0


def docker(network: str, storage: str = "volume") -> dict[str, Any]:
    """A level's patch that puts the database into Docker."""
    return {"platform": {"runtime": "docker", "network": network, "storage": storage}}


QUICKSTART: dict[str, Truth] = {
    "native": Truth(),
    "native-again": Truth(),
    "docker-host": Truth(throughput=0.99, server_cpu=1.01, patch=docker("host")),
    "docker-bridge": Truth(throughput=0.93, server_cpu=1.06, patch=docker("bridge")),
    "docker-published": Truth(
        throughput=0.80, tail=1.3, server_cpu=1.15, engine_us=40.0, patch=docker("published")
    ),
}


def write_run(
    directory: Path,
    *,
    effects: Mapping[str, Truth] | None = None,
    seed: int = 7,
    deployments: int = 3,
    blocks: int = 4,
    fresh: str = "deployment",
    measure_s: int = 10,
    between: float = 0.02,
    within: float = 0.02,
    rate: float | None = None,
    clients: int = 1,
    threads: Iterable[int] = (),
    ops_per_s: float = 4000.0,
    margins: Mapping[str, str] | None = None,
    failed: Iterable[str] = (),
    saturated: Iterable[str] = (),
    errors: Mapping[str, int] | None = None,
    drift: float = 0.0,
    flat: bool = True,
    notes: Mapping[str, str] | None = None,
    slice_s: float | None = None,
    slices: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """Write a run and return its directory.

    Args:
        directory: made if it is missing; its name becomes the run's name.
        effects: level of factor `platform` to its truth; the first is the baseline.
        seed: of everything random.
        deployments, blocks, fresh, measure_s, rate: as in a study; `rate` makes it open loop.
        between: sd of log throughput between deployments of one condition.
        within: sd of log throughput between trials of one deployment.
        clients: load clients per trial, each with its own hlog.
        threads: where not empty, a second factor `threads` with levels t16, t64, ...
        ops_per_s: the baseline's throughput over all clients.
        margins: as in a study; default 10% for p99, 5% for the others. Empty: none.
        failed, saturated: trial names, such as D1-B02-native.
        errors: trial name to failed operations.
        drift: change of log throughput from each block to the next.
        flat: the deployments' warm-up became flat.
        notes: trial name to a note of its manifest.
        slice_s: seconds of a slice; None: trials are measured in one piece.
        slices: trial name to fields of its manifest's slices, such as late.
    """
    truths = dict(QUICKSTART if effects is None else effects)
    scene = Scene(
        deployments,
        blocks,
        fresh,
        measure_s,
        between,
        within,
        rate,
        clients,
        ops_per_s,
        frozenset(failed),
        frozenset(saturated),
        errors or {},
        drift,
        flat,
        notes or {},
        slice_s,
        slices or {},
    )
    if margins is None:
        margins = {"service_demand": "5%", "throughput": "5%", "mean": "5%", "p99": "10%"}
    study = study_document(truths, scene, list(threads), margins, seed)
    directory.mkdir(parents=True, exist_ok=True)
    yaml = YAML()
    with (directory / "study.yaml").open("w", encoding="utf-8") as out:
        yaml.dump(study, out)
    rng = np.random.default_rng(seed)
    names = list(truths)
    cells = [(name, f"t{n}", n) for name in names for n in threads] or [
        (name, "", 0) for name in names
    ]
    clock = EPOCH
    order: list[str] = []
    base = {name: {r: rng.normal(0, between) for r in range(1, deployments + 1)} for name in names}
    for round_ in range(1, deployments + 1):
        for block in range(1, blocks + 1):
            shared = rng.normal(0, within)
            shuffled = [cells[i] for i in rng.permutation(len(cells))]
            for position, (name, level, n) in enumerate(shuffled, start=1):
                truth = truths[name]
                life = base[name][round_] if fresh == "deployment" else rng.normal(0, between)
                log = (
                    shared
                    + drift * block
                    + truth.noise * (life + rng.normal(0, within))
                    + math.log(truth.throughput)
                    + (0.2 * math.log(n / 16) if n else 0.0)
                )
                levels = {"platform": name} | ({"threads": level} if level else {})
                write_trial(
                    directory, study, scene, truth, levels, round_, block, position, log, clock, rng
                )
                order.append(trial_name(round_, block, levels))
                clock += measure_s + 20
    (directory / "plan.json").write_text(json.dumps({"seed": seed, "trials": order}))
    with (directory / "journal.jsonl").open("w") as journal:
        for name in order:
            event = "trial_failed" if name in scene.failed else "trial_done"
            journal.write(json.dumps({"event": event, "trial": name}) + "\n")
    return directory


def study_document(
    truths: Mapping[str, Truth],
    scene: Scene,
    threads: list[int],
    margins: Mapping[str, str],
    seed: int,
) -> dict[str, Any]:
    """The study that the run claims to have followed."""
    factors: dict[str, Any] = {
        "platform": {name: deepcopy(dict(truth.patch)) for name, truth in truths.items()}
    }
    baseline = {"platform": next(iter(truths))}
    if threads:
        baseline["threads"] = f"t{threads[0]}"
        factors["threads"] = {f"t{n}": {"load": {"threads": n}} for n in threads}
    return {
        "study": "synthetic",
        "question": "What does Docker cost this Cassandra node?",
        "database": {"kind": "cassandra", "version": "5.0.9", "nodes": 1, "heap": "512MiB"},
        "platform": {
            "machines": "local",
            "runtime": "native",
            "network": "host",
            "storage": "directory",
        },
        "client": {"machines": "local", "runtime": "native", "network": "host"},
        "clusters": scene.clients,
        "load": {
            "workload": "ycsb-a",
            "records": 10_000,
            "threads": 32,
            "rate": scene.rate,
            "warmup": "2s",
            "measure": f"{scene.measure_s}s",
        },
        "factors": factors,
        "baseline": baseline,
        "design": {
            "deployments": scene.deployments,
            "blocks": scene.blocks,
            "seed": seed,
            "fresh": scene.fresh,
            "slice": f"{scene.slice_s}s" if scene.slice_s else "off",
        },
        "margins": dict(margins),
    }
