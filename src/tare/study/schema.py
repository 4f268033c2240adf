"""The study document as frozen pydantic models: every field with meaning, unit and default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    StringConstraints,
    WithJsonSchema,
)

from tare.study.load import Load as Load
from tare.study.origins import Origins
from tare.study.part import Part as Part
from tare.study.quantities import MIB, CpuSet, Duration, Fraction, Name, Size, parse_size
from tare.study.question import AnalysisSection, FilesSection, MarginName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tare.study.origins import FieldPath

ReadConsistency = Literal[
    "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_ONE", "LOCAL_QUORUM"
]  # Cassandra serves no read at ANY or EACH_QUORUM
WriteConsistency = Literal[
    "ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_ONE", "LOCAL_QUORUM", "EACH_QUORUM"
]
Strategy = Literal[
    "SizeTieredCompactionStrategy",
    "LeveledCompactionStrategy",
    "TimeWindowCompactionStrategy",
    "UnifiedCompactionStrategy",
]
SHORT_STRATEGIES: Mapping[str, Strategy] = {
    "STCS": "SizeTieredCompactionStrategy",
    "LCS": "LeveledCompactionStrategy",
    "TWCS": "TimeWindowCompactionStrategy",
    "UCS": "UnifiedCompactionStrategy",
}


def _long_strategy(value: object) -> object:
    return SHORT_STRATEGIES.get(value, value) if isinstance(value, str) else value


def _key_cache(value: object) -> object:
    """The word auto, or whole bytes; a union type would report one mistake twice."""
    if value == "auto":
        return value
    size = parse_size(value)
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ValueError(f"{value!r} is neither auto nor a size; write it like 0MiB or 100MiB")
    return size


def _scalar(value: object) -> object:
    """One value of a database option; a union type would report one mistake four times."""
    if not isinstance(value, (str, int, float)):
        raise ValueError("an option is a text, a number, true or false")
    return value


def _patch(value: object) -> object:
    """A level without a patch (null) is the base document as it stands."""
    return {} if value is None else value


def _levels(value: object) -> object:
    """One level or a list of levels, as a list."""
    return value if isinstance(value, (list, tuple)) else [value]


KeyCache = Annotated[
    Any,
    BeforeValidator(_key_cache),
    WithJsonSchema(
        {
            "anyOf": [{"const": "auto"}, {"type": "integer"}, {"type": "string"}],
            "unit": "bytes",
            "examples": ["auto", "0MiB", "100MiB"],
        }
    ),
]
Patch = Annotated[dict[str, Any], BeforeValidator(_patch)]
SCALAR_SCHEMA = {"type": ["string", "number", "boolean"]}
Scalar = Annotated[Any, BeforeValidator(_scalar), WithJsonSchema(SCALAR_SCHEMA)]
LEVELS_SCHEMA = {"anyOf": [SCALAR_SCHEMA, {"type": "array", "items": SCALAR_SCHEMA, "minItems": 1}]}
Levels = Annotated[
    list[Name], BeforeValidator(_levels), WithJsonSchema(LEVELS_SCHEMA), Field(min_length=1)
]


class Consistency(Part):
    """How many replicas must answer, per kind of operation."""

    read: ReadConsistency = Field("QUORUM", description="consistency level of reads")
    write: WriteConsistency = Field("QUORUM", description="consistency level of writes")


class Compaction(Part):
    """How the table's files are merged."""

    strategy: Annotated[Strategy, BeforeValidator(_long_strategy)] = Field(
        "SizeTieredCompactionStrategy",
        description="compaction strategy of the table; STCS, LCS, TWCS, UCS are short names",
        json_schema_extra={"enum": [*SHORT_STRATEGIES.values(), *SHORT_STRATEGIES]},
    )
    options: dict[str, Scalar] = Field(
        {}, description="sub-options of the strategy, as CQL names them"
    )


class Limits(Part):
    """What one unit may use; applied alike on every runtime. null: no limit."""

    cpus: float | None = Field(
        None, gt=0, description="CPU time quota per unit", json_schema_extra={"unit": "cores"}
    )
    cpuset: CpuSet | None = Field(None, description="the CPUs that a unit may run on, e.g. 0-1")
    memory: Annotated[Size, Field(gt=0)] | None = Field(
        None, description="memory limit per unit, page cache included"
    )


