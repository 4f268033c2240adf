"""`tare load`: the load generator alone, also in the place of YCSB and cassandra-stress."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from tare.artifacts.binaries import find

CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""All arguments, from the first word on, belong to the load generator."""


def command(
    words: Annotated[
        list[str],
        typer.Argument(
            help="run, ycsb, stress, find-max or merge, and its options.", metavar="COMMAND ..."
        ),
    ],
) -> None:
    """Send load to a cluster: the load generator alone, also as YCSB or cassandra-stress.

    run --spec FILE: a specification in JSON; progress and result as JSON lines.

    ycsb load|run cassandra-cql -P FILE -p NAME=VALUE -threads N -target N: as YCSB.

    stress write|read|mixed|counter_write|counter_read|user ...: as cassandra-stress.

    find-max --spec FILE: the highest throughput, fractions of it, the rate under a latency target.

    merge A.hlog B.hlog -o OUT.hlog: several clients' histograms as one.

    `tare load COMMAND --help` tells more. Streams and exit status are the load generator's own.
    """
    binary = str(find("tare-load"))
    sys.stdout.flush()
    # this process becomes the load generator, so that signals and streams reach it unchanged
    os.execv(binary, ["tare-load", *words])  # noqa: S606
