"""What is true of this machine, where a study's nodes and clients run unless it says otherwise."""

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
