"""Why a directory of the user's is not the Cassandra that a study asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tare.artifacts.tree import check_home
from tare.errors import ArtifactError, TareError
from tare.runtimes.obstacle import Obstacle

if TYPE_CHECKING:
    from tare.study.database import Database


def unfit(database: Database) -> list[Obstacle]:
    """Why the directory that a study names is not the release that it asks for; empty: it may be,
    or none is named."""
    if database.home is None:
        return []
    try:
        check_home(database.version, Path(database.home))
    except (ArtifactError, OSError) as error:
        why = f"{error.what} ({database.home})" if isinstance(error, TareError) else str(error)
        remedy = error.remedy if isinstance(error, TareError) else "name a directory"
        return [Obstacle(("database", "home"), why, remedy)]
    return []
