"""A hand-made analysis of five conditions with every kind of answer."""

from __future__ import annotations

import math
import random

from tare.analysis.model import (
    Analysis,
    Check,
    ConditionSummary,
    Distribution,
    Effect,
    Metric,
    NoiseFloor,
    Pair,
    ParityDifference,
    Series,
    TrialSummary,
    Verdict,
)

CONDITIONS = ("native", "native-again", "docker-host", "docker-bridge", "docker-published")
METRICS = [
    Metric(name="service_demand", title="Service demand", unit="us/operation", better="lower"),
    Metric(name="throughput", title="Throughput", unit="operations/s", better="higher"),
    Metric(name="all.mean", title="Mean latency", unit="us", better="lower"),
    Metric(name="all.p99", title="99th percentile latency", unit="us", better="lower"),
    Metric(
        name="cpu.server_per_op",
        title="Server CPU per operation",
        unit="us/operation",
        better="lower",
    ),
]
MARGINS = {"service_demand": 0.05, "throughput": 0.05, "all.mean": 0.05, "all.p99": 0.10}
BASE = {
    "service_demand": 131.0,
    "throughput": 14_180.0,
    "all.mean": 2_210.0,
    "all.p99": 8_940.0,
    "cpu.server_per_op": 92.4,
}
# metric -> condition -> (ratio, half width of the 95% interval on the log scale, verdict)
RATIOS: dict[str, dict[str, tuple[float, float, Verdict]]] = {
    "service_demand": {
        "native-again": (1.001, 0.011, "equivalent"),
        "docker-host": (1.013, 0.016, "equivalent"),
        "docker-bridge": (1.162, 0.024, "different"),
        "docker-published": (1.244, 0.031, "different"),
    },
    "throughput": {
        "native-again": (1.004, 0.012, "equivalent"),
        "docker-host": (0.991, 0.014, "equivalent"),
        "docker-bridge": (0.877, 0.033, "different"),
        "docker-published": (0.842, 0.038, "different"),
    },
    "all.mean": {
        "native-again": (0.996, 0.013, "equivalent"),
        "docker-host": (1.024, 0.015, "different within the margin"),
        "docker-bridge": (1.141, 0.034, "different"),
        "docker-published": (1.188, 0.041, "different"),
    },
    "all.p99": {
        "native-again": (1.018, 0.09, "equivalent"),
        "docker-host": (1.062, 0.16, "inconclusive"),
        "docker-bridge": (1.224, 0.11, "different"),
        "docker-published": (1.305, 0.12, "different"),
    },
    "cpu.server_per_op": {
        "native-again": (1.002, 0.01, "inconclusive"),
        "docker-host": (0.978, 0.011, "different"),
        "docker-bridge": (1.071, 0.02, "different"),
        "docker-published": (1.083, 0.022, "different"),
    },
}
ROUNDS, BLOCKS, SECONDS = 3, 4, 20


def sample_analysis() -> Analysis:
    """Three rounds of four blocks; docker-bridge has one failed trial and one outlier."""
    chance = random.Random(7)  # noqa: S311 - a repeatable picture, not a secret
    trials = _trials(chance)
    return Analysis(
        study="quickstart",
        question="What does Docker cost this Cassandra node?",
        run="2026-03-02T10-15-quickstart",
        problems=[],
        valid=True,
        baseline="native",
        metrics=METRICS,
        conditions=[_condition(name) for name in CONDITIONS],
        effects=[_effect(metric, name, chance) for metric in RATIOS for name in RATIOS[metric]],
        noise_floor=[
            NoiseFloor(
                metric=metric,
                conditions=("native", "native-again"),
                floor=floor,
                deployment_floor=floor * 0.6,
                exceeds_margin=False,
            )
            for metric, floor in (("throughput", 0.024), ("all.mean", 0.027), ("all.p99", 0.081))
        ],
        checks=_checks(),
        parity=[
            ParityDifference(
                fact="file system",
                values={"ext4": ["native", "native-again"], "ext4 in a volume": ["docker-host"]},
                expected=True,
            ),
            ParityDifference(
                fact="open files",
                values={"1048576": ["docker-host", "docker-bridge"], "100000": ["native"]},
                expected=False,
            ),
        ],
        trials=trials,
        series=[_series(trial, chance) for trial in trials if trial.status == "done"],
        distributions=[
            _distribution(name, operation, kind)
            for name in CONDITIONS
            for operation in ("ALL", "READ", "UPDATE")
            for kind in ("service", "response")
        ],
        provenance={
            "seed": 7,
            "software": {"tare": "0.1.0", "cassandra": "5.0.9", "java": "17.0.15"},
            "machine": {"kernel": "6.1.0", "cpus": 2, "memory": "24 GiB", "cgroup": "v1"},
            "commands": {
                "n1": ["java", "-Xmx512m", "org.apache.cassandra.service.CassandraDaemon"]
            },
            "digests": {"cassandra": "sha256:" + "0123456789abcdef" * 4},
            "study": {"load": {"workload": "ycsb-a", "threads": 32}, "design": {"deployments": 3}},
        },
    )


def _ratio(metric: str, condition: str) -> float:
    return RATIOS[metric][condition][0] if condition != "native" else 1.0


def _condition(name: str) -> ConditionSummary:
    return ConditionSummary(
        condition=name,
        levels={"platform": name},
        aa_of="native" if name == "native-again" else None,
        trials=ROUNDS * BLOCKS,
        failed=1 if name == "docker-bridge" else 0,
        metrics={metric: BASE[metric] * _ratio(metric, name) for metric in BASE},
        cv={"throughput": 0.021, "all.mean": 0.023, "all.p99": 0.064},
    )


