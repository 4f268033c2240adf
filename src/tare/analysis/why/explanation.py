"""The sentences on what changed together with an effect; none claims what its interval hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import listing
from tare.study.metric_names import lowered

if TYPE_CHECKING:
    from tare.analysis.model import CostPart, CostSplit, CountChange, Why

MINUS = "\u2212"
_NAMES = {
    "cpu.user_per_op": "user code",
    "cpu.system_per_op": "the kernel on behalf of processes",
    "cpu.softirq_per_op": "interrupts and soft interrupts",
    "cpu.server_per_op": "the database",
    "cpu.engine_per_op": "the container engine",
    "cpu.client_per_op": "the load client",
    "cpu.others_per_op": "everything else",
    "cpu.requests_per_op": "requests and the rest",
    "cpu.network_per_op": "network event loops",
    "cpu.gc_per_op": "garbage collection",
    "cpu.compaction_per_op": "compaction",
    "cpu.flush_per_op": "flushes and the commit log",
    "cpu.jit_per_op": "the JIT compiler",
}
_WHOLES = {
    "unit": "service demand",
    "mode": "service demand",
    "thread": "the database's CPU time per operation",
}
TAKEN_OFF = "cpu.background_per_op"
"""A correction, which stands in the table; no operation used it."""
MOST_NAMED = 5
"""counts that a sentence names; the table has all of them"""


def explain(why: Why) -> list[str]:
    """One sentence per division of a CPU time, and one on the counts beside it."""
    sentences = list(dict.fromkeys(_of_split(why, split) for split in why.splits))
    clear = [c for c in why.beside if c.clear and not c.metric.name.startswith("cpu.")]
    counts = [c for c in why.beside if not c.metric.name.startswith("cpu.")]
    if clear:
        named = [_count(c) for c in sorted(clear, key=_relative, reverse=True)[:MOST_NAMED]]
        sentences.append(
            f"Beside it changed, per operation: {listing(named)}. That these caused the effect "
            "does not follow."
        )
    elif counts:
        sentences.append(
            f"None of the {len(counts)} other counts per operation changed beyond the noise."
        )
    if why.conditional and sentences:
        sentences.append(
            "All of this holds for these very deployments only: there was one per condition."
        )
    return sentences


def _of_split(why: Why, split: CostSplit) -> str:
    whole, name = split.whole, _WHOLES[split.by]
    first = next(s for s in why.splits if _WHOLES[s.by] == name)
    if not whole.clear and first.whole.clear:
        return "Its change by the kernel's modes is too uncertain to divide."
    if not whole.clear:
        return (
            f"Summed over whole trials, {name} changed by {_amount(first.whole)}: too uncertain "
            "to divide among its parts."
        )
    named = [p for p in split.parts if p.metric.name != TAKEN_OFF]
    clear = sorted((p for p in named if p.clear), key=lambda p: -abs(p.difference))
    hidden = [_NAMES.get(p.metric.name, p.metric.title) for p in named if not p.clear]
    begin = f"Summed over whole trials, {name} changed by {_amount(whole)}: "
    if split is not first:
        begin = f"By the kernel's modes, which are sampled, it changed by {_amount(whole)}: "
    if not clear:
        return f"{begin}no part can be named: each one's interval includes 0."
    text = begin + listing([_part(p) for p in clear])
    return f"{text}; {listing(hidden)}: not beyond the noise." if hidden else f"{text}."


def _part(part: CostPart) -> str:
    """'+9.0 [+6.0, +12.0] are in interrupts and soft interrupts (64% of it)'."""
    low, high = part.ci
    text = f"{_signed(part.difference)} [{_signed(low)}, {_signed(high)}]"
    text += f" are in {_NAMES.get(part.metric.name, part.metric.title)}"
    if part.share is not None and part.share > 0:
        text += f" ({part.share:.0%} of it)"
    elif part.share is not None:
        text += " (against the change)"
    return text


def _count(change: CountChange) -> str:
    title = lowered(change.metric.title)
    low, high = change.ci
    unit = change.metric.unit.removesuffix("/operation")
    text = f"{title} {_signed(change.difference)} [{_signed(low)}, {_signed(high)}]"
    return f"{text} {unit}".rstrip() + f" (from {_near(change.baseline, change.treatment)})"


def _near(value: float, other: float) -> str:
    """The value; as almost 0 where it is that beside the other one."""
    return "almost 0" if 0 < abs(value) < abs(other) / 1000 else _rounded(value)


def _amount(change: CountChange) -> str:
    low, high = change.ci
    return (
        f"{_signed(change.difference)} [{_signed(low)}, {_signed(high)}] {change.metric.unit}"
    ).replace("us/", "\u00b5s/")


def _relative(change: CountChange) -> float:
    size = max(abs(change.baseline), abs(change.treatment))
    return abs(change.difference) / size if size else 0.0


def _signed(value: float) -> str:
    sign = "+" if value > 0 else MINUS if value < 0 else ""
    return sign + _rounded(abs(value))


def _rounded(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.2g}" if value else "0"
