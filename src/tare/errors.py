"""The base of all of Tare's errors: what failed, where, why, and what to try next."""

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
    usual = ""
    """default remedy of a class, for errors without a remedy"""

    def __init__(self, what: str, *, where: str = "", why: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.why = why
        self.remedy = remedy or self.usual

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

    usual = "tare doctor says what can run here; then give the same command again"


class ArtifactError(TareError):
    """The database's files could not be fetched, or are not the locked ones."""

    usual = "give the same command again; docs/troubleshooting.md tells what can be wrong"


class ClusterError(TareError):
    """A cluster that did not form, or died."""

    usual = "read the nodes' logs in the run's directory; the same command goes on from here"


class UnitGoneError(TareError):
    """A unit that has ended: the kernel no longer knows it."""

    usual = "read the unit's logs in the run's directory; the same command goes on from here"


class LoadError(TareError):
    """The load client failed, or reported that its run is useless."""

    usual = "read the load client's output in the trial's directory; the same command goes on"


class QuietError(LoadError):
    """A load client that failed outside a run: against servers without a database."""

    usual = "give the same command again; tare doctor says what can run here"


class TrialFailedError(TareError):
    """A trial that ended without a usable result; recorded, retried once."""

    usual = "read the trial's directory; the same command tries it again"


class DiskFullError(TareError):
    """No disk space for the next cluster; the run stops here and resumes when there is space."""


class LabBusyError(TareError):
    """Another run holds this machine."""


class RecordError(TareError):
    """A record on disk that is missing, damaged or of another version."""

    usual = "copy the run anew from where it was measured, or measure it again"


class KnowledgeError(UsageError):
    """A knowledge file that cannot be used as it stands."""
