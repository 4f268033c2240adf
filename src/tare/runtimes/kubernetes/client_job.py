"""A load client as a job inside the cluster: its lines followed, its files handed over."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from typing import TYPE_CHECKING

from tare.errors import LoadError, RuntimeUnavailableError, TareError
from tare.runtimes.kubernetes import jobs, local_pods, manifests
from tare.runtimes.kubernetes.events import events_in_words, events_of
from tare.runtimes.kubernetes.pod_parts import MAIN, labels_of
from tare.runtimes.kubernetes.pods import await_pod, container_id, ended
from tare.runtimes.kubernetes.refusals import ApiError
from tare.runtimes.orchestrated import OrchestratedRunning
from tare.runtimes.slug import slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tare.runtimes.kubernetes.api import Api, Document
    from tare.runtimes.kubernetes.pod_parts import Container
    from tare.runtimes.unit import Exit, Unit

FILES = "files"
"""the container that prints the client's files once the client has ended"""
_HAND_OVER_S = 60.0
_END_S = 30.0
"""longest wait after the end of a client's output until the API says how the client ended"""
_POD_OF_JOB_S = 30.0
_POLL_S = 0.2
_SILENT_S = 2.0
"""A client reports every second; after this long without output it is checked."""


def start_job(
    unit: Unit,
    api: Api,
    namespace: str,
    run: str,
    container: Container,
    helper: str,
    files: Mapping[str, str],
    nth: int,
    left: set[str],
    clock: Callable[[], float],
    wait: Callable[[float], None],
) -> ClientRunning:
    """Start a load client inside and wait until it runs.

    Args:
        unit: the client.
        api, namespace, run: where its job is made, and for which run.
        container: what runs in its pod.
        helper: image of tare-pod, which hands its files over.
        files: the client's own, name to text.
        nth: number of clients of this name in the run, including this one. Each has its own
            objects: a kubelet may give a pod the files of a map that had its name before.
        left: names of unwanted jobs that may be there; this one's, until it runs.
        clock, wait: monotonic seconds, and letting them pass.

    Raises:
        RuntimeUnavailableError: it does not start; it is deleted, and stays in `left`.
    """
    name = slug(unit.site.name if nth == 1 else f"{unit.site.name}-{nth}")
    labels = labels_of(run, unit=unit.site.name)
    on_node = unit.site.path == "host"
    pod = jobs.client_pod(container, helper, name, sorted(files), on_node=on_node)
    left.add(name)
    try:
        api.create(manifests.config_map(name, labels, files), namespace)
        made = api.create(jobs.job(name, labels, pod, None), namespace)
        found = _pod_of_job(api, made, namespace, clock, wait)
        running = ClientRunning(unit, api, namespace, name, found, left, clock, wait)
    except BaseException:
        with contextlib.suppress(TareError):
            delete_job(api, name, namespace)
        raise
    left.discard(name)
    return running


def delete_job(api: Api, name: str, namespace: str) -> None:
    """Delete a client's job and its files; it is no error if they are gone already.

    Raises:
        ApiError: it cannot be done now.
    """
    api.delete("Job", name, namespace)
    api.delete("ConfigMap", name, namespace)


def _pod_of_job(
    api: Api,
    made: Document,
    namespace: str,
    clock: Callable[[], float],
    wait: Callable[[float], None],
) -> str:
    """The name of a job's pod; a pod of an earlier job of that name may still be there."""
    job, uid = str(made["metadata"]["name"]), made["metadata"]["uid"]
    deadline = clock() + _POD_OF_JOB_S
    while True:
        for pod in api.find("Pod", namespace, labels=f"job-name={job}"):
            owners = pod["metadata"].get("ownerReferences") or []
            if any(owner.get("uid") == uid for owner in owners):
                return str(pod["metadata"]["name"])
        if clock() > deadline:
            raise RuntimeUnavailableError(
                "a job got no pod",
                where=f"{namespace}/{job}",
                why=f"none within {_POD_OF_JOB_S:.0f} s; the job's controller may not run",
                remedy=f"kubectl describe job {job} -n {namespace}",
            )
        wait(_POLL_S)


