"""Which study file a name means: a path, or a study that comes with Tare."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from tare.errors import UsageError
from tare.nearest import did_you_mean

_SUFFIXES = (".yaml", ".yml")


def study_file(name: str) -> Path:
    """The study file of this name.

    Args:
        name: a path, or the name of a study that comes with Tare: grambow-2018.

    Raises:
        UsageError: there is neither.
    """
    path = Path(name)
    if path.suffix in _SUFFIXES or path.is_file():
        if path.is_file():
            return path
        raise UsageError("there is no such study", where=name, remedy=_known(path.stem))
    for directory in shipped_directories():
        # a name with separators would leave the directory
        if path.name == name and (found := directory / f"{name}.yaml").is_file():
            return found
    raise UsageError(
        f"{name}: neither a study that comes with Tare nor a file",
        remedy=_known(name),
    )


def shipped_directories() -> list[Path]:
    """Where studies lie: those that come with Tare, then those of this directory."""
    return [Path(str(resources.files("tare"))) / "studies", Path("studies")]


def shipped_names() -> list[str]:
    """The names of these studies."""
    return sorted({one.stem for place in shipped_directories() for one in place.glob("*.yaml")})


def _known(name: str) -> str:
    names = shipped_names()
    listed = f"known: {', '.join(names)}" if names else "give the path of a study file"
    return did_you_mean(name, names, listed)
