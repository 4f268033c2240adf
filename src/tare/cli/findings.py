"""`tare findings`: list and filter what others found, show one, check files, add a run's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tare.cli.commands import NOT_VALID
from tare.cli.console import paged, say, say_as_json, say_document, say_json, table_console
from tare.cli.options import Json, Knowledge, RunDirectory
from tare.errors import KnowledgeError
from tare.knowledge.select import Filters, select
from tare.report.numbers import count

if TYPE_CHECKING:
    from tare.knowledge.library import Entry
    from tare.records.prices import Weighing


app = typer.Typer(
    help="What others found, and your own: list, show, check, add.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def listing(
    context: typer.Context,
    database: Annotated[str, typer.Option(help="cassandra or mongodb.")] = "",
    platform: Annotated[str, typer.Option(help="Of either side: docker, kvm, swarm, ...")] = "",
    over: Annotated[str, typer.Option(help="The baseline's platform.")] = "",
    network: Annotated[str, typer.Option(help="host, bridge, published, service-ip, ...")] = "",
    storage: Annotated[str, typer.Option(help="directory, volume, layer, host-path.")] = "",
    client: Annotated[str, typer.Option(help="How the client was run: native, docker.")] = "",
    workload: Annotated[str, typer.Option(help="ycsb-a, stress-mixed, ...")] = "",
    operation: Annotated[str, typer.Option(help="read, update, write, mixed, all, ...")] = "",
    metric: Annotated[str, typer.Option(help="read.mean, or a part of it: mean, p95, cpu.")] = "",
    study: Annotated[str, typer.Option(help="A study's id.")] = "",
    knowledge: Knowledge = None,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, all columns.")] = False,
) -> None:
    """List findings by study and comparison; without a filter, all.

    In a terminal they are shown in a pager where they need more than a screen: q leaves it.
    """
    if context.invoked_subcommand is not None:
        return
    wanted = Filters(
        database=database, platform=platform, over=over, network=network, storage=storage,
        client=client, workload=workload, operation=operation, metric=metric, study=study,
    )  # fmt: skip
    from tare.knowledge.library import load_library

    found = select(load_library(knowledge or []).entries.values(), wanted)
    if json:
        say_as_json([_plain(one) for one in found])
        return
    from tare.cli.findings_text import as_csv, groups

    if csv:
        say_document(as_csv(found))
    elif not found:
        say("none matches; without a filter, `tare findings` lists all that there are")
    else:
        with paged() as console:
            groups(found, console)
    if not csv and (own := _own_prices()) is not None:
        say(
            f"this machine's own prices, of {own.made:%Y-%m-%d}: tare findings prices shows "
            f"{count(len(own.prices), 'more finding')}"
        )


app.command("list")(listing)


@app.command()
def prices(
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, a way per line.")] = False,
    host: Annotated[
        str,
        typer.Option(
            help="Those of this host, by `tare weigh --hosts`.", metavar="NAME", show_default=False
        ),
    ] = "",
) -> None:
    """Show what `tare weigh` found here: the price of each way.

    They are findings of this machine alone: those of another machine or kernel are not shown.
    """
    from tare.cli.finish import only_one
    from tare.cli.prices_text import csv_text, lines, machine_in_words, table
    from tare.records.prices import prices_on

    only_one(json=json, csv=csv)
    own = prices_on(host) if host else _own_prices()
    if own is None and host:
        raise KnowledgeError(
            f"no prices of a host {host} are kept here",
            why="none were weighed, or not with the usual options",
            remedy="tare weigh --hosts FILE (two minutes)",
        )
    if own is None:
        raise KnowledgeError(
            "this machine has no prices of its own",
            why="none were weighed here, or only under another kernel",
            remedy="tare weigh (two minutes)",
        )
    if json:
        say_json(own.model_dump_json(indent=1))
        return
    if csv:
        say_document(csv_text(own))
        return
    say(f"{machine_in_words(own.machine)}; weighed {own.made:%Y-%m-%d %H:%M} UTC")
    table_console().print(table(own))
    for line in lines(own):
        say(line)


def _own_prices() -> Weighing | None:
    """This machine's latest prices."""
    from tare.machines.facts import local_facts
    from tare.records.kept_measurements import kept_here
    from tare.records.prices import Weighing

    return kept_here(Weighing, local_facts())


