"""Finds who replies at a database's address, from here or from inside, and what each end saw.

Both ends of a connection report their addresses, and so where these were translated on the way.
"""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

WITHIN_S = 10.0
"""longest wait for an answer; rules of proxies follow new pods within a second or two"""
_AGAIN_S = 0.2
_LONGEST_LINE = 16 * 1024


@dataclass(frozen=True)
class Reply:
    """The result of asking one target; addresses are host:port.

    Attributes:
        target: the target as it was given.
        sent_from, sent_to: both ends of the connection, as the client saw them.
        name: the pod that answered; empty: none did.
        came_from, came_to: both ends as the pod saw them.
        mtu: the pod's network devices to the largest packet that they send, bytes.
        largest_segment: bytes of payload that the client's TCP puts into a packet; 0: not known.
        why: why no pod answered.
    """

    target: str
    sent_from: str = ""
    sent_to: str = ""
    name: str = ""
    came_from: str = ""
    came_to: str = ""
    mtu: Mapping[str, int] = field(default_factory=dict)
    largest_segment: int = 0
    why: str = ""

    @property
    def source_translated(self) -> bool:
        return bool(self.name) and self.sent_from != self.came_from

    @property
    def destination_translated(self) -> bool:
        return bool(self.name) and self.sent_to != self.came_to

    def as_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "source translated": self.source_translated,
            "destination translated": self.destination_translated,
        }


def ask_from_here(
    targets: Sequence[str],
    within_s: float = WITHIN_S,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> list[Reply]:
    """Ask all targets, host:port, from this machine, at the same time."""
    with ThreadPoolExecutor(max_workers=len(targets) or 1) as pool:
        return list(pool.map(lambda target: _ask(target, within_s, clock, wait), targets))


def _ask(
    target: str, within_s: float, clock: Callable[[], float], wait: Callable[[float], None]
) -> Reply:
    deadline = clock() + within_s
    while True:
        try:
            return _once(target, max(deadline - clock(), 0.1))
        except (OSError, ValueError, KeyError) as error:
            if clock() + _AGAIN_S >= deadline:
                return Reply(target, why=str(error) or type(error).__name__)
        wait(_AGAIN_S)


def _once(target: str, left_s: float) -> Reply:
    host, _, port = target.rpartition(":")
    with socket.create_connection((host, int(port)), left_s) as connection:
        connection.settimeout(left_s)
        with connection.makefile("rb") as answers:
            answer = json.loads(answers.readline(_LONGEST_LINE))
        return Reply(
            target,
            sent_from=_joined(connection.getsockname()),
            sent_to=_joined(connection.getpeername()),
            name=str(answer["name"]),
            came_from=str(answer["peer"]),
            came_to=str(answer["local"]),
            mtu=_sizes(answer),
            largest_segment=connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG),
        )


def _joined(address: Any) -> str:
    return f"{address[0]}:{address[1]}"


def _sizes(answer: Mapping[str, Any]) -> dict[str, int]:
    return {str(device): int(size) for device, size in dict(answer.get("mtu") or {}).items()}


def wrong_replies(expected: Mapping[str, str], found: Iterable[Reply]) -> list[str]:
    """Every target that its own unit did not answer, in words.

    Args:
        expected: target to the unit that must answer there.
        found: the replies.
    """
    by_target = {one.target: one for one in found}
    faults: list[str] = []
    for target, unit in expected.items():
        one = by_target.get(target, Reply(target, why="it was not asked"))
        if not one.name:
            faults.append(f"{target} ({unit}): {one.why}")
        elif one.name != unit:
            faults.append(f"{target}: {one.name} answered in place of {unit}")
    return faults


def replies_inside(text: str) -> list[Reply]:
    """The replies that `tare-pod ask` printed inside the cluster; other lines are left out."""
    found: list[Reply] = []
    for line in text.splitlines():
        try:
            one = json.loads(line)
            answer = one["answer"] or {}
            found.append(
                Reply(
                    target=str(one["target"]),
                    sent_from=str(one["from"] or ""),
                    sent_to=str(one["to"] or ""),
                    name=str(answer.get("name", "")),
                    came_from=str(answer.get("peer", "")),
                    came_to=str(answer.get("local", "")),
                    mtu=_sizes(answer),
                    why=str(one["why"]),
                )
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found
