"""Nodes that the drop-ins are tried on: three on one ring, and one behind TLS and a password."""

from __future__ import annotations

import contextlib
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.load.server import start
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.policies import WhiteListRoundRobinPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ADDRESS, GUARDED = "127.0.10.1", "127.0.10.5"
RING = ("127.0.10.2", "127.0.10.3", "127.0.10.4")
USER = PASSWORD = "cassandra"  # noqa: S105 - Cassandra's first user, on a loopback address
_SECONDS = 60
"""Time after a node's start, for the ring to form and the first user to be made."""


@dataclass(frozen=True)
class Share:
    """The work of a ring's nodes.

    Attributes:
        executed: prepared statements that each node executed as the coordinator, by address.
        between: messages that the nodes sent to each other.
    """

    executed: dict[str, int]
    between: int

    def since(self, before: Share) -> Share:
        """Their work since then."""
        executed = {node: count - before.executed[node] for node, count in self.executed.items()}
        return Share(executed, self.between - before.between)


@dataclass(frozen=True)
class Ring:
    """Three nodes with a third of the tokens each.

    Attributes:
        sessions: one for each node, by its address, which speaks to that node alone.
    """

    sessions: dict[str, Any]

    @property
    def first(self) -> str:
        """The address that clients are given."""
        return next(iter(self.sessions))

    def share(self) -> Share:
        """The nodes' counters, from Cassandra's own tables."""
        executed, between = {}, 0
        for address, session in self.sessions.items():
            metrics = dict(session.execute("SELECT name, value FROM system_views.cql_metrics"))
            executed[address] = int(metrics["prepared_statements_executed"])
            sent = session.execute("SELECT sent_count FROM system_views.internode_outbound")
            between += sum(count or 0 for (count,) in sent)
        return Share(executed, between)


@contextmanager
def ring(addresses: Sequence[str], directory: Path) -> Iterator[Ring]:
    """Three nodes that have formed a cluster."""
    with contextlib.ExitStack() as stack:

        def node(address: str) -> None:
            server = start(address, directory / address, "0-1", 400, ring=addresses)
            stack.callback(server.kill)

        node(addresses[0])
        with ThreadPoolExecutor() as pool:
            list(pool.map(node, addresses[1:]))
        sessions = {}
        for address in addresses:
            cluster = Cluster([address], execution_profiles={EXEC_PROFILE_DEFAULT: only(address)})
            stack.callback(cluster.shutdown)
            sessions[address] = cluster.connect()
        end = time.monotonic() + _SECONDS
        while not all(map(complete, sessions.values())):
            assert time.monotonic() < end, "the nodes have not found each other"
            time.sleep(0.2)
        yield Ring(sessions)


def complete(session: Any) -> bool:
    """Whether a node of three knows the others."""
    return len(list(session.execute("SELECT peer FROM system.peers"))) == 2


def only(address: str) -> ExecutionProfile:
    policy = WhiteListRoundRobinPolicy([address])
    return ExecutionProfile(load_balancing_policy=policy, request_timeout=_SECONDS)


@contextmanager
def guarded(address: str, directory: Path) -> Iterator[tuple[Any, Path]]:
    """A session on a node that takes none without TLS and a password, and the PEM file of what its
    certificate is signed with: it is its own.
    """
    keys, trust = directory / "node.p12", directory / "trust.pem"
    store = ["-alias", "node", "-keystore", str(keys), "-storepass", PASSWORD]
    keytool("-genkeypair", "-keyalg", "RSA", "-storetype", "PKCS12", "-dname", "CN=tare",
            "-ext", f"san=ip:{address}", "-validity", "2", *store)  # fmt: skip
    trust.write_bytes(keytool("-exportcert", "-rfc", *store))
    encryption = {"enabled": True, "optional": False, "require_client_auth": False,
                  "keystore": str(keys), "keystore_password": PASSWORD}  # fmt: skip
    settings = {"authenticator": "PasswordAuthenticator", "client_encryption_options": encryption}
    # the first user is made ten seconds after a node's start, where nobody says otherwise
    at_once = ["-Dcassandra.superuser_setup_delay_ms=0"]
    server = start(address, directory / "node", "0-1", settings=settings, jvm=at_once)
    try:
        session = connected(address, trust)
        with session.cluster:
            yield session, trust
    finally:
        server.kill()


def connected(address: str, trust: Path) -> Any:
    """A session, once the first user exists: Cassandra makes it after its start."""
    context = ssl.create_default_context(cafile=str(trust))
    context.check_hostname = False  # the driver gives no name to check
    provider = PlainTextAuthProvider(USER, PASSWORD)
    end = time.monotonic() + _SECONDS
    while True:
        try:
            return Cluster([address], auth_provider=provider, ssl_context=context).connect()
        except NoHostAvailable:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def keytool(*words: str) -> bytes:
    return subprocess.run(["keytool", *words], check=True, capture_output=True).stdout
