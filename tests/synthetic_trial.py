"""The files of one invented trial: manifest, histogram logs, progress lines and samples."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hdrh.histogram import HdrHistogram

from tare.records.manifest import (
    ClientResult,
    OperationResult,
    Slices,
    TrialManifest,
    UnitRecord,
    WarmUp,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NO_OTHERS = {"kernel_cpu_s": 0.0, "tare_cpu_s": 0.0, "other_cpu_s": 0.0}
"""fields of a slice whose machine did nothing else"""
BITS = "sha256:" + "ab" * 32


@dataclass(frozen=True)
class Truth:
    """What one level of the platform factor really does, as ratios to the baseline."""

    throughput: float = 1.0
    tail: float = 1.0  # p99 over the median, relative to the baseline's
    server_cpu: float = 1.0
    engine_us: float = 0.0  # container engine's CPU per operation, microseconds
    noise: float = 1.0  # multiplies both standard deviations
    patch: Mapping[str, Any] = field(default_factory=dict)
    bits: str = BITS
    parity: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scene:
    """Everything about the invented run that is not a level's truth."""

    deployments: int
    blocks: int
    fresh: str
    measure_s: int
    between: float
    within: float
    rate: float | None
    clients: int
    ops_per_s: float
    failed: frozenset[str]
    saturated: frozenset[str]
    errors: Mapping[str, int]
    drift: float
    flat: bool
    notes: Mapping[str, str]
    slice_s: float | None = None
    slices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def trial_name(round_: int, block: int, levels: Mapping[str, str]) -> str:
    """The trial's directory name."""
    return f"D{round_}-B{block:02}-{'.'.join(levels.values())}"


def resolved(study: Mapping[str, Any], levels: Mapping[str, str]) -> dict[str, Any]:
    """The condition's setup: the study's base with the levels' patches over it."""
    parts = ("database", "platform", "client", "clusters", "load")
    setup = {part: deepcopy(study[part]) for part in parts}
    for factor, level in levels.items():
        for part, values in study["factors"][factor][level].items():
            setup[part].update(values)
    return setup


def write_trial(
    directory: Path,
    study: Mapping[str, Any],
    scene: Scene,
    truth: Truth,
    levels: Mapping[str, str],
    round_: int,
    block: int,
    position: int,
    log: float,
    start: float,
    rng: np.random.Generator,
) -> None:
    """One trial directory with all its files."""
    name = trial_name(round_, block, levels)
    place = directory / "trials" / name
    (place / "logs").mkdir(parents=True)
    failed = name in scene.failed
    throughput = scene.ops_per_s * math.exp(log)
    clients = [
        write_client(place, scene, truth, name, f"c{i + 1}", throughput / scene.clients, start, rng)
        for i in range(scene.clients)
    ]
    operations = sum(client.ok for client in clients)
    server_s = operations * 180e-6 * truth.server_cpu * math.exp(rng.normal(0, 0.01))
    engine_s = operations * truth.engine_us * 1e-6 * math.exp(rng.normal(0, 0.01))
    probe_s = 0.002 * scene.measure_s
    units = unit_records(study, scene, truth, levels)
    ended = start + scene.measure_s
    machine_s = server_s + engine_s + operations * 60e-6 + probe_s
    slices = None
    if scene.slice_s is None:
        write_samples(place, scene, units, start, server_s, engine_s, rng)
    else:
        slices = cut_into_slices(place, scene, name, operations, machine_s)
        ended = start + 5 * scene.measure_s  # other conditions had their turns
    deployment = f"D{round_}-{levels['platform']}"
    if scene.fresh != "deployment":
        deployment += f"-B{block:02}"
    manifest = TrialManifest(
        run=directory.name,
        trial=name,
        status="failed" if failed else "done",
        reason="the cluster did not answer within 60 s" if failed else "",
        condition=".".join(levels.values()),
        levels=dict(levels),
        round=round_,
        block=block,
        position=position,
        deployment=deployment,
        started=datetime.fromtimestamp(start - 5, UTC).isoformat(),
        ended=datetime.fromtimestamp(start + scene.measure_s + 2, UTC).isoformat(),
        measure_start=start,
        measure_end=ended,
        setup=resolved(study, levels),
        clients=[] if failed else clients,
        warm_up=warm_up(scene),
        units=units,
        database={"version": "5.0.9", "java": "17.0.12", "settings": {"num_tokens": "16"}},
        caches_dropped=True,
        server_cpu_s=server_s,
        engine_cpu_s=engine_s,
        machine_cpu_s=machine_s,
        background_cpu_s=probe_s,
        probe_cpu_s=probe_s,
        machine_modes_s={} if slices is None else modes(server_s + engine_s, operations, probe_s),
        slices=slices,
        notes=[scene.notes[name]] if name in scene.notes else [],
    )
    (place / "manifest.json").write_text(manifest.model_dump_json(indent=2))


