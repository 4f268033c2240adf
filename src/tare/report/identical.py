"""How far identical deployments were apart, in a sentence: the noise behind the intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.analysis.inference.identical import USUAL
from tare.enumeration import listing
from tare.report import numbers, words
from tare.report.escaping import plain
from tare.study.quantities import duration_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.model import Analysis, IdenticalSpread

SEVERAL = 3
"""With more baselines than this, one sentence gives the range over them."""
_SUBJECTS = {
    "deployment": "Identical deployments",
    "trial": "Trials of the same deployment",
    "repetition": "Repetitions of the same condition",
}
_THEMSELVES = {
    "deployment": "the deployments themselves",
    "trial": "the trials themselves",
    "repetition": "the repetitions themselves",
}


def sentences(analysis: Analysis) -> list[str]:
    """'Identical deployments differed by 1.3% (sd) in service demand', per baseline.

    For deployments measured in slices, the sentence also says how much is the slices' noise, which
    longer trials reduce, and how much the deployments', which more deployments reduce.
    """
    metrics = [m.name for m in words.primary_metrics(analysis)]
    shown = [one for one in analysis.identical if one.metric in (*metrics, *USUAL)]
    groups: dict[str, list[IdenticalSpread]] = {}
    for one in shown:
        groups.setdefault(one.baseline, []).append(one)
    if len(groups) > SEVERAL:
        return [_sentence(analysis, shown, ""), *_allocated(analysis)]
    apart = [
        _sentence(analysis, own, plain(baseline) if len(groups) > 1 else "")
        for baseline, own in groups.items()
    ]
    return [*apart, *_allocated(analysis)]


def _allocated(analysis: Analysis) -> list[str]:
    """The number of rounds that would have been better in the same time."""
    one = analysis.allocation
    if one is None:
        return []
    length = f"{one.share:.0%} of each load.measure"
    if one.measure_s is not None:
        length = f"load.measure: {duration_in_words(one.measure_s)}"
    return [
        f"By this noise {one.rounds} rounds with {length} would take as long as these {one.now}; "
        "intervals between deployments would be "
        f"{_width(one.apart)}, inside one deployment {_width(one.inside)}."
    ]


def _width(ratio: float) -> str:
    return f"{numbers.share(abs(1 - ratio))} {'narrower' if ratio < 1 else 'wider'}"


def _sentence(analysis: Analysis, own: Sequence[IdenticalSpread], beside: str) -> str:
    parts: list[str] = []
    for metric in dict.fromkeys(one.metric for one in own):
        sds = [one.sd for one in own if one.metric == metric]
        low, high = numbers.share(min(sds)), numbers.share(max(sds))
        amount = low if low == high else f"{low} to {high}"
        sd = "" if parts else " (sd)"
        parts.append(f"{amount}{sd} in {words.in_sentence(words.metric_of(analysis, metric))}")
    where = f" among the conditions compared with {beside}" if beside else ""
    said = f"{_SUBJECTS[own[0].unit]} differed by {listing(parts)}{where}."
    return said + _parts(analysis, own)


def _parts(analysis: Analysis, own: Sequence[IdenticalSpread]) -> str:
    """The parts of the sd, if each metric has one sd and was measured in slices."""
    if len({one.metric for one in own}) < len(own):
        return ""
    fitted = [(one, one.slices) for one in own if one.slices is not None]
    if not fitted:
        return ""
    noise = [
        f"{numbers.share(slices)} in {words.in_sentence(words.metric_of(analysis, one.metric))}"
        for one, slices in fitted
    ]
    rests = [one.sd**2 - slices**2 for one, slices in fitted]
    if max(rests) <= 0:
        return f" Single slices' noise, {listing(noise)}, explains all of that."
    told = [
        numbers.share(math.sqrt(rest)) if rest > 0 else "nothing that can be told" for rest in rests
    ]
    return (
        f" Of that, single slices' noise makes {listing(noise)}; {_THEMSELVES[own[0].unit]} make "
        f"{listing(told)} (squares add up)."
    )
