"""Interim looks at a run: analyses the trials so far and keeps each look's result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.analyse import analyse
from tare.analysis.ending import is_decided
from tare.errors import TareError
from tare.records.looks import Look, read_looks, write_looks

if TYPE_CHECKING:
    from tare.lab.stopping import Judge
    from tare.records.layout import RunFiles
    from tare.records.looks import Why


def judge_of(files: RunFiles, planned: int) -> Judge:
    """The judge that looks at this run.

    A look is kept before the analysis, which takes its levels from it, and again with its result. A
    look that is kept is not repeated, with one exception: if time runs out right after a planned
    look, the same rounds are judged again with all of the error that is left.

    Records that cannot be analysed decide nothing: the run goes on, and the error that the look may
    spend is spent.

    Args:
        files: the run's files.
        planned: most rounds.
    """

    def judge(round_: int, why: Why) -> Look:
        kept = read_looks(files.looks).after(round_)
        if kept is not None and kept.decided is not None and (kept.final or kept.why == why):
            return kept
        look = Look(round=round_, of=planned, why=why, decided=None)
        write_looks(files.looks, read_looks(files.looks).with_look(look))
        try:
            look = look.model_copy(update={"decided": is_decided(analyse(files.root))})
        except TareError:  # a look that fails must not end hours of measuring
            return look
        write_looks(files.looks, read_looks(files.looks).with_look(look))
        return look

    return judge
