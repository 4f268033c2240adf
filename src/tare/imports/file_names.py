"""Fields of a file's name: through the template, or from a row of a sidecar file."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tare.errors import UsageError
from tare.imports.file_content import UnreadableError
from tare.imports.limits import LARGEST_FILE
from tare.imports.parsing import text_of
from tare.imports.trial_identity import known_fields
from tare.nearest import did_you_mean
from tare.study.quantities import size_in_words
from tare.study.template import Template, TemplateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tare.study.schema import Study

FILE = "file"
"""Column of a sidecar that holds the file's name."""


@dataclass(frozen=True)
class Names:
    """The way from names to fields.

    Attributes:
        rows: from a sidecar, the file's name to its fields; they override the template.
    """

    template: Template | None
    rows: Mapping[str, Mapping[str, str]]

    @property
    def fields(self) -> set[str]:
        """Every field that a name may give."""
        from_rows = {field for row in self.rows.values() for field in row}
        return from_rows | set(self.template.fields if self.template else ())

    def of(self, path: str) -> dict[str, str]:
        """Field to text.

        Raises:
            UnreadableError: the name fits neither.
        """
        if self.rows:
            parts = PurePosixPath(path).parts
            for length in range(1, len(parts) + 1):
                row = self.rows.get("/".join(parts[-length:]))
                if row is not None:
                    return dict(row)
            if self.template is None:
                raise UnreadableError("the sidecar has no row for it")
        if self.template is None:
            return {}
        fields = self.template.match(path)
        if fields is None:
            raise UnreadableError(
                f"its name does not fit the template {self.template.text}: "
                f"{self.template.misfit(path)}"
            )
        return fields


def names(study: Study, template: str | None, sidecar: Path | None) -> Names:
    """The template of the command line or of the study, and the sidecar.

    Raises:
        UsageError: the template cannot be read, or names what the study lacks.
    """
    rows = _rows(study, sidecar) if sidecar is not None else {}
    text = template if template is not None else study.files.template
    if text is None or (rows and template is None):
        return Names(None, rows)
    try:
        parsed = Template.parse(text)
    except TemplateError as error:
        raise UsageError(
            f"--factors: {error}", why=f"in {text!r}", remedy="write it as name_{field}.txt"
        ) from None
    _refuse_unknown(study, parsed.fields, "--factors")
    return Names(parsed, rows)


def _refuse_unknown(study: Study, fields: Iterable[str], where: str) -> None:
    known = known_fields(study)
    for field in fields:
        if field not in known:
            raise UsageError(
                f"{where}: unknown field {field}",
                why=f"fields are {', '.join(known)}, and {{_}}, which is ignored",
                remedy=did_you_mean(field, known, "name one of those, or write {_}"),
            )


def _rows(study: Study, path: Path) -> dict[str, dict[str, str]]:
    where = f"--sidecar {path}"
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UsageError(
                "a sidecar that is too large",
                where=where,
                why=f"more than {size_in_words(LARGEST_FILE)}",
                remedy="name the CSV file with a row per file, not a result",
            )
        table = list(csv.reader(io.StringIO(text_of(path.read_bytes())), strict=True))
    except (OSError, UnreadableError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise UsageError(
            "the sidecar cannot be read",
            where=where,
            why=why or str(error),
            remedy="name a CSV file with a column file and one per factor",
        ) from error
    header = [name.strip() for name in table[0]]
    if FILE not in header:
        raise UsageError(
            f"the sidecar has no column {FILE}",
            where=where,
            why=f"its columns are {', '.join(header)}",
            remedy="its first line is file,FACTOR,FACTOR,repetition",
        )
    _refuse_unknown(study, [name for name in header if name != FILE], where)
    rows: dict[str, dict[str, str]] = {}
    for number, row in enumerate(table[1:], start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise UsageError(
                "a row of the sidecar has not as many cells as its head",
                where=f"{path}:{number}",
                why=f"{len(row)}, not {len(header)}",
                remedy="correct that line",
            )
        fields = {name: cell.strip() for name, cell in zip(header, row, strict=True)}
        name = fields.pop(FILE)
        if name in rows:
            raise UsageError(f"two rows for {name}", where=f"{path}:{number}", remedy="remove one")
        rows[name] = fields
    return rows
