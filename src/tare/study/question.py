"""The study's `analysis` and `files` sections: how its records are compared and brought in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from tare.study.quantities import NAME_PATTERN, Duration, Fraction, Name

if TYPE_CHECKING:
    from collections.abc import Iterable

_DOTTED = r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+"
_METRIC = rf"^(service_demand|throughput|errors|{_DOTTED})$"
Metric = Annotated[str, StringConstraints(pattern=_METRIC)]
"""service_demand, throughput, OPERATION.KIND such as read.p99 or all.mean, cpu.util, ..."""
MarginName = Annotated[
    str,
    StringConstraints(
        pattern=rf"^(service_demand|throughput|mean|p50|p95|p99|p999|max|{_DOTTED})$"
    ),
]
"""A metric, or a kind of latency, which stands for that of every operation."""

ExhibitKind = Literal[
    "relative-change",
    "median-run",
    "ladder",
    "maximum",
    "quadratic-fit",
    "mean-bars",
    "rankings",
    "band",
    "interval-means",
    "box",
    "spread",
]


class Section(BaseModel):
    """Base of these sections: frozen, no unknown fields, no silent conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def one_or_more(value: object) -> object:
    """One value or a list of them, as a list."""
    return value if isinstance(value, (list, tuple)) else [value]


_NAME = {"type": ["string", "number", "boolean"], "pattern": NAME_PATTERN}
Names = Annotated[
    list[Name],
    BeforeValidator(one_or_more),
    WithJsonSchema({"anyOf": [_NAME, {"type": "array", "items": _NAME}]}),
]
"""A name, or a list of names."""
Metrics = Annotated[
    list[Metric],
    BeforeValidator(one_or_more),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": _METRIC},
                {"type": "array", "items": {"type": "string", "pattern": _METRIC}},
            ]
        }
    ),
]
"""A metric, or a list of metrics."""


class Over(Section):
    """Factors over whose levels an effect is averaged, and how."""

    factors: Names = Field(description="effects are averaged over the levels of these")
    how: Literal["mean-of-ratios", "ratio-of-means", "model"] = Field(
        "model",
        description="mean-of-ratios: the mean over the cells of treatment mean over baseline mean "
        "(Grambow 2018, Tables 3 and 4); ratio-of-means: of all values together; model: the mean "
        "of the log-ratios, as the model's estimate of the main effect",
    )


def _over(value: object) -> object:
    """Names alone are the factors; how they are averaged is then the usual way."""
    return {"factors": value} if isinstance(value, (str, list)) else value


class AskedExhibit(Section):
    """A figure or table that the report is asked to show beyond what it always shows."""

    kind: ExhibitKind = Field(description="which figure or table")
    title: str | None = Field(None, description="its heading; null: one made from its parts")
    metrics: Metrics = Field([], description="metrics shown; none: the kind's usual ones")
    x: Name | None = Field(
        None,
        description="factor along the horizontal axis; in a ladder also `throughput`, the measured "
        "one; null: the factor that fits, if there is one",
    )
    lines: Names = Field(
        [],
        description="factors whose levels are told apart by colour, jointly; none: those compared",
    )
    panels: Names = Field(
        [],
        description="factors with one panel or row per combination of levels; rankings: factors "
        "whose combinations are ranked one by one",
    )
    where: dict[Name, Names] = Field(
        {}, description="only conditions with these levels: factor to a level or a list of levels"
    )
    groups: dict[Name, Names] = Field(
        {},
        description="rankings: a name to the levels of the first factor of panels among which an "
        "order must recur, e.g. update-heavy: [a, f]; none: all",
    )
    ties: Annotated[Fraction, Field(ge=0, lt=1)] | None = Field(
        None,
        description="rankings: means closer than this to each other share a rank; null: every "
        "difference counts, as in Truyen 2018",
    )
    intervals: list[Annotated[int, Field(ge=1, le=120)]] = Field(
        [], description="interval-means: numbers of intervals that are averaged; none: 2, 4 and 8"
    )
    window: Annotated[Duration, Field(ge=1)] | None = Field(
        None,
        description="band: length of a window; null: 30 s, or less where the measured part is "
        "short",
        json_schema_extra={"unit": "s"},
    )


class AnalysisSection(Section):
    """What is compared with what; without it, every level with the baseline's, factor by factor."""

    compare: Names = Field(
        [],
        description="factors compared jointly: each combination of their levels against the "
        "baseline's combination; none: each factor of the baseline by itself",
    )
    by: Names = Field([], description="factors for each level of which the comparison is made anew")
    over: Annotated[Over, BeforeValidator(_over, json_schema_input_type=Over | Names)] | None = (
        Field(
            None, description="factors averaged over, a name, a list or {factors, how}; null: none"
        )
    )
    metrics: Metrics = Field([], description="metrics compared; none: all that there are")
    primary: Metrics = Field(
        [],
        max_length=4,
        description="primary endpoints, at most 4, under Holm's correction; none: service_demand, "
        "throughput and all.p99 where a margin is declared",
    )
    pairing: Literal["auto", "block", "none"] = Field(
        "auto",
        description="block: treatment and baseline of one block are a pair; none: repetitions "
        "are independent; auto: block for Tare's own runs, none for imported files",
    )
    show: list[AskedExhibit] = Field([], description="further figures and tables of the report")

    @property
    def has_roles(self) -> bool:
        """Whether factors have roles; else each factor of the baseline is compared by itself."""
        return bool(self.compare or self.by or self.over)

    def compared(self, baseline: Iterable[str]) -> list[list[str]]:
        """The factors whose levels are compared, together where `compare` says so.

        Args:
            baseline: the factors that the study's baseline names.
        """
        if self.compare:
            return [list(self.compare)]
        kept = {*self.by, *(self.over.factors if self.over else ())}
        return [[factor] for factor in baseline if factor not in kept]


class FilesSection(Section):
    """How files of other tools become trials of this study."""

    template: str | None = Field(
        None,
        description="file name with named fields, e.g. {client}_{threads}_{repetition}.txt; "
        "--factors overrides it. Fields are factors, or repetition, block, round; {_} is ignored",
    )
    values: dict[Name, dict[str, str]] = Field(
        {}, description="per factor, the text in the file name to the level that it means"
    )
