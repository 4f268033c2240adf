"""YAML text to plain data, with the line of every key; hostile text is refused, not obeyed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from tare.errors import StudyError
from tare.study.named_file import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from tare.study.origins import FieldPath

MOST_BYTES = 1024 * 1024
MOST_NODES = 100_000
"""Nodes after aliases are followed: some hundred bytes of nested aliases can mean billions."""
DEEPEST = 50
_SIMPLER = "write plain names and values, without aliases, merge keys or deep nesting"
_PLAIN = "save it as plain text in UTF-8, without control characters"

_TAG = "tag:yaml.org,2002:"
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_TEXT_TAGS = {_TAG + name for name in ("str", "timestamp", "value")}


@dataclass
class Document:
    """Plain data and where each part of it was written.

    Attributes:
        data: mappings with text keys, lists, text, numbers, booleans, None.
        at: path of keys and indices to "file:line"; () is the document itself.
    """

    data: Any
    at: dict[FieldPath, str] = field(default_factory=dict)


def read_document(path: Path) -> Document:
    """The YAML document in the file.

    Raises:
        StudyError: the file cannot be read, is too large or is no YAML; duplicate keys; tags;
            recursion; more nodes than any study needs.
    """
    text = read_text(
        path,
        MOST_BYTES,
        "a study",
        StudyError,
        missing="give the path of a study file, or the name of one of Tare's: quickstart",
        too_large="name the study, not a result: a study is a few pages of text",
    )
    return parse_document(text, str(path))


def parse_document(
    text: str, name: str, *, numbered: bool = True, kind: str = "a study"
) -> Document:
    """The YAML document in the text.

    Args:
        text: YAML.
        name: name of the document in errors.
        numbered: whether errors have lines.
        kind: word for this kind of document in errors, with its article.
    """
    try:
        root = _composed(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}" if mark and numbered else name
        why = ", ".join(part for part in (error.context, error.problem) if part)
        remedy = (
            f"look at column {mark.column + 1}: indentation, quotes, colons" if mark else _PLAIN
        )
        raise StudyError("not valid YAML", where=where, why=why, remedy=remedy) from error
    except RecursionError as error:
        raise StudyError(
            "nested too deeply", where=name, why=f"more than {DEEPEST} levels", remedy=_SIMPLER
        ) from error
    except ReaderError as error:
        line, code = text.count("\n", 0, error.position) + 1, ord(text[error.position])
        raise StudyError(
            "not valid YAML",
            where=f"{name}:{line}" if numbered else name,
            why=f"the character U+{code:04X} may not stand in YAML as it is",
            remedy=f'remove it, or write "\\u{code:04X}" in its place, within double quotes',
        ) from error
    except (YAMLError, ValueError) as error:
        raise StudyError("not valid YAML", where=name, why=str(error), remedy=_PLAIN) from error
    reader = _Reader(name, numbered, kind)
    data = reader.value(root, (), ()) if root is not None else None
    reader.at.setdefault((), f"{name}:1" if numbered else name)
    return Document(data, reader.at)


@lru_cache(maxsize=1)
def _composed(text: str) -> Node | None:
    """The document's nodes, never changed: a report reads its study twice."""
    root: Node | None = YAML(typ="safe", pure=True).compose(text)
    return root


class _Reader:
    """Walks the composed nodes once, following aliases with a budget."""

    def __init__(self, name: str, numbered: bool, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.numbered = numbered
        self.at: dict[FieldPath, str] = {}
        self.seen = 0

    def where(self, node: Node) -> str:
        return f"{self.name}:{node.start_mark.line + 1}" if self.numbered else self.name

    def refuse(self, node: Node, what: str, why: str, remedy: str = "") -> StudyError:
        return StudyError(what, where=self.where(node), why=why, remedy=remedy or _SIMPLER)

    def value(self, node: Node, path: FieldPath, above: tuple[int, ...]) -> Any:
        """The node's data; `above` are the ids of the nodes around it."""
        self.seen += 1
        if self.seen > MOST_NODES:
            raise self.refuse(
                node, "too many values", f"aliases expand to more than {MOST_NODES:,} values"
            )
        if id(node) in above:
            raise self.refuse(node, "an alias that contains itself", "the document has no end")
        if len(above) >= DEEPEST:
            raise self.refuse(node, "nested too deeply", f"more than {DEEPEST} levels")
        self.at.setdefault(path, self.where(node))
        inside = (*above, id(node))
        if isinstance(node, MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, path, inside)
        if isinstance(node, SequenceNode) and node.tag == _TAG + "seq":
            return [self.value(one, (*path, i), inside) for i, one in enumerate(node.value)]
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        raise self._tagged(node)

    def _mapping(
        self, node: MappingNode, path: FieldPath, inside: tuple[int, ...]
    ) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _TAG + "merge":
                why = "a level is a patch already" if self.kind == "a study" else ""
                raise self.refuse(key, f"merge keys (<<) are not part of {self.kind}", why)
            if not isinstance(key, ScalarNode):
                raise self.refuse(key, "a key that is no name", "keys are plain text")
            name = self._text(key)  # as written: a level called 3 or true is a name
            if name in result:
                raise self.refuse(
                    key,
                    f"{'.'.join(map(str, (*path, name)))}: given twice",
                    f"first given at {self.at[*path, name]}; only one of the two could count",
                    "remove one of them",
                )
            self.at[*path, name] = self.where(key)
            result[name] = self.value(value, (*path, name), inside)
        return result

    def _text(self, node: ScalarNode) -> str:
        text = str(node.value)
        if _UNWRITABLE.search(text):
            raise self.refuse(
                node,
                "a text that no file, program or report could be given",
                "it holds \\0, or half of a character (\\ud800 to \\udfff)",
                "remove the escape sequence; write \\U0001F600 for \\ud83d\\ude00",
            )
        return text

    def _scalar(self, node: ScalarNode) -> Any:
        text, tag = self._text(node), str(node.tag)
        if tag in _TEXT_TAGS:
            return text
        if tag == _TAG + "null":
            return None
        if tag == _TAG + "bool":
            return text.lower() == "true"
        if tag not in (_TAG + "int", _TAG + "float"):
            raise self._tagged(node)
        try:
            number = _whole(text) if tag.endswith("int") else float(text.replace("_", ""))
            finite = math.isfinite(number)
        except (ValueError, OverflowError):  # more digits than Python agrees to convert
            finite = False
        if not finite:
            raise self.refuse(
                node,
                f"{text[:40]!r} is not a number that {self.kind} can hold",
                "numbers are finite and of reasonable length",
                "write a number, or put quotes around a text",
            )
        return number

    def _tagged(self, node: Node) -> StudyError:
        return self.refuse(
            node,
            f"tag {node.tag!r} is not part of {self.kind}",
            f"{self.kind} holds text, numbers, true, false, null, lists and mappings",
            "remove the tag",
        )


def _whole(text: str) -> int:
    """A whole number as YAML 1.2 writes it: 100_000, 0x10, 0o17."""
    digits = text.replace("_", "")
    return int(digits) if digits.lstrip("+-").isdecimal() else int(digits, 0)
