"""The one root of all of Tare's errors: what failed, where, why, and what to try next."""

from __future__ import annotations


class TareError(Exception):
    """Something that the user must know about.

    Attributes:
        what: what failed, one line.
        where: the file, line, field, host or unit in which it failed, if one is known.
        why: the reason, possibly several lines.
        remedy: the next command or edit to try.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", why: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.why = why
        self.remedy = remedy

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.why:
            parts.append(f"  why: {self.why}")
        if self.remedy:
            parts.append(f"  try: {self.remedy}")
        return "\n".join(parts)


class UsageError(TareError):
    """The study or the command line is wrong; nothing was started."""

    exit_code = 2


class StudyError(UsageError):
    """A study document that cannot be run as it stands."""


class InventoryError(UsageError):
    """An inventory of hosts that cannot be used as it stands."""


class RuntimeUnavailableError(TareError):
    """A runtime, tool or permission that this machine lacks."""


class ArtifactError(TareError):
    """The database's files could not be fetched, or are not the locked ones."""


class ClusterError(TareError):
    """A cluster that did not form, or died."""


class UnitGoneError(TareError):
    """A unit of which the kernel knows no more: it has ended."""


class LoadError(TareError):
    """The load client failed, or reported that its run is worthless."""


class TrialFailedError(TareError):
    """A trial that ended without a usable result; recorded, retried once."""


class DiskFullError(TareError):
    """No room for the next cluster; the run stops here and goes on when there is."""


class LabBusyError(TareError):
    """Another run holds this machine."""


class RecordError(TareError):
    """A record on disk that is missing, damaged or of another version."""


class KnowledgeError(UsageError):
    """A knowledge file that cannot be used as it stands."""
