"""What imported files leave open, and which files were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.checks.evidence import Evidence, check, count, noted, percent
from tare.analysis.checks.platform import parity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.checks.evidence import Status
    from tare.analysis.model import Check
    from tare.analysis.trials import Trial

ERRORS_NOTED = 0.001
ERRORS_GRAVE = 0.01
"""Share of failed operations, as for Tare's own trials."""
GRAVE_SHARE = 0.5
"""Share of a condition's trials with that many failures that makes the result invalid. Nobody can
repeat an imported trial, and the user may judge a few bad ones among many."""

UNKNOWN = (
    "whether the load client was the limit",
    "how the servers were warmed up, and whether their compiler was done",
    "whether conditions differed in more than the platform, and ran the same files",
    "what was running beside the measurement",
)


def unknown(evidence: Evidence) -> Check:
    """Facts by which Tare judges its own runs, and which other tools do not record."""
    tools = sorted({t.manifest.source.tool for t in evidence.trials if t.manifest.source})
    return check(
        "not known, imported",
        "ok",
        f"files of {' and '.join(tools)} do not tell {count(len(UNKNOWN), 'thing')} that Tare "
        "checks in its own runs",
        [f"not known: {one}" for one in UNKNOWN],
    )


def differences(evidence: Evidence) -> Check | None:
    """Facts on tools and load in the files that differ between conditions."""
    if not any(not one.expected for one in evidence.parity):
        return None
    return parity(evidence)


def skipped(evidence: Evidence) -> Check | None:
    """Files that the import was given and that are in no trial."""
    if not evidence.skipped:
        return None
    words = f"{count(len(evidence.skipped), 'file')} left out by the import"
    return check("files", "warning", words, list(evidence.skipped))


def notes(evidence: Evidence) -> Check | None:
    """How the files were read, where another reading was possible."""
    details = noted(evidence)
    if not details:
        return None
    return check("notes", "ok", f"the import noted {count(len(details), 'thing')}", details)


def errors(evidence: Evidence) -> Check:
    """Share of operations that failed, as the files print it."""
    silent = [t for t in evidence.done if "errors" not in (t.manifest.reported or {})]
    shares = {trial.name: _share(trial) for trial in evidence.done if trial.errors}
    if not shares:
        if silent:
            words = (
                f"not known, imported: {count(len(silent), 'trial')} without a count of failures"
            )
            return check("errors", "ok", words)
        return check("errors", "ok", "no operation failed")
    many = [trial for trial in evidence.done if shares.get(trial.name, 0.0) > ERRORS_NOTED]
    worst = max(shares.values())
    status: Status = "warning" if many else "ok"
    if any(_most(evidence.done, shares, name) for name in {t.condition for t in many}):
        status = "invalid"
    words = (
        f"up to {percent(worst)} of the operations failed, in {len(shares)} of "
        f"{count(len(evidence.done), 'trial')}; they are in no latency"
    )
    details = [
        f"{trial.name}: {percent(shares[trial.name])}{_kinds(trial)}"
        for trial in evidence.done
        if trial.name in shares
    ]
    return check("errors", status, words, details)


def _share(trial: Trial) -> float:
    return trial.errors / (trial.errors + trial.operations)


def _kinds(trial: Trial) -> str:
    kinds = trial.manifest.errors_by_kind
    return f" ({', '.join(f'{name}: {n:,}' for name, n in kinds.items())})" if kinds else ""


def _most(done: Sequence[Trial], shares: dict[str, float], condition: str) -> bool:
    own = [trial for trial in done if trial.condition == condition]
    grave = [trial for trial in own if shares.get(trial.name, 0.0) > ERRORS_GRAVE]
    return len(grave) >= GRAVE_SHARE * len(own)
