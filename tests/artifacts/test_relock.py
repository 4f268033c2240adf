"""Coordinates are read from the paths of Maven's repository layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.artifacts.lock import read_lock
from tare.artifacts.relock import JAVA, jar_at


@pytest.mark.parametrize(
    ("path", "coordinates"),
    [
        (
            "org/apache/cassandra/cassandra-all/5.0.9/cassandra-all-5.0.9.jar",
            ("org.apache.cassandra", "cassandra-all", "5.0.9", None),
        ),
        (
            "io/netty/netty-epoll/4.1.130.Final/netty-epoll-4.1.130.Final-linux-x86_64.jar",
            ("io.netty", "netty-epoll", "4.1.130.Final", "linux-x86_64"),
        ),
        (
            "javax/inject/javax.inject/1/javax.inject-1.jar",
            ("javax.inject", "javax.inject", "1", None),
        ),
    ],
)
def test_a_path_gives_its_coordinates(
    path: str, coordinates: tuple[str, str, str, str | None]
) -> None:
    jar = jar_at(Path(path), "0" * 64)

    assert (jar.group, jar.artifact, jar.version, jar.classifier) == coordinates
    assert jar.file == Path(path).name


def test_the_packaged_lock_has_the_java_that_a_new_lock_would_get() -> None:
    assert read_lock("5.0.9").java == JAVA