def cut_into_slices(
    place: Path, scene: Scene, trial: str, operations: int, machine_s: float
) -> Slices:
    """Turn a trial's progress into that of slices: one interval each, on a clock of its own."""
    length = scene.slice_s or 0.0
    made = Slices(
        count=round(scene.measure_s / length), length_s=length, drain_s=0.03, frozen=True, empty=8
    ).model_copy(update=dict(scene.slices.get(trial, {})))
    progress = place / "progress.jsonl"
    lines = [json.loads(line) for line in progress.read_text().splitlines()]
    begun = [line for line in lines if line["event"] == "measure_start"]
    interval = next(line for line in lines if line["event"] == "interval")
    each = [interval | {"t": length + 0.03, "client": line["client"]} for line in begun]
    progress.write_text("".join(json.dumps(one) + "\n" for one in begun + each * made.count))
    cut = [
        {
            "unix": i * 5 * length,
            "ops": operations / made.count,
            "ops_per_s": operations / scene.measure_s,
            "seconds": length + 0.03,
            "machine_cpu_s": machine_s / made.count,
            **NO_OTHERS,
        }
        for i in range(made.count)
    ]
    (place / "slices.jsonl").write_text("".join(json.dumps(one) + "\n" for one in cut))
    return made


def modes(used_s: float, operations: int, probe_s: float) -> dict[str, float]:
    """The machine's CPU seconds by mode: all of what processes used is user code."""
    kernel_s = operations * 60e-6
    return {
        "user": used_s,
        "nice": 0.0,
        "system": kernel_s * 0.5 + probe_s,
        "irq": 0.0,
        "softirq": kernel_s * 0.5,
        "steal": 0.1,
    }


def warm_up(scene: Scene) -> WarmUp:
    """The deployment's warm-up in the lab's format."""
    last = 4000.0 if scene.flat else 2000.0
    windows = [
        {"t": 3.0 * (i + 1), "ops_per_s": rate, "server_cpu_us_per_op": 720_000.0 / rate}
        for i, rate in enumerate((1500.0, 3600.0, 3950.0, last))
    ]
    reason = "" if scene.flat else "still changing by 49% after 60 s"
    return WarmUp(flat=scene.flat, seconds=12.0, operations=39_000, windows=windows, reason=reason)


def unit_records(
    study: Mapping[str, Any], scene: Scene, truth: Truth, levels: Mapping[str, str]
) -> list[UnitRecord]:
    """Database nodes, clients and, in Docker, the engine."""
    platform = resolved(study, levels)["platform"]
    contained = platform["runtime"] == "docker"
    facts = {
        "cpus": "2",
        "memory": "24 GiB",
        "heap": "512 MiB",
        "open files": "100000",
        "file system": "ext4" if platform["storage"] != "layer" else "overlay",
        "clock source": "tsc",
        "transparent huge pages": "madvise",
        "kernel": "6.8.0",
        "JVM": "17.0.12",
    }
    units = []
    for i in range(1, scene.clients + 1):
        units.append(
            UnitRecord(
                name=f"n{i}",
                role="database",
                cluster=i,
                runtime=platform["runtime"],
                network=platform["network"],
                storage=platform["storage"],
                endpoint=f"127.0.0.1:{9041 + i}",
                path="veth+bridge" if contained else "loopback",
                command=["java", "-Xmx512m", "org.apache.cassandra.service.CassandraDaemon"],
                image="sha256:" + "cd" * 32 if contained else "",
                bits=truth.bits,
                limits={},
                parity=facts | dict(truth.parity),
            )
        )
        units.append(
            UnitRecord(
                name=f"c{i}",
                role="client",
                cluster=i,
                runtime="native",
                network="host",
                storage="directory",
                endpoint="",
                command=["tare-load", "run"],
                bits=BITS,
                limits={},
                parity={"cpus": "2", "kernel": "6.8.0"},
            )
        )
    if contained:
        units.append(
            UnitRecord(
                name="engine",
                role="engine",
                runtime="docker",
                network="",
                storage="",
                endpoint="",
                command=["dockerd"],
                bits="",
                limits={},
                parity={},
            )
        )
    return units


