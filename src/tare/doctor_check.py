"""What `tare doctor` tells of: of this machine, of a host, of a database's server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Seen:
    """What a runtime or a kind of machines says of itself.

    Attributes:
        ok: it can be used here.
        says: what it is, or why it cannot.
        remedy: how to get it, where it cannot.
    """

    ok: bool
    says: str
    remedy: str = ""


@dataclass(frozen=True)
class DoctorCheck:
    """One thing that was looked at."""

    what: str
    ok: bool
    says: str
    remedy: str = ""
    """what to do where it is not as it should be"""
    needed: bool = True
    """without it nothing runs there"""
