"""Conditions that cannot be run: listed in the plan with the reason, while the others run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel, ConfigDict, Field

from tare.enumeration import first_of
from tare.study.conditions import Condition
from tare.study.part import unset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tare.study.schema import Setup


class Hindrance(Protocol):
    """Why a setup cannot be run."""

    @property
    def field(self) -> tuple[str, ...]:
        """Path of the field that asks for something unavailable."""
        ...

    @property
    def why(self) -> str: ...
    @property
    def remedy(self) -> str: ...


class SeveralHindrances(Hindrance, Protocol):
    """The hindrance of a setup that asks for several unavailable things."""

    @property
    def whys(self) -> tuple[str, ...]:
        """Each reason by itself; `why` is all of them."""
        ...


class LeftOutCondition(BaseModel):
    """A condition of the study that is not run, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    condition: Condition
    field: str = Field(description="dotted path of the field that asks for what there is not")
    why: str = Field(description="what cannot be run")
    remedy: str = Field(description="what would make it run")
    whys: list[str] = Field(
        [], description="each reason by itself, where there are several", exclude_if=unset
    )

    @property
    def path(self) -> tuple[str, ...]:
        """The path of `field`."""
        return tuple(self.field.split("."))


def divide(
    conditions: Iterable[Condition], hindered: Callable[[Setup], SeveralHindrances | None] | None
) -> tuple[list[Condition], list[LeftOutCondition]]:
    """The conditions that can be run, and those that are left out, each in the study's order.

    Args:
        hindered: why a setup cannot be run, None where it can; without it, nothing is left out.
    """
    kept: list[Condition] = []
    left: list[LeftOutCondition] = []
    for one in conditions:
        found = hindered(one.setup) if hindered is not None else None
        if found is None:
            kept.append(one)
        else:
            field = ".".join(found.field)
            left.append(
                LeftOutCondition(
                    condition=one,
                    field=field,
                    why=found.why,
                    remedy=found.remedy,
                    whys=list(found.whys) if len(found.whys) > 1 else [],
                )
            )
    return kept, left


def in_words(
    gone: Mapping[str, Mapping[str, str]], rest: Iterable[Mapping[str, str]], most: int = 8
) -> str:
    """Conditions in few words: by their levels of one factor if these identify them, else by name.

    Args:
        gone: name of a condition to its levels, factor to level.
        rest: the levels of all other conditions of the study.
        most: number of names that are written out.
    """
    others = list(rest)
    if len(gone) > 1 and not others:
        return "every condition"
    by_factor: list[tuple[str, list[str]]] = []
    for factor in next(iter(gone.values()), {}) if len(gone) > 1 else ():
        levels = list(dict.fromkeys(own.get(factor, "") for own in gone.values()))
        if not any(own.get(factor) in levels for own in others):
            by_factor.append((factor, levels))
    if not by_factor:
        return first_of(list(gone), most)
    factor, levels = min(by_factor, key=lambda found: len(found[1]))
    return f"{factor} {first_of(levels, most)} ({len(gone):,} conditions)"


def reasons(left: Iterable[LeftOutCondition]) -> list[str]:
    """Every reason once."""
    return list(dict.fromkeys(part for one in left for part in one.whys or [one.why]))
