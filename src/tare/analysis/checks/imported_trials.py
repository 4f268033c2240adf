"""Whether imported files hold what their study compares, and are repetitions at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks.completeness import without_effect
from tare.analysis.checks.evidence import Evidence, check, count
from tare.enumeration import first_of
from tare.study.metric_names import margin_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.inference.contrasts import Contrast
    from tare.analysis.model import Check
    from tare.analysis.trials import Trial

LEAST_TO_COMPARE = 2
"""Repetitions of both sides: a single one has no variance."""
MOST_NAMED = 20


def trials(evidence: Evidence) -> Check:
    """Planned against imported conditions, and comparisons without a result.

    Levels that no file has are left out of the study and named. If one side of another comparison
    has files but the comparison has no interval, the result is invalid, as in Tare's own runs. A
    comparison without files on both sides is only named.
    """
    sizes = {condition.name: 0 for condition in evidence.conditions}
    for trial in evidence.done:
        sizes[trial.condition] = sizes.get(trial.condition, 0) + 1
    total, have = sum(sizes.values()), sum(1 for n in sizes.values() if n)
    if not total:
        return check("trials", "invalid", "no trial gave a result")
    planned = len(evidence.planned) or len(sizes)
    of = f"{have:,} of {count(planned, 'condition')} of the study have files"
    uneven = _uneven(sizes)
    details = [*_absent_levels(evidence), *uneven]
    details += [f"{name}: no file of its baseline" for name in evidence.contrasts.lonely]
    lost = [one for one in without_effect(evidence) if not _without_files(one, sizes)]
    if lost:
        words = [
            f"{one.treatment} against {one.baseline}: no interval, for it takes two repetitions "
            "of both"
            for one in lost
        ]
        summary = f"{count(len(lost), 'comparison')} without a result; {of}"
        return check("trials", "invalid", summary, words + details)
    if not evidence.effects and (evidence.contrasts.lonely or have < planned):
        summary = f"nothing could be compared; {of}"
        return check("trials", "invalid", summary, details)
    words_total = count(total, "imported trial")
    if have < planned:
        return check("trials", "warning", f"{of}: {words_total}", details)
    if details:
        fewer = count(len(uneven), "condition")
        verb = "has" if len(uneven) == 1 else "have"
        summary = f"{words_total}; {fewer} {verb} fewer than most"
        return check("trials", "warning", summary, details)
    return check("trials", "ok", f"{words_total}, {max(sizes.values())} of each condition")


def _uneven(sizes: Mapping[str, int]) -> list[str]:
    most = max(sizes.values())
    return [
        f"{name}: {count(n, 'trial') if n else 'no file'}, others have {most}"
        for name, n in sizes.items()
        if n < most
    ]


def _absent_levels(evidence: Evidence) -> list[str]:
    """Levels without any file."""
    seen = {pair for trial in evidence.done for pair in trial.manifest.levels.items()}
    levels = dict.fromkeys(
        pair for condition in evidence.planned for pair in condition.levels.items()
    )
    absent: dict[str, list[str]] = {}
    for factor, level in levels:
        if (factor, level) not in seen:
            absent.setdefault(factor, []).append(level)
    return [
        f"left out, for no file has it: {factor} {', '.join(names)}"
        for factor, names in absent.items()
    ]


def _without_files(contrast: Contrast, sizes: Mapping[str, int]) -> bool:
    """Whether the comparison has no result because both sides of some pair have no file.

    A pair with files on one side, or with too few, is another matter.
    """
    pairs = [(sizes.get(base, 0), sizes.get(treated, 0)) for base, treated in contrast.cells]
    filed = [pair for pair in pairs if any(pair)]
    return len(filed) < len(pairs) and all(min(pair) >= LEAST_TO_COMPARE for pair in filed)


def identical(evidence: Evidence) -> Check | None:
    """Trials with the same files, and conditions whose repetitions all have the same value."""
    details = [
        f"the same file, byte for byte: {first_of([t.name for t in same], MOST_NAMED)}"
        for same in _same_files(evidence.done)
    ]
    details += _without_variance(evidence)
    if not details:
        return None
    summary = "files or values are identical: they are no independent repetitions"
    return check("identical files", "warning", summary, details)


def _same_files(done: Sequence[Trial]) -> list[list[Trial]]:
    """Groups of trials made of the same bytes; rows of one table have values of their own."""
    groups: dict[object, list[Trial]] = {}
    for trial in done:
        source = trial.manifest.source
        if source is not None:
            own = tuple(sorted(f.sha256 for f in source.files if f.tool in ("", source.tool)))
            values = tuple(sorted((trial.manifest.reported or {}).items()))
            groups.setdefault((own, values), []).append(trial)
    return [group for group in groups.values() if len(group) > 1]


def _without_variance(evidence: Evidence) -> list[str]:
    found = []
    for condition in evidence.conditions:
        own = [trial.values for trial in evidence.done if trial.condition == condition.name]
        metrics = {
            name
            for values in own
            for name in values
            if name == "throughput" or margin_of(name, evidence.margins) is not None
        }
        same = [
            name
            for name in sorted(metrics)
            if len(own) > 1 and len({values.get(name) for values in own}) == 1
        ]
        if same:
            found.append(f"{condition.name}, all {len(own)} repetitions: {', '.join(same)}")
    return found


def endpoints(evidence: Evidence) -> Check | None:
    """Primary endpoints that no file has."""
    have = {name for trial in evidence.done for name in trial.values}
    missing = [name for name in evidence.primary if name not in have]
    if not missing:
        return None
    there = ", ".join(sorted(have))
    summary = f"no file has the primary endpoint {' or '.join(missing)}: it is not answered"
    return check("primary endpoints", "warning", summary, [f"the files have {there}"])
