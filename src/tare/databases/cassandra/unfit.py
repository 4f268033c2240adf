"""Why a user's directory is not the Cassandra that a study asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts.tree import check_home
from tare.errors import ArtifactError, TareError
from tare.runtimes.obstacle import Obstacle

if TYPE_CHECKING:
    from tare.study.database import Database


def unfit(database: Database) -> list[Obstacle]:
    """Why the study's directory is not the release that it asks for.

    Empty: it may be, or the study names none.
    """
    if database.home is None:
        return []
    try:
        check_home(database.version, Path(database.home))
    except (ArtifactError, OSError) as error:
        why = f"{error.what} ({database.home})" if isinstance(error, TareError) else str(error)
        remedy = error.remedy if isinstance(error, TareError) else "name a directory"
        return [Obstacle(("database", "home"), why, remedy)]
    return []
