"""`tare advise`: what is known of a platform, near the conditions asked about, and what follows."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from tare.errors import KnowledgeError
from tare.knowledge.advice import FAMILIES, Advice, advise
from tare.knowledge.asked import Asked, questions_of
from tare.knowledge.change import check_change
from tare.knowledge.library import Library, load_library
from tare.knowledge.proposal import study_text, write_study
from tare.knowledge.rules import PURPOSES
from tare.knowledge.schema import Network, Operation, Storage
from tare.knowledge.text import advice_lines, change_lines
from tare.study.conditions import baseline_condition, expand
from tare.study.quantities import parse_fraction
from tare.study.read import load_study

PLATFORMS = ("native", "docker", "kvm", "vmware", "swarm", "kubernetes")
Knowledge = Annotated[
    list[Path] | None,
    typer.Option("--knowledge", help="A further knowledge base; the last one wins.", metavar="DIR"),
]


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="A study to advise on; with --check, two analysis.json: the old, the new.",
            metavar="[STUDY | OLD NEW]",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Is the change larger than what the platform does?")
    ] = False,
    database: Annotated[str, typer.Option(help="cassandra or mongodb.")] = "",
    version: Annotated[str, typer.Option("--database-version", help="Its release.")] = "",
    platform: Annotated[str, typer.Option(help=f"{', '.join(PLATFORMS)}.")] = "docker",
    over: Annotated[str, typer.Option(help="The platform that it replaces.")] = "native",
    network: Annotated[str, typer.Option(help="host, bridge, published, service-ip, ...")] = "",
    storage: Annotated[str, typer.Option(help="directory, volume, layer, host-path.")] = "",
    client: Annotated[str, typer.Option(help="The load client: native or docker.")] = "native",
    operation: Annotated[str, typer.Option(help="read, update, write, mixed, all, ...")] = "",
    load: Annotated[str, typer.Option(help="Share of the maximum, e.g. 66%.")] = "",
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes per cluster.")] = None,
    replication_factor: Annotated[
        int | None, typer.Option("--replication-factor", min=1, help="Copies of each row.")
    ] = None,
    metric: Annotated[str, typer.Option(help=f"Only one of {', '.join(FAMILIES)}.")] = "",
    purpose: Annotated[
        str, typer.Option("--for", help=f"What the benchmark is for: {', '.join(PURPOSES)}.")
    ] = "",
    margin: Annotated[str, typer.Option(help="The difference that would matter.")] = "5%",
    study_out: Annotated[
        Path | None, typer.Option("--study-out", help="Write the study that would settle it.")
    ] = None,
    knowledge: Knowledge = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Say what others found under the nearest conditions, and whether it is safe to dockerise."""
    library = load_library(knowledge or [])
    given = files or []
    if check:
        _check(library, given, json=json)
        return
    options = {
        "metric": _one_of("--metric", metric, FAMILIES),
        "margin": _share("--margin", margin),
    }
    options["purposes"] = [_one_of("--for", purpose, PURPOSES)] if purpose else PURPOSES
    if given:
        questions = _of_study(given)
    else:
        questions = {
            "": Asked(
                database=_one_of("--database", database, ("cassandra", "mongodb")),
                version=version,
                platform=_one_of("--platform", platform, PLATFORMS),
                over=_one_of("--over", over, PLATFORMS),
                network=_one_of("--network", network, get_args(Network)),
                storage=_one_of("--storage", storage, get_args(Storage)),
                client=_one_of("--client", client, ("native", "docker")),
                operation=_one_of("--operation", operation, get_args(Operation)),
                share=_share("--load", load) if load else None,
                nodes=nodes,
                replication_factor=replication_factor,
            )
        }
    answers = {name: advise(library, one, **options) for name, one in questions.items()}
    if study_out is not None:
        if len(questions) > 1:
            raise KnowledgeError(
                "one study settles one question",
                why=f"{len(questions)} questions: {', '.join(questions)}",
                remedy="ask by --network and the like, or run the study itself",
            )
        name, asked = next(iter(questions.items()))
        write_study(study_out, study_text(asked, answers[name].settle))
    _print(answers, study_out, json=json)


def _of_study(given: list[Path]) -> dict[str, Asked]:
    if len(given) > 1:
        raise KnowledgeError("one study at a time", why=f"{len(given)} files were given")
    study = load_study(given[0])
    conditions = expand(study)
    name = baseline_condition(study)
    baseline = next(one for one in conditions if one.name == name)
    questions = questions_of(conditions, baseline)
    if not questions:
        raise KnowledgeError(
            "nothing to advise on",
            where=str(given[0]),
            why="no condition of this study runs on another platform than its baseline",
        )
    return questions


def _print(answers: dict[str, Advice], study_out: Path | None, *, json: bool) -> None:
    if json:
        plain: Any = {name: one.model_dump(mode="json") for name, one in answers.items()}
        typer.echo(json_module.dumps(plain.get("", plain), indent=1))
        return
    for name, one in answers.items():
        if name:
            typer.echo(f"== {name}")
        for line in advice_lines(one):
            typer.echo(line)
    if study_out is not None:
        typer.echo(f"\nThe study that would settle it: {study_out}")


def _check(library: Library, given: list[Path], *, json: bool) -> None:
    if len(given) != 2:
        raise KnowledgeError(
            "--check needs two files", remedy="tare advise --check old.json new.json"
        )
    result = check_change(library, *given)
    if json:
        typer.echo(result.model_dump_json(indent=1))
        return
    for line in change_lines(result):
        typer.echo(line)


def _one_of(option: str, value: str, known: Any) -> Any:
    if value and value not in known:
        raise KnowledgeError(f"{option} {value}: unknown", why=f"one of {', '.join(known)}")
    return value


def _share(option: str, value: str) -> float:
    try:
        share = float(str(parse_fraction(value)))
    except ValueError as error:
        raise KnowledgeError(f"{option} {value}: no percentage", remedy="like 66%") from error
    if not 0 < share <= 1:
        raise KnowledgeError(f"{option} {value}: not between 0 and 100%", remedy="like 66%")
    return share
