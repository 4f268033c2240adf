"""The study document as frozen pydantic models: every field with meaning, unit and default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    StringConstraints,
    WithJsonSchema,
)

from tare.study.database import SHORT_STRATEGIES as SHORT_STRATEGIES
from tare.study.database import Compaction as Compaction
from tare.study.database import Consistency as Consistency
from tare.study.database import Database as Database
from tare.study.design import WINDOWS as WINDOWS
from tare.study.design import Design as Design
from tare.study.design import Warm as Warm
from tare.study.load import Load as Load
from tare.study.origins import Origins
from tare.study.part import StudyPart as StudyPart
from tare.study.part import unset
from tare.study.platform import Client as Client
from tare.study.platform import Limits as Limits
from tare.study.platform import Platform as Platform
from tare.study.quantities import SCALAR_SCHEMA, Fraction, Name
from tare.study.question import AnalysisSection, FilesSection, MarginName, one_or_more

if TYPE_CHECKING:
    from tare.study.origins import FieldPath


def _patch(value: object) -> object:
    """A level without a patch (null) is the base document as it stands."""
    return {} if value is None else value


Patch = Annotated[dict[str, Any], BeforeValidator(_patch)]
LEVELS_SCHEMA = {"anyOf": [SCALAR_SCHEMA, {"type": "array", "items": SCALAR_SCHEMA, "minItems": 1}]}
Levels = Annotated[
    list[Name], BeforeValidator(one_or_more), WithJsonSchema(LEVELS_SCHEMA), Field(min_length=1)
]


class Setup(StudyPart):
    """One condition's resolved document: everything that a level may patch."""

    database: Database = Field(Database(), description="the cluster under test")
    platform: Platform = Field(Platform(), description="what the database runs on")
    client: Client = Field(Client(), description="where the load comes from")
    clusters: int = Field(
        1,
        ge=1,
        le=16,
        description="clusters side by side, each with a client of its own",
        json_schema_extra={"unit": "clusters"},
    )
    load: Load = Field(Load(), description="a workload and its intensity")

    @property
    def apart_from_intensity(self) -> str:
        """Everything but threads and rate: the same for setups that differ only in how hard they
        are driven."""
        return self.model_dump_json(exclude={"load": {"threads", "rate"}})


Margins = dict[MarginName, Annotated[Fraction, Field(gt=0, lt=1)]]


class Study(Setup):
    """One study: a base setup, the factors that vary it, and the design that measures them."""

    study: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")] = Field(
        description="name of the study: lower-case letters, digits and hyphens"
    )
    question: str = Field("", description="what the study is to answer, in a sentence")
    factors: dict[Name, dict[Name, Patch]] = Field(
        {}, description="factor to its levels; a level is a patch over the base document"
    )
    baseline: dict[Name, Name] = Field(
        {}, description="the level of each factor that the others are compared with"
    )
    exclude: list[dict[Name, Levels]] = Field(
        [], description="combinations to leave out: factor to a level or a list of levels"
    )
    only: dict[Name, Levels] = Field(
        {},
        description="the conditions that are measured: factor to a level or a list of levels; "
        "empty: all; `--only` sets it",
        exclude_if=unset,
    )
    design: Design = Field(Design(), description="how often, and in which order")
    margins: Margins = Field(
        {"service_demand": 0.05, "throughput": 0.05, "mean": 0.05, "p99": 0.10},
        description="per metric, the relative difference that would not matter",
    )
    scale: Name | None = Field(
        None,
        description="the scale at which the study is run where `--scale` names none; null: as the "
        "document says",
        exclude_if=unset,
    )
    scales: dict[Name, Patch] = Field(
        {},
        description="the study at other sizes: a scale's name to a patch over the document, of "
        "sizes, durations, repetitions and intensities alone",
        exclude_if=unset,
    )
    analysis: AnalysisSection = Field(
        AnalysisSection(), description="what is compared with what, and what the report shows"
    )
    files: FilesSection = Field(
        FilesSection(), description="how files of other tools become trials of this study"
    )
    _origins: Origins = PrivateAttr(default_factory=Origins)

    @property
    def setup(self) -> Setup:
        """The base document alone: what levels patch."""
        return Setup(**{name: getattr(self, name) for name in Setup.model_fields})

    @property
    def origins(self) -> Origins:
        """Where each field was written; empty for a study that no file holds."""
        return self._origins

    def with_origins(self, origins: Origins) -> Self:
        """The same study, knowing where its fields were written."""
        located = self.model_copy()
        located._origins = origins
        return located

    def origin(self, path: FieldPath) -> str:
        """ "file:line" at which the field was written, "" for a study that no file holds."""
        return self._origins.of(path)
