"""The noise of this machine's slices, as the pilot of `tare doctor --noise` found and kept it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tare.records.kept_measurements import KeptMeasurement, MeasurementPart


class MetricNoise(MeasurementPart):
    """The noise of one metric, all of it in natural logarithms."""

    sd: float = Field(ge=0, description="sd of a slice, the servers' own means taken off")
    correlations: dict[int, float | None] = Field(
        description="lag in slices to the correlation of a slice with the one so many later; "
        "null: the pilot was too short for it"
    )
    per_pass: float = Field(
        ge=0,
        description="standard error of the log-ratio of two conditions after one slice of each; "
        "after n slices of each it is this over the root of n",
    )
    df: float = Field(gt=0, description="degrees of freedom of per_pass")


class Noise(KeptMeasurement):
    """What one pilot found."""

    kept_as: ClassVar[str] = "noise.json"

    seconds: float = Field(description="from the first slice to the last")
    servers: int = Field(description="conditions that were driven in turn")
    slices: int = Field(description="measured, of each condition")
    drain_s: float
    turn: Literal["slice", "pass"] = Field(
        "slice",
        description="slice: each condition had a server of its own; pass: one server, whose turns "
        "have a slice of each",
    )
    metrics: dict[str, MetricNoise]
