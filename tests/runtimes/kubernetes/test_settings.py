"""Which cluster the settings name, and the errors for files that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes.settings import cluster_settings


def test_where_nothing_names_a_cluster_there_is_none(tmp_path: Path) -> None:
    assert cluster_settings({}, tmp_path / "config") is None


def test_a_kubeconfig_names_one(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("apiVersion: v1\n")
    for environment, default in (
        ({}, config),
        ({"KUBECONFIG": "/elsewhere"}, tmp_path / "none"),
    ):
        found = cluster_settings(environment, default)
        assert found is not None
        assert found.files is None  # the client's default, which follows KUBECONFIG


def test_a_file_tells_how_images_get_into_the_nodes(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(
        "kubeconfig: /etc/kube\ncontext: rig\n"
        "images: {import: [[ctr, -n, k8s.io, images, import, '-']]}\n"
    )
    found = cluster_settings({"TARE_KUBERNETES": str(file)}, tmp_path / "none")
    assert found is not None
    assert (found.files, found.context) == ("/etc/kube", "rig")
    file.write_text("kubeconfig: lab/kube\n")
    beside = cluster_settings({"TARE_KUBERNETES": str(file)}, tmp_path / "none")
    assert beside is not None
    assert beside.files == str(tmp_path / "lab" / "kube")
    assert found.images.import_ == [["ctr", "-n", "k8s.io", "images", "import", "-"]]


@pytest.mark.parametrize("text", ["kubeconfg: x", "[", "images: {import: [ctr images import]}"])
def test_a_file_that_cannot_be_used_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(text)
    with pytest.raises(RuntimeUnavailableError) as caught:
        cluster_settings({"TARE_KUBERNETES": str(file)}, tmp_path / "none")
    assert caught.value.where == str(file)


def test_a_file_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailableError):
        cluster_settings({"TARE_KUBERNETES": str(tmp_path / "none")}, tmp_path / "none")


def test_two_ways_for_images_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text("images: {import: [[ctr, images, import]], registry: registry.example.org}\n")
    with pytest.raises(RuntimeUnavailableError) as caught:
        cluster_settings({"TARE_KUBERNETES": str(file)}, tmp_path / "none")
    assert caught.value.why == "images: registry or import, not both"
