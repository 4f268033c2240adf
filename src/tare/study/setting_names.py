"""Names in `database.settings` that no settings file could have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tare.study.problems import Problem, later

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from tare.study.origins import FieldPath, Origins

_SETTINGS: FieldPath = ("database", "settings")


def no_names(
    settings: Mapping[str, Any], name: re.Pattern[str], example: str, origins: Origins
) -> Iterator[Problem]:
    """Invalid keys: for the file itself keys that do not fit, inside it unprintable keys."""
    for path in _paths(settings, ()):
        key = path[-1]
        fits = name.fullmatch(key) if len(path) == 1 else key.isprintable() and key.strip()
        if not fits:
            shown = repr(key) if len(key) <= 60 else f"{key[:57]!r}..."
            yield Problem(
                later(origins, (*_SETTINGS, *path), _SETTINGS),
                f"database.settings: {shown} is no name of a setting",
                f"names are written like {example}; the server would not start",
                "correct or remove it",
            )


def _paths(settings: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, value in settings.items():
        yield (*above, key)
        if isinstance(value, Mapping):
            yield from _paths(value, (*above, key))