def _plain(entry: Entry) -> dict[str, Any]:
    finding = entry.finding.model_dump(mode="json")
    return {**finding, "origin": entry.origin, "overrides": entry.overrides}


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The finding's id.", metavar="ID")],
    knowledge: Knowledge = None,
    json: Json = False,
) -> None:
    """Show one finding: values, conditions, source, discrepancies."""
    from tare.knowledge.library import load_library
    from tare.knowledge.rendering import finding_lines

    entries = load_library(knowledge or []).entries
    if name not in entries:
        near = [one for one in entries if name.lower() in one][:5]
        raise KnowledgeError(
            f"{name}: no such finding",
            remedy=f"did you mean {', '.join(near)}?" if near else "`tare findings` lists them all",
        )
    if json:
        say_as_json(_plain(entries[name]))
        return
    for label, text in finding_lines(entries[name]):
        say(f"{label:<12} {text}")


@app.command()
def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Knowledge files or directories; none: the shipped ones."),
    ] = None,
    json: Json = False,
) -> None:
    """Check files: schema, units, effects against their own numbers."""
    from tare.knowledge.consistency import objections
    from tare.knowledge.library import shipped_directory
    from tare.knowledge.read import read_knowledge

    paths = [file for one in files or [shipped_directory()] for file in _files(one)]
    results = []
    for path in paths:
        content = read_knowledge(path)
        found = objections(content.findings)
        results.append(
            {
                "file": str(path),
                "findings": len(content.findings),
                "discrepancies": sum(len(one.discrepancies) for one in content.findings),
                "problems": [f"{one.finding}: {one.what}" for one in found],
            }
        )
    bad = any(one["problems"] for one in results)
    if json:
        say_as_json(results)
    else:
        for one in results:
            _say(one)
    raise typer.Exit(NOT_VALID if bad else 0)


def _say(result: dict[str, Any]) -> None:
    problems = result["problems"]
    state = f"{len(problems)} problems" if problems else "consistent"
    name = Path(result["file"]).name
    say(
        f"{name}: {result['findings']} findings, {state}; "
        f"{result['discrepancies']} discrepancies of the source recorded"
    )
    for problem in problems:
        say(f"  {problem}")


def _files(path: Path) -> list[Path]:
    from tare.knowledge.library import knowledge_files

    return knowledge_files(path) if path.is_dir() else [path]


@app.command()
def add(
    run: RunDirectory,
    out: Annotated[
        Path | None, typer.Option("--out", help="The knowledge file to write; none: print it.")
    ] = None,
    study: Annotated[str, typer.Option(help="The study that these findings belong to.")] = "",
    database_version: Annotated[
        str, typer.Option("--database-version", help="Where the records do not know it.")
    ] = "",
    hardware: Annotated[str, typer.Option(help="What it ran on, in a line.")] = "",
    published: Annotated[str, typer.Option(help="Where the records come from.")] = "",
    machines: Annotated[
        str, typer.Option(help="What the system ran on: physical, vm, kvm or vmware.")
    ] = "",
) -> None:
    """Make findings of a finished run's effects, with intervals.

    Exit status 3: the run's checks call its result not valid, which every finding then says.
    """
    # only this command needs the analysis, which takes seconds to import
    from tare.analysis.analyse import analyse
    from tare.knowledge.from_run import About, findings_of
    from tare.knowledge.schema import Machines
    from tare.knowledge.write import knowledge_yaml
    from tare.records.reader import read_run
    from tare.study.read import load_study

    if machines and machines not in (kinds := Machines.__args__):  # type: ignore[attr-defined]  # of a Literal
        raise KnowledgeError(
            f"--machines {machines}: unknown",
            why=f"one of {', '.join(kinds)}",
            remedy="write one of these",
        )
    if out is not None and out.exists():
        raise KnowledgeError(
            "not overwritten", where=str(out), why="there is a file already", remedy="name another"
        )
    records = read_run(run.absolute())
    about = About(
        study=study,
        version=database_version,
        hardware=hardware,
        machines=machines or None,
        published=published,
        imported=any(trial.manifest.source is not None for trial in records.trials),
    )
    analysis = analyse(run.absolute())
    content = findings_of(analysis, load_study(records.files.study), about)
    text = knowledge_yaml(content, f"Computed by `tare findings add` from the run {records.name}.")
    if out is None:
        say_document(text)
    else:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
        say(f"{len(content.findings)} findings written to {out}")
    raise typer.Exit(0 if analysis.valid else NOT_VALID)
