"""The declaration of this machine, the default for a study's nodes and clients."""

from __future__ import annotations

from tare.machines.declaration import MachinesDeclaration


class Local(MachinesDeclaration):
    """This machine."""

    name = "local"
    title = "this machine"
    in_words = "this one"
    here = True
    for_clients = True


DECLARED = Local()
