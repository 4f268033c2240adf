"""Which cluster Tare may use, and how images get into its nodes: a small file, or a kubeconfig."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from tare.runtimes.settings_file import read_settings
from tare.study.part import StudyPart

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "TARE_KUBERNETES"
"""environment variable that names the file"""
_DEFAULT = Path("~/.kube/config")


class Images(StudyPart):
    """How images that Tare builds get to where pods can use them."""

    import_: list[list[str]] = Field(
        [],
        alias="import",
        description="commands, each an argument list, that read an image archive (as `docker save` "
        "writes it) from standard input and give it to one node or to all",
    )
    registry: str = Field(
        "", description="push images below this name instead, e.g. registry.example.org/tare"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Images:
        if self.import_ and self.registry:
            raise ValueError("registry or import, not both")
        return self


class ClusterSettings(StudyPart):
    """One Kubernetes cluster as Tare is to use it."""

    kubeconfig: str = Field(
        "", description="file, from this one's directory; empty: $KUBECONFIG, else ~/.kube/config"
    )
    context: str = Field("", description="context of the kubeconfig; empty: its current one")
    images: Images = Field(Images(), description="how images get to the nodes")

    @property
    def files(self) -> str | None:
        """The kubeconfig's files as the client takes them; None: its own default."""
        return self.kubeconfig or None


def cluster_settings(
    environment: Mapping[str, str] = os.environ, default: Path = _DEFAULT
) -> ClusterSettings | None:
    """The cluster that the user names; None where none is named.

    Args:
        environment: $TARE_KUBERNETES names a file of these settings, $KUBECONFIG a kubeconfig.
        default: kubectl's own default, which names a cluster too where it exists.

    Raises:
        RuntimeUnavailableError: the file is missing, or not as it should be.
    """
    named = environment.get(VARIABLE)
    if named:
        return _read(Path(named).expanduser())
    if environment.get("KUBECONFIG") or default.expanduser().is_file():
        return ClusterSettings()
    return None


def _read(file: Path) -> ClusterSettings:
    found = read_settings(
        file,
        ClusterSettings,
        of="the Kubernetes cluster",
        variable=VARIABLE,
        page="docs/kubernetes.md",
    )
    if found.kubeconfig:
        whole = file.parent / Path(found.kubeconfig).expanduser()
        found = found.model_copy(update={"kubeconfig": str(whole)})
    return found