class Database(Part):
    """The cluster under test."""

    kind: Literal["cassandra"] = Field("cassandra", description="which database")
    version: str = Field(
        "5.0.9", pattern=r"^\d+\.\d+(\.\d+)?$", description="release of the database, in quotes"
    )
    home: str | None = Field(
        None, min_length=1, description="a database directory that you already have; else fetched"
    )
    image: str | None = Field(
        None,
        min_length=1,
        description="a container image to run instead of the locked files; different bits",
    )
    nodes: int = Field(
        1, ge=1, le=100, description="nodes per cluster", json_schema_extra={"unit": "nodes"}
    )
    replication_factor: int = Field(
        1, ge=1, le=100, description="copies of each row", json_schema_extra={"unit": "replicas"}
    )
    consistency: Consistency = Field(
        Consistency(), description="consistency level per kind of operation"
    )
    settings: dict[str, Any] = Field({}, description="any keys of the database's own settings file")
    compaction: Compaction = Field(
        Compaction(), description="compaction strategy of the benchmark's table"
    )
    key_cache: KeyCache = Field("auto", description="key cache per node: auto or a size; 0MiB: off")
    heap: Annotated[Size, Field(ge=64 * MIB)] = Field(
        512 * MIB, description="Java heap per node, fixed (Xms = Xmx)"
    )
    jvm: list[str] = Field([], description="extra arguments for the server's JVM")


class Platform(Part):
    """What the database runs on."""

    machines: Literal["local"] = Field("local", description="where the machines come from")
    runtime: Literal["native", "docker"] = Field("native", description="how a node is run")
    network: Literal["host", "bridge", "published"] = Field(
        "host",
        description="host: the machine's own network; bridge: the container's address; "
        "published: a port mapped through NAT",
    )
    storage: Literal["directory", "volume", "layer"] = Field(
        "directory",
        description="where the data lies: a directory of the machine, a Docker volume, "
        "or the container's writable layer",
    )
    limits: Limits = Field(Limits(), description="limits of each database node")


class Client(Part):
    """Where the load comes from."""

    tool: Literal["tare", "ycsb", "cassandra-stress", "latte"] = Field(
        "tare",
        description="the load generator of the trials: Tare's own, or one that is fetched; "
        "rows are populated and servers warmed by Tare's own",
    )
    machines: Literal["local"] = Field("local", description="where the machines come from")
    runtime: Literal["native", "docker"] = Field("native", description="how a client is run")
    network: Literal["host", "bridge"] = Field("host", description="the client's network")
    limits: Limits = Field(Limits(), description="limits of each load client")


class Setup(Part):
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


WINDOWS = 4
"""windows of a warm-up that are compared: the mean of the last two with that of the two before"""


class Warm(Part):
    """The warm-up of a fresh deployment, before its first trial: load until the server is flat."""

    gentle: Annotated[Duration, Field(ge=0)] = Field(
        0.0,
        description="first, for at most so long, only `gentle_threads` operations in flight: the "
        "JIT compiler then has the CPU for itself and is done several times sooner",
    )
    gentle_threads: int = Field(
        2, ge=1, description="in flight while gentle", json_schema_extra={"unit": "operations"}
    )
    cpus: Literal["limits", "all"] = Field(
        "limits",
        description="all: deploy, populate and begin to warm up on every CPU, and confine the "
        "nodes to platform.limits.cpuset before the last part of the warm-up",
    )
    at_least: Annotated[Duration, Field(ge=0)] = Field(
        10.0, description="shortest warm-up under the full load"
    )
    at_most: Annotated[Duration, Field(ge=0)] = Field(
        60.0,
        description="longest warm-up under the full load; then measured all the same, and "
        "reported as not flat",
    )
    window: Annotated[Duration, Field(gt=0)] = Field(
        3.0, description="length of the windows that are compared"
    )
    bound: Annotated[Fraction, Field(gt=0, le=1)] = Field(
        0.05, description="flat: the last windows agree in CPU per operation and throughput within"
    )


class Design(Part):
    """How often, in which order, and from which state each condition is measured."""

    deployments: int = Field(
        3,
        ge=1,
        le=1000,
        description="rounds; each deploys every condition anew",
        json_schema_extra={"unit": "rounds"},
    )
    blocks: int = Field(
        4,
        ge=1,
        le=1000,
        description="passes over all conditions per round",
        json_schema_extra={"unit": "blocks"},
    )
    order: Literal["randomised", "fixed"] = Field(
        "randomised", description="order of conditions within a block"
    )
    seed: int = Field(7, ge=0, description="seed of every random order")
    fresh: Literal["trial", "block", "deployment"] = Field(
        "deployment", description="how long a cluster lives"
    )
    idle: Literal["pause", "run"] = Field(
        "pause", description="what clusters do while another one is measured"
    )
    reset: Literal["truncate", "drop", "keep"] = Field(
        "truncate", description="what happens to the data before each trial"
    )
    drop_caches: bool = Field(
        True, description="drop the kernel's page cache before each trial, where permitted"
    )
    warm: Warm = Field(Warm(), description="warm-up of a fresh deployment")


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
    design: Design = Field(Design(), description="how often, and in which order")
    margins: Margins = Field(
        {"throughput": 0.05, "mean": 0.05, "p99": 0.10},
        description="per metric, the relative difference that would not matter",
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
