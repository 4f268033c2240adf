"""The database under test: consistency, compaction, memory, and its own settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from tare.databases.names import DatabaseName
from tare.databases.registry import USUAL
from tare.study.part import StudyPart, unset, usual
from tare.study.quantities import MIB, SCALAR_SCHEMA, Size, parse_size
from tare.study.wrong_value import WrongValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        raise WrongValueError(
            f"{value!r} is neither auto nor a size", "write it like 0MiB or 100MiB"
        )
    return size


def _scalar(value: object) -> object:
    """One value of a database option; a union type would report one mistake four times."""
    if not isinstance(value, (str, int, float)):
        raise WrongValueError("an option is no text, number, true or false", "write one of these")
    return value


def _write_concern(value: object) -> object:
    """A number of members or the word majority, in one message."""
    if value is None or value == "majority":
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_MEMBERS:
        raise WrongValueError(
            f"{value!r} is neither majority nor a number of members",
            f"write majority, or a number from 1 to {MOST_MEMBERS}: a write that nobody "
            "acknowledges has no end to time",
        )
    return value


MOST_MEMBERS = 50
"""Members of a replica set. Source: MongoDB manual, Replica Set Members."""
WriteConcern = Annotated[
    Any,
    BeforeValidator(_write_concern),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "majority"},
                {"type": "integer", "minimum": 1, "maximum": MOST_MEMBERS},
                {"type": "null"},
            ],
            "unit": "members",
        }
    ),
]
ReadPreference = Literal[
    "primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"
]  # MongoDB manual, Read Preference
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
Scalar = Annotated[Any, BeforeValidator(_scalar), WithJsonSchema(SCALAR_SCHEMA)]


ACKNOWLEDGING = ("consistency", "write_concern", "read_preference", "journal")
"""Fields of the database that say how many copies answer an operation."""


class Consistency(StudyPart):
    """How many replicas must answer, per kind of operation."""

    read: ReadConsistency = Field("QUORUM", description="consistency level of reads")
    write: WriteConsistency = Field("QUORUM", description="consistency level of writes")


def both_levels(value: object) -> object:
    """One word is the level of reads and of writes."""
    return {"read": value, "write": value} if isinstance(value, str) else value


class Compaction(StudyPart):
    """How the table's files are merged."""

    strategy: Annotated[Strategy, BeforeValidator(_long_strategy)] = Field(
        "SizeTieredCompactionStrategy",
        description="compaction strategy of the table; STCS, LCS, TWCS, UCS are short names",
        json_schema_extra={"enum": [*SHORT_STRATEGIES.values(), *SHORT_STRATEGIES]},
    )
    options: dict[str, Scalar] = Field(
        {}, description="sub-options of the strategy, as CQL names them"
    )


class Database(StudyPart):
    """The cluster under test."""

    kind: DatabaseName = Field(USUAL, description="which database")
    version: str = Field(
        "5.0.9",
        pattern=r"^[0-9]+\.[0-9]+(\.[0-9]+)?$",
        description="release of the database, in quotes",
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
    consistency: Annotated[
        Consistency,
        BeforeValidator(both_levels, json_schema_input_type=Consistency | ReadConsistency),
    ] = Field(
        Consistency(),
        description="Cassandra: consistency level, one for all operations or {read, write}",
    )
    write_concern: WriteConcern = Field(
        None,
        description="MongoDB: members that must acknowledge a write, or majority; null: the "
        "server's default",
        exclude_if=unset,
    )
    read_preference: ReadPreference | None = Field(
        None,
        description="MongoDB: which members serve reads; null: the client's default, the primary",
        exclude_if=unset,
    )
    journal: bool | None = Field(
        None,
        description="MongoDB: a write is acknowledged once it is in the journal; null: the "
        "server's default",
        exclude_if=unset,
    )
    stand_in: bool = Field(
        False,
        description="MongoDB: let another server stand in: FerretDB, to try a study out, or "
        "without home and image the stub, for the platform's price alone; no number of it is "
        "MongoDB's",
        exclude_if=usual(False),
    )
    settings: dict[str, Any] = Field({}, description="any keys of the database's own settings file")
    compaction: Compaction = Field(
        Compaction(), description="Cassandra: compaction strategy of the benchmark's table"
    )
    key_cache: KeyCache = Field(
        "auto", description="Cassandra: key cache per node, auto or a size; 0MiB: off"
    )
    heap: Annotated[Size, Field(ge=64 * MIB)] = Field(
        512 * MIB, description="Cassandra: Java heap per node, fixed (Xms = Xmx)"
    )
    jvm: list[str] = Field([], description="Cassandra: extra arguments for the server's JVM")

    @property
    def stubbed(self) -> bool:
        """The stub stands in: for no server that is named, in a directory or an image."""
        return self.stand_in and self.home is None and self.image is None
