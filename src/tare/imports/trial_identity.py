"""The trial of a study that a file belongs to: its factors' levels, its round and its block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.enumeration import first_of
from tare.imports.file_content import UnreadableError
from tare.nearest import nearest
from tare.study.conditions import condition_name, expand
from tare.study.patch import assignments
from tare.study.template import PLACES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.study.conditions import Condition
    from tare.study.schema import Study

MOST_REPETITIONS = 100_000
MOST_LISTED = 12
OPERATION = "operation"
"""Field that names the operation of a histogram log without tags."""
ROUND = "round"
LONGEST_REPETITION = 100
BLOCK_FIELDS = ("repetition", "block")


@dataclass(frozen=True)
class TrialPlace:
    """A trial's place in the study.

    Attributes:
        block: as written; from 0 where the files count from 0; 0 where it has a name.
        called: the repetition's name, if it is no number: a time stamp, say.
    """

    condition: Condition
    round: int
    block: int
    called: str = ""

    @property
    def repetition(self) -> str:
        """The repetition as in the files."""
        return self.called or str(self.block)


@dataclass
class LevelNames:
    """From texts to levels, and from levels to conditions.

    Attributes:
        fixed: factor to the level of all files, as stated on the command line.
    """

    study: Study
    fixed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._conditions = {condition.name: condition for condition in expand(self.study)}
        self._texts = {factor: _texts(self.study, factor) for factor in self.study.factors}

    def level(self, factor: str, text: str) -> str | None:
        """The level that the text means; None if it means none."""
        return self._texts[factor].get(text)

    def place(self, named: Mapping[str, str], facts: Mapping[str, str]) -> TrialPlace:
        """The place that a file's name and content give.

        Args:
            named: field to text, from the template or the sidecar.
            facts: from the content; they serve where the name says nothing.

        Raises:
            UnreadableError: an unknown factor or level, or both sources contradict each other.
        """
        levels = {factor: self._level(factor, named, facts) for factor in self.study.factors}
        name = condition_name(levels)
        condition = self._conditions.get(name)
        if condition is None:
            raise UnreadableError(f"the study excludes {name}")
        text = next((named[one] for one in BLOCK_FIELDS if one in named), "1")
        block = _repetition(text)
        called = _called(text) if block is None else ""
        round_ = _count(named.get(ROUND, "1"), ROUND, least=1)
        return TrialPlace(condition, round_, block or 0, called)

    def _level(self, factor: str, named: Mapping[str, str], facts: Mapping[str, str]) -> str:
        if factor in self.fixed:
            return self.fixed[factor]
        told = facts.get(factor)
        text = named.get(factor, told)
        known = self.study.factors[factor]
        if text is None:
            if len(known) == 1:
                return next(iter(known))
            raise UnreadableError(
                f"neither its name nor its content tells the factor {factor}; name it in "
                f"files.template or --factors as {{{factor}}}, or say --level {factor}=LEVEL"
            )
        level = self.level(factor, text)
        if level is None:
            near = nearest(text, known)
            hint = f"did you mean {near}? or " if near else ""
            raise UnreadableError(
                f"{factor} is {text[:80]!r}, which is no level: levels are "
                f"{first_of(list(known), MOST_LISTED)}; "
                f"{hint}map the text to one in files.values"
            )
        if told is not None and self.level(factor, told) not in (level, None):
            raise UnreadableError(f"its name says {factor} {text}, its content {told}")
        return level


def _texts(study: Study, factor: str) -> dict[str, str]:
    """Text to level: the study's mapping, levels' names, and the one value that a level sets."""
    texts: dict[str, str] = {}
    values: dict[str, list[str]] = {}
    for level, patch in study.factors[factor].items():
        changes = list(assignments(patch))
        if len(changes) == 1 and isinstance(changes[0].value, (str, int, float)):
            values.setdefault(str(changes[0].value), []).append(level)
    texts |= {value: levels[0] for value, levels in values.items() if len(levels) == 1}
    texts |= {level: level for level in study.factors[factor]}
    return texts | study.files.values.get(factor, {})


def _count(text: str, what: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UnreadableError(f"{what} is {text[:40]!r}, not a whole number")
    if not least <= int(text) <= MOST_REPETITIONS:
        raise UnreadableError(f"{what} is {text}, not from {least} to {MOST_REPETITIONS:,}")
    return int(text)


def _repetition(text: str) -> int | None:
    """The number of a repetition; None where the text is its name."""
    counts = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if counts and int(text) <= MOST_REPETITIONS else None


def _called(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > LONGEST_REPETITION:
        raise UnreadableError(
            f"repetition is {text[:40]!r}, no name: printable, and at most "
            f"{LONGEST_REPETITION} characters"
        )
    return text


def known_fields(study: Study) -> tuple[str, ...]:
    """Fields that a template or a sidecar may have."""
    return (*study.factors, *PLACES, OPERATION)
