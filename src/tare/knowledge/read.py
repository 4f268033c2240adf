"""Reads a knowledge file: YAML of others, so its size is limited, and it is checked, not obeyed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from tare.enumeration import cut
from tare.errors import KnowledgeError, StudyError
from tare.knowledge.kept import kept_or_parsed
from tare.knowledge.schema import KnowledgeFile
from tare.study.document import MOST_BYTES, Document, parse_document
from tare.study.named_file import read_text
from tare.study.problems import remedy_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tare.study.origins import FieldPath

MOST_FINDINGS = 10_000
_SEE = "see docs/findings.md for what a knowledge file holds"
_KEYS = {"format", "work", "groups"}
_MOST_SHOWN = 5


def read_knowledge(path: Path) -> KnowledgeFile:
    """The findings in the file, each with its group's `common` fields laid under it.

    Raises:
        KnowledgeError: unreadable, too large, no YAML, or not of the schema; with file and line.
    """
    text = read_text(
        path,
        MOST_BYTES,
        "a knowledge file",
        KnowledgeError,
        missing="name a knowledge file that is there and yours to read",
        too_large="split it in several files",
    )
    return kept_or_parsed(text, partial(parse_knowledge, text, str(path)))


def parse_knowledge(text: str, name: str) -> KnowledgeFile:
    """The findings in the text; `name` is its name in errors.

    Raises:
        KnowledgeError: as `read_knowledge`.
    """
    try:
        document = parse_document(text, name)
    except StudyError as error:  # the same reader, whose errors speak of studies
        raise KnowledgeError(
            error.what.replace("a study", "a knowledge file"),
            where=error.where,
            why=error.why.replace("a study", "a knowledge file"),
            remedy=error.remedy,
        ) from error
    merged, places = _merged(document, name)
    try:
        return KnowledgeFile.model_validate(merged)
    except ValidationError as error:
        raise _explained(error, document, places) from error


def laid_over(base: Any, top: Any) -> Any:
    """Mappings merge key by key; anything else on top replaces what is below."""
    if isinstance(base, dict) and isinstance(top, dict):
        return {
            key: laid_over(base.get(key), top[key]) if key in top else base[key] for key in base
        } | {key: value for key, value in top.items() if key not in base}
    return top


def _merged(document: Document, name: str) -> tuple[dict[str, Any], list[FieldPath]]:
    """The document without groups, and each finding's place in the one with groups."""
    data = document.data
    if not isinstance(data, dict) or not isinstance(data.get("groups"), list):
        raise KnowledgeError(
            "not a knowledge file",
            where=document.at.get((), name),
            why="a knowledge file is a mapping with format, work and groups",
            remedy=_SEE,
        )
    if unknown := sorted(set(data) - _KEYS):
        raise KnowledgeError(
            f"{unknown[0]}: unknown field",
            where=document.at[unknown[0],],
            why="known: format, work, groups",
            remedy=remedy_for(unknown[0], _KEYS),
        )
    findings: list[Any] = []
    places: list[FieldPath] = []
    work = data.get("work")
    study = {"study": work["id"]} if isinstance(work, dict) and "id" in work else {}
    for number, group in enumerate(data["groups"]):
        common, own = _group(group, document.at[("groups", number)])
        for index, finding in enumerate(own):
            findings.append(laid_over(laid_over(study, common), finding))
            places.append(("groups", number, "findings", index))
    if len(findings) > MOST_FINDINGS:
        raise KnowledgeError(
            "too many findings",
            where=name,
            why=f"more than {MOST_FINDINGS:,}",
            remedy="split the file in several",
        )
    rest = {key: data[key] for key in ("format", "work") if key in data}
    return {**rest, "findings": findings}, places


def _group(group: Any, where: str) -> tuple[dict[str, Any], list[Any]]:
    """A group's common fields and its findings."""
    if not isinstance(group, dict) or not set(group) <= {"common", "findings"}:
        raise KnowledgeError(
            "not a group", where=where, why="a group has common and findings", remedy=_SEE
        )
    common, own = group.get("common") or {}, group.get("findings")
    if not isinstance(common, dict) or not isinstance(own, list):
        raise KnowledgeError(
            "not a group",
            where=where,
            why="common is a mapping, and findings is a list",
            remedy=_SEE,
        )
    return common, own


def _explained(
    error: ValidationError, document: Document, places: Sequence[FieldPath]
) -> KnowledgeError:
    """The first mistakes, with the lines on which they were written."""
    shown = [_one(found["loc"], found["msg"], document, places) for found in error.errors()]
    where, what = shown[0]
    more = cut([f"{place}: {text}" for place, text in shown[1:]], _MOST_SHOWN - 1)
    return KnowledgeError(
        what, where=where, why="\n".join(more), remedy="docs/findings.md names every field"
    )


def _one(
    loc: tuple[str | int, ...], message: str, document: Document, places: Sequence[FieldPath]
) -> tuple[str, str]:
    field = ".".join(str(part) for part in loc)
    if len(loc) < 2 or loc[0] != "findings" or not isinstance(loc[1], int):
        return _nearest(document, loc), f"{field}: {message}"
    place, rest = places[loc[1]], tuple(loc[2:])
    common = (*place[:2], "common", *rest)
    written = (
        common if (*place, *rest) not in document.at and common in document.at else (*place, *rest)
    )
    return _nearest(document, written), f"{'.'.join(map(str, rest)) or 'finding'}: {message}"


def _nearest(document: Document, path: FieldPath) -> str:
    for length in range(len(path), -1, -1):
        if (where := document.at.get(tuple(path[:length]))) is not None:
            return where
    return ""
