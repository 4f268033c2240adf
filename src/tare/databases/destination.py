"""The place to which a database's files are brought before a run's first trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.artifacts.tree import Tree
    from tare.runtimes.images import Images
    from tare.runtimes.ssh.hosts import Hosts
    from tare.study.database import Database


@dataclass(frozen=True)
class Destination:
    """Where units of one runtime find files.

    Attributes:
        runtime: its key.
        images: the engine's, of which its units are made; None: of files where they lie.
        hosts: hosts over SSH where its units run; None: on this machine.
        tree: a database's locked files on this machine, fetched once.
        say: tells the user what is being done.
    """

    runtime: str
    images: Images | None
    hosts: Hosts | None
    tree: Callable[[Database], Tree]
    say: Callable[[str], None]
