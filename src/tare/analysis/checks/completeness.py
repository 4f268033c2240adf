"""Whether the run holds what its study planned: trials, pairs, deployments, whole records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks.evidence import Evidence, check, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.inference.contrasts import Contrast
    from tare.analysis.model import Check, Effect

ADVISED_UNITS = 3


def trials(evidence: Evidence) -> Check:
    """Failed and missing trials; without any pair for a comparison the result is invalid."""
    failed = [t for t in evidence.trials if not t.done]
    done = {(t.condition, *t.cell) for t in evidence.done}
    planned = [
        (condition.name, round_, block)
        for round_ in range(1, evidence.rounds + 1)
        for block in range(1, evidence.design.blocks + 1)
        for condition in evidence.conditions
    ]
    missing = [cell for cell in planned if cell not in done]
    details = [f"{trial.name}: {trial.manifest.reason or 'failed'}" for trial in failed]
    recorded = {(t.condition, *t.cell) for t in evidence.trials}
    details += [
        f"{name}, round {round_}, block {block}: no record"
        for name, round_, block in missing
        if (name, round_, block) not in recorded
    ]
    details += [f"{name}: the study excludes its baseline" for name in evidence.contrasts.lonely]
    if not done:
        return check("trials", "invalid", "no trial gave a result", details)
    empty = without_effect(evidence)
    if empty:
        lost = [f"{_named(one)}: no interval, for it takes two complete pairs" for one in empty]
        summary = f"{count(len(empty), 'comparison')} without a result"
        return check("trials", "invalid", summary, lost + details)
    if missing:
        summary = f"{len(missing)} of {count(len(planned), 'planned trial')} without a result"
        return check("trials", "warning", summary, details)
    return check("trials", "ok", f"all {count(len(planned), 'planned trial')} done", details)


def without_effect(evidence: Evidence) -> list[Contrast]:
    """Comparisons without an effect."""
    have = {(effect.baseline, effect.treatment) for effect in evidence.effects}
    return [c for c in evidence.contrasts.of if (c.baseline, c.treatment) not in have]


def _named(contrast: Contrast) -> str:
    return f"{contrast.treatment} against {contrast.baseline}"


def records(evidence: Evidence) -> Check:
    """Damaged records."""
    details = [f"{one.trial}: {one.reason}; not used" for one in evidence.damaged]
    details += [f"{t.name}: {sentence}" for t in evidence.trials for sentence in t.damage]
    if not details:
        return check("records", "ok", "all records are whole")
    hurt = {one.trial for one in evidence.damaged} | {t.name for t in evidence.trials if t.damage}
    return check("records", "warning", f"{count(len(hurt), 'trial')} with damaged records", details)


def deployments(evidence: Evidence) -> Check:
    """Whether there are enough independent units to tell the platform from luck."""
    units = {(e.deployments, e.unit_of_analysis) for e in evidence.effects}
    fewest = min((n for n, _ in units), default=0)
    if not evidence.effects:
        return check("deployments", "ok", "nothing is compared")
    conditional = [effect for effect in evidence.effects if effect.conditional]
    if conditional:
        return check(
            "deployments",
            "warning",
            f"one deployment per condition{_of(conditional, evidence.effects)}: a difference may "
            "be the platform's or that one deployment's, and no verdict is given",
            ["set design.deployments to 3 or more; the intervals shown hold for these very "
             "clusters only"],
        )  # fmt: skip
    kind = min(unit for n, unit in units if n == fewest)
    if fewest < ADVISED_UNITS:
        return check(
            "deployments",
            "warning",
            f"as few as {count(fewest, kind)} in a comparison: one odd {kind} is a large part of "
            "the evidence",
            [_more(kind)],
        )
    return check(
        "deployments", "ok", f"{count(fewest, f'independent {kind}')} or more per comparison"
    )


def _of(some: Sequence[Effect], effects: Sequence[Effect]) -> str:
    """The names of these comparisons; empty: they are all comparisons."""
    if len(some) == len(effects):
        return ""
    words = []
    for metric in dict.fromkeys(one.metric for one in some):
        treatments = [one.treatment for one in some if one.metric == metric]
        whole = len(treatments) == sum(one.metric == metric for one in effects)
        words.append(metric if whole else f"{metric} ({', '.join(treatments)})")
    return f" in {', '.join(words)}"


def _more(kind: str) -> str:
    if kind == "repetition":
        return f"repeat each condition {ADVISED_UNITS} times or more"
    return f"set design.{kind}s to {ADVISED_UNITS} or more"


def rounds(evidence: Evidence) -> Check | None:
    """Rounds in which a condition was served by more than one life of its cluster."""
    if evidence.imported:
        return None
    if not evidence.by_deployment:
        return check("rounds", "ok", "every block has clusters of its own")
    lives: dict[tuple[int, str], set[str]] = {}
    for trial in evidence.done:
        key = trial.manifest.round, trial.condition
        lives.setdefault(key, set()).add(trial.manifest.deployment)
    broken = {key: ids for key, ids in lives.items() if len(ids) > 1}
    if not broken:
        return check("rounds", "ok", "every round was served by one deployment per condition")
    details = [
        f"round {round_}, {condition}: {', '.join(sorted(ids))}"
        for (round_, condition), ids in sorted(broken.items())
    ]
    summary = (
        f"{count(len({key[0] for key in broken}), 'round')} interrupted: several deployments "
        "served it, and are counted as one"
    )
    return check("rounds", "warning", summary, details)
