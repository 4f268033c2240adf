"""Which Swarm Tare may use, and its nodes' engines: a small file, a context, or DOCKER_HOST."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import docker
from docker.context import ContextAPI
from docker.errors import DockerException
from pydantic import Field

from tare.errors import RuntimeUnavailableError, TareError
from tare.runtimes.settings_file import read_settings
from tare.study.part import StudyPart

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "TARE_SWARM"
"""environment variable that names the file"""
_URL = "://"


class SwarmSettings(StudyPart):
    """One Swarm as Tare is to use it. An engine is a docker context or a URL as in DOCKER_HOST."""

    manager: str = Field(
        "", description="a manager's engine; empty: DOCKER_HOST, else docker's current context"
    )
    engines: dict[str, str] = Field(
        {},
        description="host name of a node to its engine, through which it is given images; nodes "
        "that are not named must have them, or be able to pull them",
    )
    network: str = Field(
        "",
        description="an attachable network of the Swarm that units join; empty: an overlay network "
        "that is made for them",
    )

    @property
    def where(self) -> str:
        """The manager's engine, in words."""
        return self.manager or os.environ.get("DOCKER_HOST") or "docker's own engine"

    @property
    def local(self) -> bool:
        """Whether every engine that is named is reached by a socket of this machine's."""
        named = [self.manager, *self.engines.values()]
        return bool(self.engines) and all(one.startswith("unix://") for one in named)


def swarm_settings(environment: Mapping[str, str] = os.environ) -> SwarmSettings:
    """The Swarm that the user names; docker's own choice where nothing is named.

    Raises:
        RuntimeUnavailableError: the file is missing, or not as it should be.
    """
    named = environment.get(VARIABLE)
    return _read(Path(named).expanduser()) if named else SwarmSettings()


def names_engines(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether nodes' engines are named, through which they are given more than tasks.

    A file that cannot be read is told of by others.
    """
    try:
        return bool(swarm_settings(environment).engines)
    except TareError:
        return True


def _read(file: Path) -> SwarmSettings:
    return read_settings(
        file, SwarmSettings, of="the Swarm", variable=VARIABLE, page="docs/swarm.md"
    )


def connect_engine(named: str, timeout_s: int = 60) -> docker.DockerClient:
    """A client of an engine; `named` is empty for docker's own choice.

    Raises:
        RuntimeUnavailableError: there is no such context, or no engine answers.
    """
    if named.startswith("ssh://"):
        raise RuntimeUnavailableError(
            "an engine cannot be reached through ssh:// here",
            where=SwarmSettings(manager=named).where,
            why="Tare speaks to engines over a socket or TCP",
            remedy="ssh -L a port of this machine to the engine's socket, and name tcp://127.0.0.1:PORT",
        )
    try:
        client = _client(named, timeout_s)
        client.ping()
    except (DockerException, OSError) as error:
        raise RuntimeUnavailableError(
            "no Docker engine answers",
            where=SwarmSettings(manager=named).where,
            why=str(error),
            remedy="docker context ls; docker info; or make rig-swarm, for a Swarm on this machine",
        ) from error
    return client


def _client(named: str, timeout_s: int) -> docker.DockerClient:
    if _URL in named:
        return docker.DockerClient(base_url=named, timeout=timeout_s)
    if not named and "DOCKER_HOST" in os.environ:
        return docker.from_env(timeout=timeout_s)
    name = named or os.environ.get("DOCKER_CONTEXT") or None
    context = ContextAPI.get_context(name)
    if context is not None:
        tls = context.TLSConfig or False
        return docker.DockerClient(base_url=context.Host, tls=tls, timeout=timeout_s)
    return docker.DockerClient(base_url=_host_of(str(name)), timeout=timeout_s)


def _host_of(context: str) -> str:
    """The engine of a context that the library does not see: it looks for none where docker has no
    config.json, which docker itself does without.

    Raises:
        RuntimeUnavailableError: there is no such context.
    """
    base = Path(os.environ.get("DOCKER_CONFIG") or "~/.docker").expanduser() / "contexts"
    own = hashlib.sha256(context.encode()).hexdigest()
    try:
        meta = json.loads((base / "meta" / own / "meta.json").read_text(encoding="utf-8"))
        host = str(meta["Endpoints"]["docker"]["Host"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RuntimeUnavailableError(
            f"there is no docker context {context}", remedy="docker context ls"
        ) from error
    if (base / "tls" / own).exists():
        raise RuntimeUnavailableError(
            f"the docker context {context} has keys, which cannot be read here",
            where=str(base),
            why="docker's config.json is missing",
            remedy=f"docker context use {shlex.quote(context)}, which writes one",
        )
    return host
