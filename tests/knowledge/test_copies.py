"""Only rows of one table that differ in the number of copies are compared."""

from __future__ import annotations

from typing import Any

import pytest

from tare.knowledge.copies import of_other_copies
from tare.knowledge.query import Query
from tare.knowledge.relevant import about
from tests.knowledge.sample import finding, library


def row(factor: int, old: float, new: float, **more: Any) -> Any:
    effect = {"ratio": round(new / old, 4), "direction": "higher", "how": "two values"}
    values = {"baseline": old, "treatment": new}
    named = {"id": f"rf{factor}", "replication_factor": factor, "values": values, "effect": effect}
    return finding(**{**named, **more})


def changes(*rows: Any) -> dict[tuple[str, int | None, int | None], float | None]:
    """(platform, copies before, copies after) to the ratio."""
    return {
        (
            one.finding.side.platform,
            one.finding.baseline.replication_factor,
            one.finding.treatment.replication_factor,
        ): one.finding.effect.ratio
        for one in of_other_copies(library(rows).entries.values())
        if one.finding.treatment and one.finding.effect
    }


def test_cells_of_one_column_are_compared_in_both_directions() -> None:
    found = changes(row(1, 2.0, 2.2), row(3, 3.0, 4.4))
    assert found == {
        ("native", 1, 3): pytest.approx(1.5),
        ("native", 3, 1): pytest.approx(0.6667),
        ("docker", 1, 3): pytest.approx(2.0),
        ("docker", 3, 1): pytest.approx(0.5),
    }


@pytest.mark.parametrize(
    "other",
    [{"workload": ["ycsb-b"]}, {"source": {"table": "2"}}, {"load": {"rate": 60_000}}],
    ids=["workload", "table", "rate"],
)
def test_other_rows_are_not_compared(other: dict[str, Any]) -> None:
    assert changes(row(1, 2.0, 2.2), row(3, 3.0, 4.4, **other)) == {}


def test_copies_are_asked_about_only_where_they_are_what_is_replaced() -> None:
    rows = [row(1, 2.0, 2.2), row(3, 3.0, 4.4)]
    made = [one.finding for one in of_other_copies(library(rows).entries.values())]
    asked = Query(
        platform="docker", over="docker", replication_factor=3, against_replication_factor=1
    )
    told = [one for one in made if about(asked, one)]
    assert [one.effect and one.effect.ratio for one in told] == [pytest.approx(2.0)]
    assert not any(about(Query(platform="docker", over="native"), one) for one in made)
    clusters = Query(platform="docker", over="docker", clusters=4, against_clusters=1)
    assert not any(about(clusters, one) for one in made)


def test_names_are_unique_where_they_are_long_or_the_sides_are_of_one_platform() -> None:
    long = "a" * 119
    docker = {"runtime": "docker", "network": "host", "client": "native"}
    both = {"baseline": docker, "treatment": {**docker, "storage": "layer"}}
    rows = [row(n, 2.0 + n, 2.2 + n, id=f"{long}{n}", **both) for n in (1, 2, 3)]
    made = [one.finding.id for one in of_other_copies(library(rows).entries.values())]
    assert len(made) == len({*made}) == 12
    assert max(map(len, made)) <= 120
