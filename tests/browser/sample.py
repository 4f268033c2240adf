"""Analyses for reports: the sample with files and events; undecided, factorial, hostile ones."""

from __future__ import annotations

from tare.analysis.model import Analysis
from tests.report.sample import sample_analysis

FILES = ("manifest.json", "latency-c1.hlog", "progress.jsonl", "samples.parquet")
HOSTILE = "=cmd|' /C calc'!A0</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def traced_analysis() -> Analysis:
    """The sample; trials name their files, and one trial of the baseline had a compaction."""
    analysis = sample_analysis()
    for trial in analysis.trials:
        trial.files = [f"trials/{trial.trial}/{name}" for name in FILES]
    first = next(series for series in analysis.series if series.condition == "native")
    first.events = [(3.0, 7.5, "compaction")]
    return analysis


def factorial_analysis() -> Analysis:
    """Three treatments at three thread counts: too many comparisons for sentences."""
    analysis = sample_analysis()
    threads = ("t16", "t64", "t256")

    def named(platform: str, level: str) -> str:
        return f"{platform}.{level}"

    def levels(platform: str, level: str) -> dict[str, str]:
        return {"platform": platform, "threads": level}

    changed = {
        "conditions": [
            c.model_copy(
                update={
                    "condition": named(c.condition, level),
                    "levels": levels(c.condition, level),
                    "aa_of": c.aa_of and named(c.aa_of, level),
                }
            )
            for level in threads
            for c in analysis.conditions
        ],
        "effects": [
            e.model_copy(
                update={
                    "treatment": named(e.treatment, level),
                    "baseline": named(e.baseline, level),
                    "levels": levels(e.treatment, level),
                    "factor": "platform",
                }
            )
            for level in threads
            for e in analysis.effects
        ],
        "trials": [
            t.model_copy(
                update={
                    "trial": named(t.trial, level),
                    "condition": named(t.condition, level),
                    "files": [f"trials/{named(t.trial, level)}/{FILES[0]}"],
                }
            )
            for level in threads
            for t in analysis.trials
        ],
        "series": [],
        "distributions": [],
        "baseline": "platform: native",
    }
    return analysis.model_copy(update=changed)


def undecided_analysis() -> Analysis:
    """The demo's layout of four treatments and the control on three metrics; nothing is decided."""
    analysis = sample_analysis()
    analysis.question = "What does Docker cost reads of this node, with the quick compiler alone?"
    analysis.effects = [e for e in analysis.effects if e.primary and e.metric != "all.mean"]
    _add_treatment(analysis, "docker-proxy")
    found = {"verdict": "inconclusive", "needed": 33, "ci": (0.703, 1.467)}
    analysis.effects = [e.model_copy(update=found) for e in analysis.effects]
    return analysis


def six_treatments() -> Analysis:
    """Five treatments and the control on three metrics, not all decided."""
    analysis = undecided_analysis()
    _add_treatment(analysis, "docker-layer", verdict="different", ci=(0.7, 0.8))
    return analysis


def _add_treatment(analysis: Analysis, name: str, **of_its_effects: object) -> None:
    """Add a treatment that differs from `docker-published` only in these fields of its effects."""
    last = "docker-published"
    found = {"treatment": name, **of_its_effects}
    analysis.effects += [
        e.model_copy(update=found) for e in analysis.effects if e.treatment == last
    ]
    analysis.conditions += [
        c.model_copy(update={"condition": name}) for c in analysis.conditions if c.condition == last
    ]


def hostile_analysis() -> Analysis:
    """The sample with markup in a condition's name, and in reasons, events and files."""
    analysis = traced_analysis()
    old = "docker-bridge"

    def poison(value: object) -> object:
        if isinstance(value, dict):
            return {(HOSTILE if k == old else k): poison(v) for k, v in value.items()}
        if isinstance(value, list):
            return [poison(item) for item in value]
        if isinstance(value, str) and (value == old or value.endswith(f"-{old}")):
            return value.replace(old, HOSTILE)
        return value

    poisoned = Analysis.model_validate(poison(analysis.model_dump(mode="json")))
    poisoned.study = "../" + HOSTILE
    poisoned.question = HOSTILE
    poisoned.trials[0].reason = HOSTILE
    poisoned.trials[0].files = ["javascript:alert(3)", '../../etc/passwd"><img src=x>', HOSTILE]
    poisoned.series[0].events = [(1.0, 5.0, HOSTILE)]
    return poisoned
