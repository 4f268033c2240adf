"""File names with named fields: `run-{client}_{threads}_{repetition}.txt`."""

from __future__ import annotations

import re
from dataclasses import dataclass

IGNORED = "_"
"""A field of this name may hold anything."""
PLACES = ("repetition", "block", "round")
"""Fields that are no factors: the number of the repetition. `repetition` is another word for
`block`."""
LONGEST_NAME = 4096
"""Longest file name that is matched, in characters."""

_FIELD = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


class TemplateError(ValueError):
    """A template that cannot tell file names apart; the text says why."""


@dataclass(frozen=True)
class Template:
    """A file name with named fields.

    A field's text ends where the text after the field in the template first occurs, so a name can
    be read in one way only. A field that occurs twice must hold the same text twice.

    Attributes:
        fields: names of the fields that are kept, in order, each once.
        parts: number of path components to match: 1 for a plain file name.
    """

    text: str
    fields: tuple[str, ...]
    parts: int
    _pattern: re.Pattern[str]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template.

        Raises:
            TemplateError: no field, an odd brace, two fields without text between them.
        """
        pieces = _FIELD.split(text)
        literals, fields = pieces[0::2], pieces[1::2]
        if any("{" in literal or "}" in literal for literal in literals):
            raise TemplateError("a brace without its other half")
        if not fields:
            raise TemplateError("it has no {field}")
        for name in fields:
            if not _NAME.fullmatch(name):
                raise TemplateError(f"{{{name}}} is not a field: letters, digits, - and _")
        for left, between, right in zip(fields, literals[1:-1], fields[1:], strict=False):
            if not between:
                raise TemplateError(
                    f"{{{left}}} and {{{right}}} stand side by side: nothing tells where one ends"
                )
        kept = tuple(dict.fromkeys(name for name in fields if name != IGNORED))
        return cls(text, kept, text.count("/") + 1, _compile(literals, fields))

    def match(self, path: str) -> dict[str, str] | None:
        """Field to its text in the path's last components; None where the name does not fit."""
        name = "/".join(path.split("/")[-self.parts :])
        if len(name) > LONGEST_NAME:
            return None
        found = self._pattern.fullmatch(name)
        if found is None:
            return None
        return {field: found[f"f{number}"] for number, field in enumerate(self.fields)}

    def misfit(self, path: str) -> str:
        """Where a name that does not fit stops fitting, in words."""
        name = "/".join(path.split("/")[-self.parts :])[:LONGEST_NAME]
        wanted = self.text
        literals = _FIELD.split(wanted)[0::2]
        if not name.startswith(literals[0]):
            return f"it does not begin with {literals[0]!r}"
        at = len(literals[0])
        for number, literal in enumerate(literals[1:], start=1):
            field = _FIELD.findall(wanted)[number - 1]
            if not literal:
                break
            found = name.find(literal, at + 1)
            if found < 0 or "/" in name[at:found]:
                after = name[at:][:60]
                return f"{{{field}}} would begin at {after!r}, and no {literal!r} follows it"
            at = found + len(literal)
        if at < len(name) and literals[-1]:
            return f"{name[at:][:60]!r} is left over at its end"
        return "a field is empty, or has two values"


def _compile(literals: list[str], fields: list[str]) -> re.Pattern[str]:
    numbers: dict[str, int] = {}
    pattern = re.escape(literals[0])
    for name, after in zip(fields, literals[1:], strict=True):
        stop = f"(?!{re.escape(after)})" if after else ""
        text = f"(?:{stop}[^/])+"
        if name == IGNORED:
            pattern += text
        elif name in numbers:
            pattern += f"(?P=f{numbers[name]})"
        else:
            numbers[name] = len(numbers)
            pattern += f"(?P<f{numbers[name]}>{text})"
        pattern += re.escape(after)
    return re.compile(pattern)
