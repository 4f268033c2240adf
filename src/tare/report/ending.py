"""How the run ended, and what would decide the open questions, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.report import numbers

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Ending

_PLAIN = 0.95
"""Level of an interval that shares its error with no other look."""


def sentences(analysis: Analysis) -> list[str]:
    """On the looks at the run, if any, and on its extension, if that should decide."""
    return [*looks(analysis), *further(analysis)]


def looks(analysis: Analysis) -> list[str]:
    """Why the run ended where it did, and the level of its intervals."""
    ending = analysis.ending
    if ending is None:
        return []
    found = [f"The run ended after {_rounds(ending)}: {_why(ending)}."]
    before = [str(one.round) for one in ending.looks[:-1]]
    if before:
        plural = "round" if len(before) == 1 else "rounds"
        found.append(
            f"It was looked at before, after {plural} {', '.join(before)}. The looks share the "
            f"5% of error (alpha spending, O'Brien-Fleming type): this one's intervals are of "
            f"{ending.level * 100:.4g}%, so that those of all looks together hold with 95%."
        )
    elif ending.level > _PLAIN:
        found.append(
            "Further looks were to follow: to hold with 95% over all of them, this one's intervals "
            f"are of {ending.level * 100:.4g}%."
        )
    believed = ending.false_alarms_if_all_believed
    if believed is not None:
        found.append(
            "It was extended after an end at which all of the error was spent. The verdicts of "
            "that end are withdrawn: whoever believes those and these has a false alarm in up to "
            f"{numbers.share(believed)} of comparisons without a difference, not in 5%."
        )
    return found


def further(analysis: Analysis) -> list[str]:
    """How many rounds should decide the open questions, how long they take, and the command."""
    more = analysis.extension
    if more is None:
        return []
    command = f": {more.command}" if more.command else ""
    but = f" all but {numbers.count(more.left_open, 'comparison')}" if more.left_open else ""
    length = numbers.length(more.seconds)
    return [
        f"Not decided: {more.rounds} rounds instead of {more.now} ({length} more) "
        f"should decide{but}{command}"
    ]


def _rounds(ending: Ending) -> str:
    if ending.rounds == ending.planned:
        return f"all {numbers.count(ending.rounds, 'round')}"
    return f"{ending.rounds} of at most {numbers.count(ending.planned, 'round')}"


def _why(ending: Ending) -> str:
    if ending.why == "time":
        return "another one would not have ended within design.at_most, whatever was seen"
    if ending.decided:
        return "every primary comparison has a verdict"
    if ending.why == "end":
        return "these were all"
    return "it has not gone on yet"
