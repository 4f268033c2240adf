"""The native workload: a mix of prepared CQL statements with a generator per bind marker."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema

from tare.study.generators import KINDS, generator
from tare.study.part import StudyPart
from tare.study.quantities import Name
from tare.study.wrong_value import WrongValueError

Level = Literal[
    "ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_ONE", "LOCAL_QUORUM", "EACH_QUORUM"
]
Cql = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
WRITING = ("INSERT", "UPDATE", "DELETE", "BEGIN")
"""First words of statements that write; all others read."""


def _generated(value: object) -> object:
    generator(value, 1)  # raises if invalid; the study's own form stays as it is
    return value


Generator = Annotated[
    Any,
    BeforeValidator(_generated),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": ["string", "number", "boolean", "null"]},
                {
                    "type": "object",
                    "properties": {kind: {} for kind in KINDS},
                    "minProperties": 1,
                },
            ],
            "examples": [{"zipf": "records", "format": "user%d"}, {"text": "50..200"}, "new"],
        }
    ),
]
Values = dict[Annotated[str, StringConstraints(min_length=1, max_length=48)], Generator]


class Statement(StudyPart):
    """One operation: a prepared statement, and what is bound to it."""

    cql: Cql = Field(description="the statement, with ? or :name as bind markers")
    values: Values = Field(
        {}, description="bind marker (its own name, or the column's for ?) to its generator"
    )
    weight: float = Field(1.0, ge=0, le=1e9, description="share of the mix, over the sum of all")
    consistency: Level | None = Field(
        None, description="consistency level; null: database.consistency, by what the statement is"
    )
    serial: Literal["SERIAL", "LOCAL_SERIAL"] | None = Field(
        None, description="consistency of the Paxos round of a conditional statement"
    )
    page: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="rows per page of an answer; null: the server's default",
        json_schema_extra={"unit": "rows"},
    )
    rows: Literal["any", "some", "one"] = Field(
        "any", description="rows that an answer must have; one without them is an error"
    )

    @property
    def writes(self) -> bool:
        return self.cql.lstrip().upper().startswith(WRITING)


class Populate(StudyPart):
    """How the tables are filled first: one statement per record."""

    operation: Name | None = Field(None, description="the operation whose statement fills the rows")
    cql: Cql | None = Field(None, description="the statement, where no operation has it")
    values: Values = Field({}, description="generators; those of the operation hold for the rest")


def _keyspace(value: str) -> str:
    if value.startswith("system"):
        raise WrongValueError(f"{value} is the server's own", "take another name")
    return value


class Statements(StudyPart):
    """A workload of one's own."""

    keyspace: Annotated[
        str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,47}$"), AfterValidator(_keyspace)
    ] = Field("tare_load", description="keyspace, created with the study's replication factor")
    tables: list[Cql] = Field(
        [], description="CREATE statements, run in the keyspace before the rows are filled"
    )
    populate: Populate | None = Field(
        None, description="how load.records rows are filled first; null: the tables stay empty"
    )
    operations: dict[Name, Statement] = Field(
        {}, description="operation to its statement; recorded under the name in capitals"
    )
