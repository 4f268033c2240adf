"""A run's temporary directories: marked as the run's, found and removed by that mark.

The mark is a label file in the directory, which names the machine and the plan of the run. A
directory without it is somebody else's, whatever it is called. Links are never followed. A full
disk or a kill may cut the label off while it is written: a directory with nothing but the
beginning of its run's label is the run's.

The lab belongs to one machine. If several machines see the same directory of runs, a run of
another one may be alive: directories with its mark are left to that machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import stat
from pathlib import Path

from tare.errors import TareError
from tare.machines.identity import identity
from tare.no_links import opened, plain_file, within
from tare.records.layout import UNFINISHED, RunFiles

LABEL = ".tare-run.json"
"""the label file; it has a name of the machine, and the SHA-256 of the run's plan"""
WORK, PARTIAL = "work", ".partial"
_LONGEST_LABEL = 4096


def make(directory: Path, files: RunFiles) -> None:
    """Make an empty directory with the run's mark; remove what a killed run left of it.

    Raises:
        TareError: something without the run's mark is there.
    """
    remove(directory, files)
    try:
        directory.mkdir(parents=True)
    except FileExistsError:
        if directory.is_symlink() or not directory.is_dir() or any(directory.iterdir()):
            raise TareError(
                "this place is needed for a run, and something else is there",
                where=str(directory),
                why="it does not carry the mark of this run on this machine, so that it is not "
                "removed",
                remedy="where another machine runs it, wait, or give tare clean there; else move "
                "it away, or remove it if you know it: rm -r " + shlex.quote(str(directory)),
            ) from None
    try:
        (directory / LABEL).write_bytes(_label_of(_mark(files.root)))
    except OSError:
        remove(directory, files)
        raise


def unmark(directory: Path) -> None:
    """Remove the label from a directory that is to stay."""
    (directory / LABEL).unlink(missing_ok=True)


def remove(directory: Path, files: RunFiles) -> None:
    """Remove one of the run's directories with all that is in it, where it carries its mark."""
    parts = directory.relative_to(files.root).parts
    with contextlib.suppress(OSError), opened(files.root) as root:
        mark = _mark_of(root)
        with within(root, parts[:-1]) as parent:
            if mark is not None and _has(parent, parts[-1], mark):
                _remove(parent, parts[-1])


def leftovers(runs: Path) -> list[Path]:
    """Marked directories of all runs below a directory, sorted; the lab is held."""
    found: list[Path] = []
    with contextlib.suppress(OSError), os.scandir(runs) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                found += _of_run(Path(entry.path))
    return sorted(found)


def _of_run(run: Path) -> list[Path]:
    found: list[Path] = []
    with contextlib.suppress(OSError), opened(run) as root:
        mark = _mark_of(root)
        if mark is None:
            return []
        if _has(root, WORK, mark):
            found.append(run / WORK)
        trials = RunFiles(run).trials
        with contextlib.suppress(OSError), within(root, (trials.name,)) as parent:
            found += [
                trials / name
                for name in _names(parent)
                if name.startswith(UNFINISHED)
                and name.endswith(PARTIAL)
                and _has(parent, name, mark)
            ]
    return found


def _mark(run: Path) -> dict[str, str]:
    """The mark of a run whose plan has been written.

    Raises:
        TareError: it has not.
    """
    with opened(run) as root:
        mark = _mark_of(root)
    if mark is None:
        raise TareError(
            "a run without a plan cannot mark its directories",
            where=str(run),
            remedy="remove the run's directory, or give another --name",
        )
    return mark


def _mark_of(root: int) -> dict[str, str] | None:
    """The mark of the run in this open directory; None: there is no run's plan."""
    try:
        with plain_file(root, RunFiles(Path()).plan.name) as plan:
            digest = hashlib.file_digest(plan, "sha256").hexdigest()
    except OSError:
        return None
    machine = hashlib.sha256(identity().encode()).hexdigest()[:10]
    return {"machine": machine, "plan": digest}


def _label_of(mark: dict[str, str]) -> bytes:
    return json.dumps(mark).encode()


def _has(parent: int, name: str, mark: dict[str, str]) -> bool:
    """Whether a directory of an open one has this mark, or was about to get it."""
    try:
        with (
            within(parent, (name,)) as directory,
            plain_file(directory, LABEL) as file,
        ):
            label, names = file.read(_LONGEST_LABEL), _names(directory)
    except OSError:
        return False
    if names == [LABEL] and _label_of(mark).startswith(label):
        return True
    try:
        return bool(json.loads(label) == mark)
    except (ValueError, RecursionError):
        return False


def _names(directory: int) -> list[str]:
    with os.scandir(directory) as entries:
        return [entry.name for entry in entries]


def _remove(parent: int, name: str) -> None:
    """Remove the label last, so that an interrupted removal can be continued."""
    with within(parent, (name,)) as directory:
        for inner in _names(directory):
            if inner != LABEL:
                _remove_all(directory, inner)
        if _names(directory) == [LABEL]:
            os.unlink(LABEL, dir_fd=directory)
    with contextlib.suppress(OSError):  # something could not be removed: it stays, marked
        os.rmdir(name, dir_fd=parent)


def _remove_all(parent: int, name: str) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
        shutil.rmtree(name, ignore_errors=True, dir_fd=parent)
        return
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=parent)