def _effect(metric: str, name: str, chance: random.Random) -> Effect:
    ratio, half, verdict = RATIOS[metric][name]
    pairs = [
        Pair(round=r, block=b, ratio=ratio * math.exp(chance.gauss(0, half)))
        for r in range(1, ROUNDS + 1)
        for b in range(1, BLOCKS + 1)
        if not (name == "docker-bridge" and (r, b) == (2, 3))
    ]
    return Effect(
        metric=metric,
        levels={"platform": name},
        baseline="native",
        treatment=name,
        aa=name == "native-again",
        ratio=ratio,
        ci=(ratio * math.exp(-half), ratio * math.exp(half)),
        ci90=(ratio * math.exp(-half * 0.68), ratio * math.exp(half * 0.68)),
        verdict=verdict,
        margin=MARGINS.get(metric),
        baseline_value=BASE[metric],
        treatment_value=BASE[metric] * ratio,
        deployments=ROUNDS,
        blocks=len(pairs),
        unit_of_analysis="deployment",
        df=2.0,
        sd_log=half / 2.48,
        mde=half * 1.4,
        needed=4 if verdict == "inconclusive" and metric in MARGINS else 0,
        pairs=pairs,
        p=0.0004 if verdict == "different" else 0.21,
        p_equivalence=0.012 if verdict == "equivalent" else 0.4,
        p_adjusted=0.003 if verdict == "different" else 0.42,
        adjustment="Holm over 9 primary comparisons" if metric in MARGINS else "none",
        primary=metric in MARGINS,
        method="t interval over the log-ratios of deployment means, paired by block",
    )


def averaged_over(factor: str, effect: Effect, platform: str) -> Effect:
    """A copy of `effect` for a platform over native, averaged over a factor."""
    update = {
        "treatment": platform,
        "baseline": "native",
        "levels": {"platform": platform},
        "over": [factor],
        "pairs": [],
    }
    return effect.model_copy(update=update)


def _trials(chance: random.Random) -> list[TrialSummary]:
    trials = []
    for round_ in range(1, ROUNDS + 1):
        for block in range(1, BLOCKS + 1):
            order = list(CONDITIONS)
            chance.shuffle(order)
            for position, name in enumerate(order, 1):
                failed = name == "docker-bridge" and (round_, block) == (2, 3)
                values = {
                    metric: BASE[metric] * _ratio(metric, name) * math.exp(chance.gauss(0, 0.02))
                    for metric in BASE
                }
                trials.append(
                    TrialSummary(
                        trial=f"D{round_}-B{block:02}-{name}",
                        condition=name,
                        round=round_,
                        block=block,
                        position=position,
                        deployment=f"D{round_}-{name}-1",
                        status="failed" if failed else "done",
                        reason="n1 died: out of memory" if failed else "",
                        values={} if failed else values,
                        errors=12 if failed else 0,
                        saturated=False,
                        warm=not (name == "docker-published" and round_ == 1),
                        steady=True,
                        outlier=name == "docker-bridge" and (round_, block) == (1, 2),
                    )
                )
    return trials


def _series(trial: TrialSummary, chance: random.Random) -> Series:
    level = trial.values["throughput"]

    def noisy(value: float, share: float) -> list[float | None]:
        return [value * math.exp(chance.gauss(0, share)) for _ in range(SECONDS)]

    return Series(
        trial=trial.trial,
        condition=trial.condition,
        t=[float(t) for t in range(SECONDS)],
        values={
            "throughput": noisy(level, 0.06),
            "p99": noisy(trial.values["all.p99"], 0.2),
            "server_cpu": noisy(1.25, 0.05),
            "machine_cpu": noisy(1.8, 0.03),
            "client_cpu": noisy(0.4, 0.05),
            "disk_write": [*noisy(18e6, 0.4)[:-1], None],
            "disk_read": [0.0] * SECONDS,
        },
    )


def _distribution(name: str, operation: str, kind: str) -> Distribution:
    shift = _ratio("all.mean", name) * {"ALL": 1.0, "READ": 1.15, "UPDATE": 0.85}[operation]
    tail = _ratio("all.p99", name)
    percentiles = [0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 100]

    def latency(percentile: float) -> float:
        nines = -math.log10(max(1 - percentile / 100, 2e-6))
        return (
            500
            * shift
            * 2 ** (nines * 1.1)
            * (1 + 3 * min(nines, 2.2) / (1 + nines))
            * (1 + (tail - 1) * nines / 3)
        )

    return Distribution(
        condition=name,
        operation=operation,
        kind="service" if kind == "service" else "response",
        count=850_000,
        quantiles=[(float(p), latency(p)) for p in percentiles],
    )


def _checks() -> list[Check]:
    return [
        Check(name="errors", status="ok", summary="no operation failed in the measured parts"),
        Check(name="client", status="ok", summary="no client was saturated; busiest thread at 41%"),
        Check(name="send lateness", status="ok", summary="closed loop, does not apply"),
        Check(
            name="parity",
            status="warning",
            summary="1 unexpected difference: open files",
            details=["open files: 100000 (native), 1048576 (docker-host, docker-bridge)"],
        ),
        Check(
            name="warm-up",
            status="warning",
            summary="1 of 15 deployments was never flat",
            details=["D1-docker-published-1: server CPU per operation still fell by 7%"],
        ),
        Check(name="noise floor", status="ok", summary="below the margin on every primary metric"),
    ]
