"""`tare advise`: what is known of a platform, near the conditions asked about, and what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from tare.cli.options import Json, Knowledge
from tare.databases import registry as databases
from tare.enumeration import either
from tare.machines.registry import guests
from tare.runtimes.registry import BARE, CONTAINER, containers, names

PLATFORMS = (*names(), *guests())
CLIENTS = (BARE, *containers())


def command(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="A study to advise on; with --check, two analysis.json: the old, the new.",
            metavar="STUDY | OLD NEW",
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(help="Of the study, one of its scales, e.g. laptop.", metavar="NAME"),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Is the change larger than what the platform does?")
    ] = False,
    database: Annotated[str, typer.Option(help="cassandra or mongodb.")] = "",
    version: Annotated[str, typer.Option("--database-version", help="Its release.")] = "",
    platform: Annotated[str, typer.Option(help=f"{', '.join(PLATFORMS)}.")] = CONTAINER,
    over: Annotated[str, typer.Option(help="The platform that it replaces.")] = BARE,
    network: Annotated[str, typer.Option(help="host, bridge, published, service-ip, ...")] = "",
    storage: Annotated[str, typer.Option(help="directory, volume, layer, host-path.")] = "",
    against_network: Annotated[str, typer.Option(help="Network it replaces, same platform.")] = "",
    against_storage: Annotated[str, typer.Option(help="Storage it replaces, same platform.")] = "",
    plugin: Annotated[str, typer.Option(help="Network plugin: weave, flannel, overlay.")] = "",
    address: Annotated[
        str, typer.Option(help="Stable address before a machine: floating-ip, host-name.")
    ] = "",
    against_plugin: Annotated[str, typer.Option(help="Plugin it replaces, same platform.")] = "",
    against_address: Annotated[str, typer.Option(help="Address it replaces, same platform.")] = "",
    machines: Annotated[str, typer.Option(help="What both sides run on: physical or vm.")] = "",
    instance: Annotated[str, typer.Option(help="The cloud's name of it, as m3.large.")] = "",
    client: Annotated[str, typer.Option(help=f"The load client: {either(CLIENTS)}.")] = BARE,
    operation: Annotated[
        str,
        typer.Option(
            help="read, update, write, ...; mixed: a load of both, as one; all: all operations of "
            "the workload together."
        ),
    ] = "",
    workload: Annotated[str, typer.Option(help="ycsb-a, stress-mixed, ...")] = "",
    load: Annotated[str, typer.Option(help="Share of the maximum, 66% or 0.66.")] = "",
    threads: Annotated[int | None, typer.Option(min=1, help="Operations in flight.")] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes per cluster.")] = None,
    replication_factor: Annotated[
        int | None, typer.Option(min=1, help="Copies of each row.")
    ] = None,
    consistency: Annotated[str, typer.Option(help="Of reads and writes: ONE, QUORUM, ...")] = "",
    clusters: Annotated[int | None, typer.Option(min=1, help="Clusters side by side.")] = None,
    against_clusters: Annotated[
        int | None,
        typer.Option(min=1, help="How many they replace, same platform."),
    ] = None,
    against_replication_factor: Annotated[
        int | None, typer.Option(min=1, help="Copies it replaces, same platform.")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Only one of mean, p95, p99, throughput, cpu, cpu_per_op, disk.")
    ] = "",
    purpose: Annotated[
        str,
        typer.Option(
            "--for",
            help="What the benchmark is for: compare-systems, absolute-values, "
            "compare-configurations, track-changes.",
        ),
    ] = "",
    margin: Annotated[str, typer.Option(help="The difference that would matter.")] = "5%",
    round_trips: Annotated[float, typer.Option(min=0.01, help="Of an operation of yours.")] = 1.0,
    operation_us: Annotated[
        float | None, typer.Option(min=0.01, help="CPU time of an operation of yours.")
    ] = None,
    row_bytes: Annotated[
        int | None, typer.Option(min=1, help="Of each answer to an operation of yours.")
    ] = None,
    study_out: Annotated[
        Path | None, typer.Option(help="Write the study that would settle it.")
    ] = None,
    knowledge: Knowledge = None,
    json: Json = False,
) -> None:
    """Say what others found under the nearest conditions, and whether it is safe to dockerise."""
    from tare.cli import advising
    from tare.cli.console import say
    from tare.errors import KnowledgeError
    from tare.knowledge.advice import FAMILIES, advise
    from tare.knowledge.guidelines import PURPOSES
    from tare.knowledge.library import load_library
    from tare.knowledge.measured import measured_runs
    from tare.knowledge.mixes import READS
    from tare.knowledge.proposal import load_note, study_text, write_study
    from tare.knowledge.query import Query
    from tare.knowledge.schema import Operation, Plugin
    from tare.study.database import ReadConsistency
    from tare.study.platform import Network, Storage

    plugins = tuple(one for one in get_args(Plugin) if one)
    library = load_library(knowledge or [])
    given, unasked = files or [], ""
    if check or given:
        advising.refuse_unused(context, advising.ABOUT_CHECK if check else advising.ABOUT_FILES)
    if check:
        advising.check(library, given, json=json)
        return
    options = {
        "metric": advising.one_of("--metric", metric, FAMILIES),
        "margin": advising.share("--margin", margin),
    }
    options["purposes"] = [advising.one_of("--for", purpose, PURPOSES)] if purpose else PURPOSES
    if given:
        questions, unasked = advising.of_study(given, scale)
    else:
        known: dict[str, tuple[str, ...]] = {
            "database": databases.names(),
            **dict.fromkeys(("platform", "over"), PLATFORMS),
            **dict.fromkeys(("network", "against_network"), get_args(Network)),
            **dict.fromkeys(("storage", "against_storage"), get_args(Storage)),
            **dict.fromkeys(("plugin", "against_plugin"), plugins),
            **dict.fromkeys(("address", "against_address"), advising.ADDRESSES),
            "machines": ("physical", "vm"),
            "client": CLIENTS,
            "operation": get_args(Operation),
            "consistency": get_args(ReadConsistency),
            "workload": tuple(READS),
        }
        free = ("version", "instance", "threads", "nodes", "replication_factor", "clusters",
                "against_clusters", "against_replication_factor")  # fmt: skip
        said: dict[str, Any] = {name: context.params[name] for name in free}
        for name, values in known.items():
            option = f"--{name.replace('_', '-')}"
            said[name] = advising.one_of(option, context.params[name], values)
        asked = Query(**said, share=advising.share("--load", load) if load else None)
        advising.refuse_alike(asked)
        questions = {"": asked}
    own = measured_runs()
    answers = {
        name: advise(library, one, measured=own, **options) for name, one in questions.items()
    }
    settled = ""
    if study_out is not None:
        if len(questions) > 1:
            raise KnowledgeError(
                "one study settles one question",
                why=f"{len(questions)} questions: {', '.join(questions)}",
                remedy="ask by --network and the like, or run the study itself",
            )
        name, asked = next(iter(questions.items()))
        write_study(study_out, study_text(asked, answers[name].settle))
        settled = f"{study_out}\n{load_note(asked)}"
    advising.print_answers(answers, settled, unasked, json=json)
    if (
        not given
        and not json
        and asked.over == BARE != asked.platform
        and asked.platform in names()
    ):
        from tare.cli.own_prices import in_all_lines, price_lines

        say("")
        told = price_lines(
            asked.platform,
            asked.network,
            round_trips,
            operation_us,
            asked.database or databases.USUAL,
            row_bytes,
        )
        for line in [*told, *in_all_lines(answers[""].measured)]:
            say(line)
