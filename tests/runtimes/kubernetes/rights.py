"""The rights of docs/kubernetes-rights.yaml, as (verb, resource)."""

from __future__ import annotations

from pathlib import Path

from ruamel.yaml import YAML

FILE = Path(__file__).parents[3] / "docs" / "kubernetes-rights.yaml"


def granted() -> set[tuple[str, str]]:
    """The rights that the file grants in every namespace."""
    documents = YAML(typ="safe", pure=True).load_all(FILE.read_text(encoding="utf-8"))
    (role,) = [one for one in documents if one["kind"] == "ClusterRole"]
    return {
        (verb, resource)
        for rule in role["rules"]
        for verb in rule["verbs"]
        for resource in rule["resources"]
    }
