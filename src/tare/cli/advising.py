"""What `tare advise` asks the knowledge, refuses and prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.cli.console import say, say_as_json, say_json
from tare.enumeration import first_of
from tare.errors import KnowledgeError
from tare.knowledge.advice_text import following_lines, found_lines
from tare.knowledge.query import REPLACED, queries_of
from tare.knowledge.rendering import change_lines
from tare.nearest import did_you_mean
from tare.runtimes.registry import BARE, CONTAINER
from tare.study.conditions import baseline_condition, expand
from tare.study.quantities import parse_fraction
from tare.study.read import load_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import typer

    from tare.knowledge.advice import Advice
    from tare.knowledge.library import Library
    from tare.knowledge.query import Query

_MOST_UNASKED = 4
ADDRESSES = ("floating-ip", "host-name")
ABOUT_FILES = {
    "files", "scale", "check", "metric", "purpose", "margin", "study_out", "knowledge", "json"
}  # fmt: skip
"""Parameters allowed with a study; the others describe a question, as the study itself does."""
ABOUT_CHECK = {"files", "check", "knowledge", "json"}


def refuse_alike(asked: Query) -> None:
    """Refuse a question whose two sides are equal, or one of whose sides is open."""
    replaced = asked.replaced
    if asked.platform != asked.over:
        if replaced and asked.over == BARE:
            raise KnowledgeError(
                f"{_options(replaced)}: means nothing over {asked.over}",
                why="it says what is replaced where both sides are of one platform, or which way "
                "to the other platform's nodes",
                remedy=f"leave it out, or add --over {asked.platform}",
            )
        return
    for name, (new, old) in replaced.items():
        if new in ("", None, old):
            raise KnowledgeError(
                f"--against-{_option(name)} {old}: nothing to compare",
                why=f"--{_option(name)} is {new or 'not said'}",
                remedy=f"say by --{_option(name)} what replaces {old}",
            )
    if not replaced and asked.client == BARE:
        said = [name for name in REPLACED if getattr(asked, name)]
        option = said[-1] if said else "network"
        named = getattr(asked, option)
        raise KnowledgeError(
            f"{asked.platform} and {asked.over}: nothing to compare",
            why=f"what {option.replace('_', ' ')} {named} replaces is not said"
            if named
            else "both sides are the same",
            remedy=f"say what it replaces: --against-{_option(option)}, or compare with "
            f"--over {BARE}"
            if named
            else f"name another --platform or --over, --client {CONTAINER}, or a --network and an "
            "--against-network",
        )


def _options(replaced: Iterable[str]) -> str:
    return " and ".join(f"--against-{_option(name)}" for name in replaced)


def _option(name: str) -> str:
    return name.replace("_", "-")


def refuse_unused(context: typer.Context, used: set[str]) -> None:
    """Refuse options that would be silently ignored."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name not in used and source is not None and source.name == "COMMANDLINE":
            raise KnowledgeError(
                f"{parameter.opts[0]} means nothing here",
                why="the files say what is asked",
                remedy="leave it out, or ask by options alone",
            )


def of_study(given: list[Path], scale: str | None) -> tuple[dict[str, Query], str]:
    """The question of each condition, and which conditions have none; empty: all have one."""
    if len(given) > 1:
        raise KnowledgeError(
            "one study at a time",
            why=f"{len(given)} files were given",
            remedy="name one; two analysis.json are compared with --check",
        )
    study = load_study(given[0], scale=scale)
    conditions = expand(study)
    name = baseline_condition(study)
    baseline = next(one for one in conditions if one.name == name)
    questions = queries_of(conditions, baseline)
    if not questions:
        raise KnowledgeError(
            "nothing to advise on",
            where=str(given[0]),
            why="no condition of this study runs on another platform than its baseline",
            remedy="give the study a level that changes the platform, or ask by --platform",
        )
    rest = [one.name for one in conditions if one.name not in {name, *questions}]
    return questions, _unasked(rest) if rest else ""


def _unasked(names: list[str]) -> str:
    return (
        f"Not asked about: {first_of(names, _MOST_UNASKED)}. They differ from those above, or from "
        "the baseline, in nothing that advice knows of, or not in the platform."
    )


def print_answers(
    answers: dict[str, Advice], settled: str, unasked: str = "", *, json: bool
) -> None:
    if json:
        plain: Any = {name: one.model_dump(mode="json") for name, one in answers.items()}
        say_as_json(plain.get("", plain))
        return
    for line in answers_lines(answers):
        say(line)
    if unasked:
        say(f"\n{unasked}")
    if settled:
        say(f"\nThe study that would settle it: {settled}")


def answers_lines(answers: dict[str, Advice]) -> Iterator[str]:
    """Expectations of each condition first; lines that all conditions share are said once."""
    endings = {name: list(following_lines(one)) for name, one in answers.items()}
    alike = all(one == endings[next(iter(endings))] for one in endings.values())
    if len(answers) > 1:
        for name, one in answers.items():
            yield name
            yield from (f"  {each.conclusion.text}" for each in one.answers)
            if not one.answers:
                yield f"  {one.instead or 'no finding is near'}"
        yield ""
    for name, one in answers.items():
        if name:
            yield f"== {name}"
        yield from found_lines(one)
        if not alike:
            yield from endings[name]
    if alike:
        yield from endings[next(iter(endings))]


def check(library: Library, given: list[Path], *, json: bool) -> None:
    if len(given) != 2:
        raise KnowledgeError(
            "--check needs two files",
            why=f"{len(given)} were given",
            remedy="tare advise --check old.json new.json",
        )
    from tare.knowledge.change import check_change  # imports the analysis

    result = check_change(library, *given)
    if json:
        say_json(result.model_dump_json(indent=1))
        return
    for line in change_lines(result):
        say(line)


def one_of(option: str, value: str, known: Any) -> Any:
    if value and value not in known:
        raise KnowledgeError(
            f"{option} {value}: unknown",
            why=f"it is one of {', '.join(known)}",
            remedy=did_you_mean(value, known, "name one of these, or leave the option out"),
        )
    return value


def _meant(option: str, value: str, given: float) -> str:
    if 1 < given <= 100:
        return f"did you mean {value}%?"
    if given > 100:
        return f"give the share of what your cluster can do, like {option} 40%, and not a rate"
    return f"like {option} 5% or 0.05"


def share(option: str, value: str) -> float:
    try:
        share = float(str(parse_fraction(value))) if "%" in value else float(value)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise KnowledgeError(
            f"{option} {value}: no percentage",
            why="more than 0% and at most 100%, with its sign, or as a fraction",
            remedy=_meant(option, value, share),
        )
    return share
