"""Leftovers of dead runs in Podman: containers, networks, volumes by label; services by mark."""

from __future__ import annotations

import contextlib
import os
import shutil

import psutil
from docker.errors import DockerException

from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes import docker_engine
from tare.runtimes.left import Left
from tare.runtimes.native import runs
from tare.runtimes.podman.engine import COMMAND, ENGINE, UnfitPodmanError, serving
from tare.starter import STARTER_VARIABLE, mark, without_owner

_WAIT_S = 5.0


def left() -> Left | None:
    """All leftovers of dead runs; None: this user cannot have made anything."""
    if shutil.which(COMMAND) is None or os.geteuid() != 0:
        return None
    dead, silent = services(), ""
    names: dict[str, list[str]] = {}
    try:
        with serving(timeout_s=10) as client:
            found = docker_engine.ours(docker_engine.labelled(client, docker_engine.RUN_LABEL))
            names = {kind: [str(one.name) for one in items] for kind, items in found.items()}
    except UnfitPodmanError:
        pass
    except RuntimeUnavailableError as error:
        silent = error.why
    except (DockerException, OSError) as error:
        silent = str(error)
    words = {f"{ENGINE} {kind}": items for kind, items in names.items()}
    service = f"{ENGINE} services"
    return Left(
        {**words, service: [str(one.pid) for one in dead]},
        lambda: _remove(dead, any(names.values())),
        [f"{ENGINE}: {silent}"] if silent else [],
        lambda: {service: [str(one.pid) for one in dead if runs(one)]},
    )


def services() -> list[psutil.Process]:
    """Services of Tare's commands that have ended without ending their service."""
    found = []
    for process in psutil.process_iter(["name"]):
        with contextlib.suppress(psutil.Error):  # gone meanwhile
            if process.info["name"] == COMMAND:
                made_by = process.environ().get(STARTER_VARIABLE, "")
                if made_by != mark() and without_owner(made_by):
                    found.append(process)
    return found


def _remove(dead: list[psutil.Process], more: bool) -> list[TareError]:
    """Remove them, the services too.

    Args:
        more: there is more than services.
    """
    faults: list[TareError] = []
    if more:
        try:
            with serving() as client:
                found = docker_engine.labelled(client, docker_engine.RUN_LABEL)
                faults += docker_engine.remove(docker_engine.ours(found), ENGINE)
        except RuntimeUnavailableError as error:
            faults.append(error)
        except (DockerException, OSError) as error:
            why = str(error)
            faults.append(RuntimeUnavailableError(f"{ENGINE} does not answer", why=why))
    for process in dead:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(dead, timeout=_WAIT_S)
    return faults
