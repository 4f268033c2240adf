"""The amount of load: a number, or a share of the most that the condition can take."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from tare.study.part import StudyPart
from tare.study.quantities import Duration, Fraction, parse_duration
from tare.study.wrong_value import WrongValueError, shortened

MOST_THREADS, MOST_RATE = 100_000, 1e9
_OF_MAX = re.compile(r"(?:([0-9]{1,3}(?:\.[0-9]+)?)% of )?max")
_TARGET = re.compile(r"p(?:50|95|99|99\.9)<=([0-9]+(?:\.[0-9]+)?(?:ms|s|m))")
_SHARE_SCHEMA = {"type": "string", "pattern": r"^([0-9.]+% of )?max$"}


def share_of_max(value: object) -> float | None:
    """The share that "max" (1) or "66% of max" (0.66) names; None for anything else."""
    found = _OF_MAX.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    return float(found[1]) / 100 if found[1] else 1.0


def _sought(value: object) -> bool:
    """Whether it is a share of the maximum; refuses a share of none or of more than all."""
    share = share_of_max(value)
    if share is not None and not 0 < share <= 1:
        raise WrongValueError(
            f"{value} is out of range", "write more than 0% and at most 100% of max"
        )
    return share is not None


def _threads(value: object) -> object:
    if _sought(value):
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongValueError(
            f"{shortened(repr(value))} is not a whole number",
            "give load.threads a whole number, max, or a share such as 66% of max",
        )
    if not 1 <= value <= MOST_THREADS:
        raise WrongValueError(f"{value} threads are out of range", f"write 1 to {MOST_THREADS}")
    return value


def _rate(value: object) -> object:
    if value is None or _sought(value):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise WrongValueError(
            f"{shortened(repr(value))} is not a number",
            "give load.rate a number, max, or a share such as 66% of max",
        )
    if not 0 < value <= MOST_RATE:
        raise WrongValueError(
            f"a rate of {value} is out of range", f"write more than 0, to {MOST_RATE:g}"
        )
    return float(value)


def _schema(unit: str, example: int, *kinds: dict[str, object]) -> WithJsonSchema:
    """Schema of a number in one of these forms, or of a share of the maximum."""
    examples = [example, "max", "66% of max"]
    return WithJsonSchema({"anyOf": [*kinds, _SHARE_SCHEMA], "unit": unit, "examples": examples})


_THREADS: dict[str, object] = {"type": "integer", "minimum": 1, "maximum": MOST_THREADS}
_RATE: dict[str, object] = {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_RATE}
Threads = Annotated[Any, BeforeValidator(_threads), _schema("operations", 32, _THREADS)]
Rate = Annotated[
    Any, BeforeValidator(_rate), _schema("operations/s", 5000, _RATE, {"type": "null"})
]


def _target(value: str) -> str:
    found = _TARGET.fullmatch(value)
    seconds = parse_duration(found[1]) if found else None
    if not isinstance(seconds, float) or seconds <= 0:
        raise WrongValueError(f"{value!r} is no latency target", "write it like p99<=10ms")
    return value


class Search(StudyPart):
    """How the maximum is found that `max` and `66% of max` refer to."""

    of: Literal["condition", "baseline"] = Field(
        "condition",
        description="whose maximum: each condition's own, or that of the study's baseline, "
        "which gives every condition the same load",
    )
    within: Fraction = Field(
        0.05, ge=0.001, le=0.5, description="the search ends when its interval is this narrow"
    )
    budget: Duration = Field(
        300.0, gt=0, description="the search ends after so long, and says how far it came"
    )
    step: Duration = Field(
        10.0,
        ge=0.1,
        description="length of one measurement of the search; it takes a dozen or more",
    )
    latency: Annotated[str, AfterValidator(_target)] | None = Field(
        None,
        description="the highest load that keeps a latency, e.g. p99<=10ms; "
        "null: the highest throughput",
    )


class Phase(StudyPart):
    """A part of the measured time with a load of its own."""

    length: Duration = Field(gt=0, alias="for", description="how long it lasts")
    rate: float = Field(
        gt=0,
        le=MOST_RATE,
        description="intended rate per client at its begin",
        json_schema_extra={"unit": "operations/s"},
    )
    to: float | None = Field(
        None,
        gt=0,
        le=MOST_RATE,
        description="the rate at its end, reached in a straight line; null: constant",
        json_schema_extra={"unit": "operations/s"},
    )
    mix: dict[str, float] = Field(
        {}, description="weights of operations in this phase, for load.statements; else as declared"
    )
