"""`tare findings`: list and filter what others found, show one, check files, add a run's own."""

from __future__ import annotations

import csv
import io
import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from tare.cli.console import Terminal, say, say_document, say_json, table_console
from tare.errors import KnowledgeError
from tare.knowledge.checks import objections
from tare.knowledge.library import Entry, knowledge_files, load_library, shipped_directory
from tare.knowledge.read import read_knowledge
from tare.knowledge.rendering import COLUMNS, change_of, finding_lines, load_of, row, side_of
from tare.knowledge.schema import Machines
from tare.knowledge.select import Filters, select
from tare.knowledge.write import knowledge_yaml

NOT_VALID = 3

app = typer.Typer(
    help="What others found, and your own: list, show, check, add.", invoke_without_command=True
)
Knowledge = Annotated[
    list[Path] | None,
    typer.Option("--knowledge", help="A further knowledge base; the last one wins.", metavar="DIR"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


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
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, all columns.")] = False,
) -> None:
    """List findings; without a filter, all of them."""
    if context.invoked_subcommand is not None:
        return
    wanted = Filters(
        database=database, platform=platform, over=over, network=network, storage=storage,
        client=client, workload=workload, operation=operation, metric=metric, study=study,
    )  # fmt: skip
    found = select(load_library(knowledge or []).entries.values(), wanted)
    if json:
        say_json(json_module.dumps([_plain(one) for one in found], indent=1))
    elif as_csv:
        say_document(_csv(found))
    else:
        _table(found, table_console())
        if not found:
            say("none matches; without a filter, `tare findings` lists all that there are")


app.command("list")(listing)


def _plain(entry: Entry) -> dict[str, Any]:
    finding = entry.finding.model_dump(mode="json")
    return {**finding, "origin": entry.origin, "overrides": entry.overrides}


def _csv(found: list[Entry]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for entry in found:
        writer.writerow({name: _harmless(value) for name, value in row(entry).items()})
    return text.getvalue()


def _harmless(value: object) -> object:
    """No text begins as a spreadsheet's formula does; numbers keep their sign."""
    risky = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if risky else value


def _table(found: list[Entry], console: Terminal) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("id", no_wrap=True)
    for title in ("change", "metric", "treatment", "over", "load"):
        table.add_column(title, overflow="fold")
    for entry in found:
        one = entry.finding
        side = side_of(one.treatment) if one.treatment else ""
        cells = (one.id, change_of(one), one.metric, side, side_of(one.baseline), load_of(one.load))
        table.add_row(*cells)
    console.print(table)
    console.print(f"\n{len(found)} findings")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The finding's id.", metavar="ID")],
    knowledge: Knowledge = None,
    json: Json = False,
) -> None:
    """Show everything about one finding: values, conditions, exact source, discrepancies."""
    entries = load_library(knowledge or []).entries
    if name not in entries:
        near = [one for one in entries if name.lower() in one][:5]
        raise KnowledgeError(
            f"{name}: no such finding",
            remedy=f"did you mean {', '.join(near)}?" if near else "`tare findings` lists them all",
        )
    if json:
        say_json(json_module.dumps(_plain(entries[name]), indent=1))
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
    """Check files: schema, units, and that every effect follows from its own numbers."""
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
        say_json(json_module.dumps(results, indent=1))
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
    return knowledge_files(path) if path.is_dir() else [path]


@app.command()
def add(
    run: Annotated[Path, typer.Argument(help="The run's directory, runs/NAME.", metavar="RUN")],
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
    """Turn a finished run's effects into findings, each with its interval.

    Exit status 3: the run's checks call its result not valid, which every finding then says.
    """
    # only this needs the analysis, which takes seconds to import
    from tare.analysis.analyse import analyse
    from tare.knowledge.from_run import About, findings_of
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
