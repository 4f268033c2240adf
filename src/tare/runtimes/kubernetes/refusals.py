"""The errors of a Kubernetes API and of its transport, in the user's words."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from urllib3.exceptions import HTTPError

from tare.runtimes.orchestrated import OrchestratorError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from urllib3 import BaseHTTPResponse

RIGHTS = "docs/kubernetes-rights.yaml"
_EXISTS, _DENIED, _UNKNOWN_USER = 409, 403, 401


class ApiError(OrchestratorError):
    """The API refused something, or did not answer."""

    @property
    def exists(self) -> bool:
        """Whether the object to be made exists already."""
        return self.status == _EXISTS

    @property
    def forbidden(self) -> bool:
        """Whether the caller lacks the right; a retry does not help."""
        return self.status in (_DENIED, _UNKNOWN_USER)


@contextlib.contextmanager
def translated(server: str) -> Iterator[None]:
    """Translates errors of the client and its transport into Tare's."""
    from kubernetes.client.exceptions import ApiException

    try:
        yield
    except ApiException as error:  # of streams alone
        if not error.status:
            raise no_answer(server, str(error.reason)) from error
        raise refused(server, int(error.status), str(error.reason)) from error
    except (HTTPError, OSError) as error:
        raise no_answer(server, _plainly(error)) from error


def _plainly(error: Exception) -> str:
    """A transport's innermost message, without the objects that it names."""
    innermost = str(getattr(error, "reason", None) or error)
    return innermost.rpartition("): ")[2] or innermost


def message_of(answer: BaseHTTPResponse) -> str:
    """The API's own message, from the Status document in its answer."""
    try:
        return str(json.loads(answer.data)["message"])
    except (TypeError, ValueError, KeyError):
        return str(answer.reason)


def no_answer(server: str, why: str) -> ApiError:
    """The error for an API that cannot be reached."""
    if "CERTIFICATE_VERIFY_FAILED" in why:
        return ApiError(
            "another server answers than the kubeconfig's Kubernetes cluster",
            status=0,
            where=server,
            why=why,
            remedy="look at server and certificate-authority in the kubeconfig, and at a proxy",
        )
    return ApiError(
        "the Kubernetes cluster does not answer",
        status=0,
        where=server,
        why=why,
        remedy="kubectl cluster-info, with the same kubeconfig and context",
    )


def refused(server: str, status: int, message: str) -> ApiError:
    """The error for an API that answers with a refusal."""
    what, remedy = "the Kubernetes API refused a request", "kubectl get events --all-namespaces"
    if status == _DENIED and "is being terminated" in message:
        what, remedy = "the namespace is being deleted", "tare clean, then again"
    elif status == _DENIED:
        what = "a right is missing in the Kubernetes cluster"
        remedy = f"have an administrator run kubectl apply -f {RIGHTS}, with your name in it"
    elif status == _UNKNOWN_USER:
        what = "the Kubernetes cluster does not know who this is"
        remedy = "kubectl auth whoami; log in to the cluster again"
    return ApiError(what, status=status, where=server, why=message, remedy=remedy)