def write_client(
    place: Path,
    scene: Scene,
    truth: Truth,
    trial: str,
    client: str,
    throughput: float,
    start: float,
    rng: np.random.Generator,
) -> ClientResult:
    """One client's hlog, its progress lines, and its final report."""
    median_us = 32e6 / scene.ops_per_s / math.exp(0.08) * (scene.ops_per_s / scene.clients)
    median_us /= throughput
    sigma = 0.4 * (1 + math.log(truth.tail) / (0.4 * 2.326))
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[BaseTime: {start:.3f} (seconds since epoch)]",
        f"#[StartTime: {start:.3f} (seconds since epoch), synthetic]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    progress = [{"event": "measure_start", "unix": start, "client": client}]
    sums = {"READ": [0, 0.0, 0.0], "UPDATE": [0, 0.0, 0.0]}
    for second in range(scene.measure_s):
        total = round(throughput * math.exp(rng.normal(0, 0.01)))
        everything = []
        for operation in ("READ", "UPDATE"):
            n = total // 2
            service = rng.lognormal(math.log(median_us * 1e3), sigma, n)
            queued = service * 1.05 if scene.rate else service
            everything.append(queued)
            for suffix, values in (("st", service), ("rt", queued)):
                text = encode(values)
                lines.append(
                    f"Tag={operation}-{suffix},{second:.3f},1.000,{values.max() / 1e6:.3f},{text}"
                )
            tally = sums[operation]
            tally[0] += n
            tally[1] += float(service.sum()) / 1e3
            tally[2] += float(queued.sum()) / 1e3
        together = np.concatenate(everything) / 1e3
        progress.append(
            {
                "event": "interval",
                "phase": "measure",
                "t": second + 1.0,
                "unix": start + second + 1.0,
                "ops": len(together),
                "errors": 0,
                "ops_per_s": float(len(together)),
                "p50_us": float(np.median(together)),
                "p99_us": float(np.quantile(together, 0.99)),
                "max_us": float(together.max()),
                "cpu_us_per_op": 25.0,
                "client": client,
            }
        )
    hlog = f"latency-{client}.hlog"
    (place / hlog).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (place / "progress.jsonl").open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in progress)
    ok = sum(tally[0] for tally in sums.values())
    errors = scene.errors.get(trial, 0)
    saturated = trial in scene.saturated
    return ClientResult(
        client=client,
        hlog=hlog,
        measured_s=float(scene.measure_s),
        start_unix=start,
        ok=int(ok),
        errors=errors,
        throughput=ok / scene.measure_s,
        operations=[
            OperationResult(
                operation=operation,
                ok=int(n),
                errors=0,
                service_mean_us=service / n,
                response_mean_us=response / n,
            )
            for operation, (n, service, response) in sums.items()
        ],
        errors_by_kind={"timeout": errors},
        longest_gap_s=0.01,
        cpu_us_per_op=25.0 * math.exp(rng.normal(0, 0.01)),
        cpu_share=0.99 if saturated else 0.3,
        send_lateness_p99_us=50.0 if scene.rate else None,
        rate_error=-0.001 if scene.rate else None,
        saturated=saturated,
        saturation_reasons=["a worker thread used 99% of a core"] if saturated else [],
        version="0.1.0",
    )


def encode(nanoseconds: np.ndarray) -> str:
    """The values as a compressed V2 histogram, 1 ns to 1 min, 3 significant digits."""
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    values = nanoseconds.astype(np.int64)
    # bucket arithmetic of HdrHistogram for 3 digits: 2048 sub-buckets, the upper half of each
    bucket = np.maximum(np.frexp(values.astype(float))[1] - 11, 0)
    index = ((bucket + 1) << 10) + (values >> bucket) - 1024
    counts = np.bincount(index, minlength=histogram.counts_len)
    np.frombuffer(histogram.counts, dtype=np.uint64)[:] = counts
    filled = np.flatnonzero(counts)
    histogram.set_internal_tacking_values(int(filled[0]), int(filled[-1]), int(counts.sum()))
    return str(histogram.encode().decode())


def write_samples(
    place: Path,
    scene: Scene,
    units: list[UnitRecord],
    start: float,
    server_s: float,
    engine_s: float,
    rng: np.random.Generator,
) -> None:
    """Three seconds before the measured part to two seconds after it, once a second."""
    rows: list[tuple[float, str, str, float]] = []
    share = {"database": server_s, "engine": engine_s, "client": 0.1 * scene.measure_s}
    for second in range(-3, scene.measure_s + 2):
        t = start + second + 1.3
        machine = {
            "cpu_user": 1.0,
            "cpu_system": 0.4,
            "cpu_idle": 0.5,
            "cpu_iowait": 0.05,
            "cpu_irq": 0.0,
            "cpu_softirq": 0.05,
            "cpu_steal": 0.0,
            "disk_read_bytes_per_s": 0.0,
            "disk_write_bytes_per_s": 8e6,
            "net_rx_bytes_per_s": 4e6,
            "net_tx_bytes_per_s": 6e6,
            "mem_total_bytes": 24 * 2.0**30,
        }
        rows += [(t, "machine", metric, value) for metric, value in machine.items()]
        rows.append((t, "probe", "cpu_s", 0.002 * (second + 4)))
        for unit in units:
            same = sum(other.role == unit.role for other in units)
            cores = share[unit.role] / scene.measure_s / same * math.exp(rng.normal(0, 0.02))
            rows.append((t, unit.name, "cpu", cores))
            rows.append((t, unit.name, "memory_bytes", 9e8))
    times, scopes, metrics, values = zip(*rows, strict=True)
    table = pa.table(
        {
            "t": pa.array(times, pa.float64()),
            "scope": pa.array(scopes, pa.string()),
            "metric": pa.array(metrics, pa.string()),
            "value": pa.array(values, pa.float64()),
        }
    )
    pq.write_table(table, place / "samples.parquet")
