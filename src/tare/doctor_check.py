"""Checks of `tare doctor`: of this machine, of a host, of a database's server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Seen:
    """Whether a runtime or a kind of machines can be used.

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
    """One check and its result."""

    what: str
    ok: bool
    says: str
    remedy: str = ""
    """what to do if the check fails"""
    needed: bool = True
    """required: nothing runs there without it"""