class ClientRunning(OrchestratedRunning):
    """A job with one pod."""

    of = local_pods.POD

    def __init__(
        self,
        unit: Unit,
        api: Api,
        namespace: str,
        job: str,
        pod: str,
        left: set[str],
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take over a job whose pod exists.

        Args:
            left: names of unwanted jobs that may be there; this one's, once it is to end.

        Raises:
            RuntimeUnavailableError: the pod does not start.
        """
        self.unit = unit
        self._api = api
        self._namespace = namespace
        self._job = job
        self._pod = pod
        self._left = left
        self._clock = clock
        self._wait = wait
        self._taken_away = False
        started = await_pod(api, namespace, pod, MAIN, clock=clock, wait=wait)
        # a client on another machine is not accounted: only the servers' use is compared
        self._accounting = local_pods.accounting_of(container_id(started, MAIN), lambda: 0.0)
        if unit.limits.cpuset is not None and self._accounting.pid:
            self.confine(unit.limits.cpuset)

    def exited(self) -> Exit | None:
        return self._poll_once()[0]

    def _poll_once(self) -> tuple[Exit | None, bool]:
        """How it ended, if it has, and whether anybody removed its pod.

        Raises:
            ApiError: the cluster does not answer.
        """
        try:
            return ended(self._api.get("Pod", self._pod, self._namespace), MAIN), False
        except ApiError as error:
            if not error.gone:
                raise
            return None, True

    def lines(self) -> Iterator[str]:
        try:
            yield from _lines(self._followed())
        except ApiError as error:
            if not error.gone:  # it was terminated before any output
                raise
        if not self._taken_away:
            with contextlib.suppress(ApiError):
                self._fetch_files()

    def _followed(self) -> Iterator[bytes]:
        """Its log as it grows, until the log ends, or the client has ended and nothing more comes.

        The end of a followed log may never come if a container was removed while it was read.
        """
        pieces: queue.Queue[bytes | TareError | None] = queue.Queue()

        def follow() -> None:
            try:
                for piece in self._api.log(self._pod, MAIN, self._namespace, follow=True):
                    pieces.put(piece)
                pieces.put(None)
            except TareError as error:
                pieces.put(error)

        threading.Thread(target=follow, daemon=True).start()
        over = False
        while True:
            try:
                piece = pieces.get(timeout=_SILENT_S)
            except queue.Empty:
                if over:
                    return
                with contextlib.suppress(ApiError):  # whose log may go on all the same
                    end, gone = self._poll_once()
                    over = gone or end is not None
                continue
            if isinstance(piece, TareError):
                raise piece
            if piece is None:
                return
            yield piece

    def _end(self) -> Exit | None:
        """How it ended, once the API tells; None: its pod was removed.

        Raises:
            LoadError: the API does not tell.
        """
        deadline = self._clock() + _END_S
        while self._clock() < deadline:
            end, gone = self._poll_once()
            if gone or end is not None:
                return end
            self._wait(_POLL_S)
        raise LoadError(
            "a load client's output has ended, and the cluster says that it runs",
            where=self.unit.site.name,
            why=f"pod {self._pod} had not ended {_END_S:.0f} s later",
            remedy=f"kubectl describe pod {self._pod} -n {self._namespace}",
        )

    def _fetch_files(self) -> None:
        """Bring the files that the client wrote to where this process looks for them.

        Raises:
            LoadError: they came incomplete, or it does not end.
        """
        end = self._end()
        if end is None or end.status != 0:
            return
        await_pod(
            self._api, self._namespace, self._pod, FILES, within_s=_HAND_OVER_S,
            clock=self._clock, wait=self._wait,
        )  # fmt: skip
        pieces = self._api.log(self._pod, FILES, self._namespace, follow=True)
        for name, content in handed_over(b"".join(pieces), self.unit.site.name).items():
            (self.unit.site.conf_on_host / name).write_bytes(content)

    def packet_path(self) -> str:
        return ""

    def terminate(self) -> None:
        self._taken_away = True
        self._api.delete("Job", self._job, self._namespace)

    def stop(self) -> None:
        self._taken_away = True
        self._left.add(self._job)
        with contextlib.suppress(ApiError):
            delete_job(self._api, self._job, self._namespace)
            self._left.discard(self._job)

    def collect_logs(self, into: Path) -> None:
        into.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(ApiError):
            text = b"".join(self._api.log(self._pod, MAIN, self._namespace))
            (into / f"{self.unit.site.name}-stderr.log").write_bytes(text)
        heard = events_in_words(events_of(self._api, self._pod, self._namespace))
        (into / f"{self.unit.site.name}-events.log").write_text(heard + "\n", encoding="utf-8")


def _lines(pieces: Iterator[bytes]) -> Iterator[str]:
    """Progress lines of a log. A log holds both streams; lines that are no JSON are for people."""
    pending = b""
    for piece in pieces:
        *whole, pending = (pending + piece).split(b"\n")
        yield from (line.decode(errors="replace") for line in whole if line.startswith(b"{"))
    if pending.startswith(b"{"):
        yield pending.decode(errors="replace")


def handed_over(text: bytes, unit: str) -> dict[str, bytes]:
    """The files in what `tare-pod hand-over` printed: a JSON line with name and size before each.

    Raises:
        LoadError: a file is cut short, or its name is not plain.
    """
    files: dict[str, bytes] = {}
    rest = text
    while rest.strip():
        head, _, rest = rest.partition(b"\n")
        try:
            header = json.loads(head)
            name, size = str(header["file"]), int(header["bytes"])
        except (ValueError, KeyError, TypeError) as error:
            raise _cut_short(unit, "its beginning is no header") from error
        if "/" in name or name in ("", ".", ".."):
            raise _cut_short(unit, f"a file is named {name!r}")
        if size < 0 or len(rest) < size:
            raise _cut_short(unit, f"{name} has {len(rest)} of {size} bytes")
        files[name], rest = rest[:size], rest[size + 1 :]
    return files


def _cut_short(unit: str, why: str) -> LoadError:
    return LoadError(
        "the load client's files did not come through",
        where=unit,
        why=f"{why}; a node may keep less of a log than was printed",
        remedy="raise containerLogMaxSize of the nodes, or run the client outside",
    )
