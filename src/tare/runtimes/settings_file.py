"""Reads a small file of settings, which a variable names, into a model, or refuses it by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from tare.errors import RuntimeUnavailableError
from tare.nearest import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

_Settings = TypeVar("_Settings", bound=BaseModel)


def read_settings(
    file: Path, model: type[_Settings], *, of: str, variable: str, page: str
) -> _Settings:
    """The settings in a file.

    Args:
        file: YAML.
        model: of its content; an empty file leaves every field at its default.
        of: what the settings are for, in words.
        variable: environment variable that names the file.
        page: documentation of the fields.

    Raises:
        RuntimeUnavailableError: it is missing or not valid; the error names field and reason.
    """
    try:
        content = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
        return model.model_validate(content or {})
    except (OSError, YAMLError, ValidationError) as error:
        why = _by_field(error, model) if isinstance(error, ValidationError) else str(error)
        raise RuntimeUnavailableError(
            f"the settings of {of} cannot be used",
            where=str(file),
            why=why,
            remedy=f"see {page} for what {variable} names, or unset it",
        ) from error


def _by_field(error: ValidationError, model: type[BaseModel]) -> str:
    known = [field.alias or name for name, field in model.model_fields.items()]
    lines: list[str] = []
    for found in error.errors(include_url=False):
        name = ".".join(str(part) for part in found["loc"])
        if found["type"] == "extra_forbidden":
            hint = did_you_mean(name, known, f"there are {', '.join(known)}")
            lines.append(f"{name}: there is no such field" + ("" if "." in name else f"; {hint}"))
        else:
            lines.append(f"{name or 'the file'}: {found['msg'].removeprefix('Value error, ')}")
    return "; ".join(lines)
