"""A small study, and the resources of a lab that starts nothing: for tests that script the rest."""

from __future__ import annotations

from typing import Any

TEXT = """\
study: small
load: {threads: 4}
factors: {platform: {native: {}, docker: {platform: {runtime: docker, network: bridge}}}}
baseline: {platform: native}
design: {idle_cpus: halt, blocks: 1, slice: off}
"""


class NoResources:
    runtimes: Any = None

    def environment(self) -> dict[str, Any]:
        return {}

    def close(self) -> list[Any]:
        return []
