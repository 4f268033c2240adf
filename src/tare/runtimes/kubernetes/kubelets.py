"""CPU time of pods on other machines, counted by the kubelets there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes.pod_parts import MAIN
from tare.runtimes.kubernetes.refusals import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.runtimes.kubernetes.api import Api


@dataclass
class Kubelets:
    """The kubelets of one cluster; the first answer decides whether they may be asked."""

    api: Callable[[], Api]
    _allowed: bool | None = field(default=None, init=False)

    def cpu_seconds(self, namespace: str, machine: str, pod: str) -> float:
        """CPU seconds that a pod has used since it began; 0: kubelets may not be asked.

        Raises:
            ApiError: there is no answer.
            RuntimeUnavailableError: the answer does not hold it.
        """
        if self._allowed is False:
            return 0.0
        try:
            told = self.api().statistics(machine)
        except ApiError as error:
            if self._allowed or not error.forbidden:
                raise
            self._allowed = False
            return 0.0
        self._allowed = True
        try:
            (used,) = (
                container["cpu"]["usageCoreNanoSeconds"]
                for one in told["pods"]
                if (one["podRef"]["namespace"], one["podRef"]["name"]) == (namespace, pod)
                for container in one["containers"]
                if container["name"] == MAIN
            )
            return int(used) / 1e9
        except (KeyError, TypeError, ValueError) as error:
            raise RuntimeUnavailableError(
                "a kubelet does not tell a pod's CPU time",
                where=f"{namespace}/{pod} on {machine}",
                why="its statistics lack the pod, or what it used",
                remedy=f"kubectl get --raw /api/v1/nodes/{machine}/proxy/stats/summary",
            ) from error
