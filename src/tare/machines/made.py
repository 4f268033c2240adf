"""The machines that are made for a run, of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.all_steps import faults_of, raise_first
from tare.machines.registry import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from tare.machines.declaration import MadeMachine, MadeMachines
    from tare.study.domains import Domains


class Together:
    """Machines of several kinds, started and ended one kind after the other."""

    def __init__(self, kinds: Sequence[MadeMachines]) -> None:
        self.kinds = kinds

    @property
    def directory(self) -> Path:
        """Where the files of the first kind lie."""
        return self.kinds[0].directory

    @property
    def machines(self) -> Mapping[str, MadeMachine]:
        return {name: one for kind in self.kinds for name, one in kind.machines.items()}

    def start(self, say: Callable[[str], None]) -> None:
        for kind in self.kinds:
            kind.start(say)

    def close(self) -> None:
        """End the machines of all kinds; a failure does not keep the others."""
        raise_first(faults_of(kind.close for kind in self.kinds))


def made_for(
    run: str, wanted: Iterable[Domains], say: Callable[[str], None]
) -> MadeMachines | None:
    """The machines for a run, not started yet; None: none is wanted.

    Raises:
        RuntimeUnavailableError: this machine lacks what they need.
        ArtifactError: their parts are not available.
    """
    kinds: dict[str, list[Domains]] = {}
    for one in wanted:
        kinds.setdefault(one.machines, []).append(one)
    made = [declared(name).make(run, own, say) for name, own in kinds.items()]
    return made[0] if len(made) == 1 else Together(made) if made else None
