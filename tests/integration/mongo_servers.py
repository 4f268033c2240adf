"""Third-party servers that speak MongoDB's protocol, started for tests that need one: a mongod,
FerretDB, which keeps documents in SQLite or PostgreSQL, and mongo-java-server, in memory.

If one is not available, its tests are skipped with the reason and the command that helps. Where
MONGOD names a mongod (`make test-mongod`), it is the only one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from tare.artifacts.digest import text_digest
from tare.artifacts.maven import copy_with_dependencies
from tare.artifacts.program import find_program
from tare.artifacts.tools import jdk
from tare.artifacts.tools.cache import kept
from tare.databases.mongodb.configuration import PORT
from tare.databases.mongodb.session import connect
from tare.errors import TareError

from . import ferretdb, mongod

Kind = Literal["ferretdb-sqlite", "ferretdb-postgresql", "mongo-java-server", "mongod"]
_OTHERS: tuple[Kind, ...] = ("ferretdb-sqlite", "ferretdb-postgresql", "mongo-java-server")
KINDS: tuple[Kind, ...] = ("mongod",) if mongod.NAMED else ("mongod", *_OTHERS)
GUARDED: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind != "mongo-java-server")
"""Servers that ask clients for certificates and passwords."""
_NATURE = "(a functional stand-in and not MongoDB)"
NAMES: dict[Kind, str] = {
    "ferretdb-sqlite": f"FerretDB v1.24.0 {_NATURE}",
    "ferretdb-postgresql": f"FerretDB v1.24.0 {_NATURE}",
    "mongo-java-server": f"a server without gitVersion {_NATURE}",
    "mongod": "",
}
"""Their names in every output; empty: it is no stand-in."""
JAVA_SERVER = "1.47.0"
USER, PASSWORD = "ann", "s3cret"
_AGAIN = "then: pytest tests/integration/test_mongo_servers.py"
_SECONDS = 60
NOT_VALID = 3


@dataclass(frozen=True)
class Server:
    """One server that answers.

    Attributes:
        place: host:port.
        name: what outputs call it; empty: it is no stand-in.
    """

    place: str
    name: str

    @property
    def status(self) -> int:
        """Exit status of a finished load on the server."""
        return NOT_VALID if self.name else 0


@dataclass(frozen=True)
class Keys:
    """Files of a certificate authority of the tests' own (PEM).

    Attributes:
        authority: its certificate.
        server_key, server: of an address.
        client: key and certificate of a client, in one file, as MongoDB's drivers have it.
    """

    authority: Path
    server_key: Path
    server: Path
    client: Path


@contextmanager
def running(
    kind: Kind,
    address: str,
    directory: Path,
    *,
    keys: Keys | None = None,
    asks_clients: bool = False,
    user: bool = False,
) -> Iterator[Server]:
    """One server at port 27017 of this loopback address, with its data in this directory.

    Args:
        keys: it takes TLS alone, with these.
        asks_clients: for their certificates too.
        user: it lets in USER with PASSWORD alone, by SCRAM.
    """
    with contextlib.ExitStack() as stack:
        if kind == "mongod":
            command = _mongod(address, directory, keys, asks_clients, user)
        elif kind == "mongo-java-server":
            assert not (asks_clients or user), "it knows neither"
            command = _java_server(address, keys)
        else:
            command = [ferretdb.program(), *_ferretdb(stack, kind, address, directory)]
            command += _listens(address, keys, asks_clients)
            if user:
                command += ["--test-enable-new-auth", "--setup-database=admin"]
                command += [f"--setup-username={USER}", f"--setup-password={PASSWORD}"]
        stack.enter_context(_process(command, address, PORT, directory))
        yield Server(f"{address}:{PORT}", NAMES[kind])


def _listens(address: str, keys: Keys | None, asks_clients: bool) -> list[str]:
    place = f"{address}:{PORT}"
    if keys is None:
        return [f"--listen-addr={place}"]
    words = ["--listen-addr=", f"--listen-tls={place}", f"--listen-tls-cert-file={keys.server}"]
    words += [f"--listen-tls-key-file={keys.server_key}"]
    return [*words, f"--listen-tls-ca-file={keys.authority}"] if asks_clients else words


def _ferretdb(stack: contextlib.ExitStack, kind: Kind, address: str, directory: Path) -> list[str]:
    words = [f"--state-dir={directory}", "--telemetry=disable", "--debug-addr=-"]
    words.append("--log-level=warn")
    if kind == "ferretdb-sqlite":
        return [*words, "--handler=sqlite", f"--sqlite-url=file:{directory}/"]
    url = stack.enter_context(_postgresql(address, directory / "postgresql"))
    return [*words, "--handler=postgresql", f"--postgresql-url={url}"]


@contextmanager
def _postgresql(address: str, directory: Path) -> Iterator[str]:
    """The URL of a private PostgreSQL, which root may not run."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not programs or os.geteuid() != 0:
        pytest.skip(f"needs PostgreSQL, and root: apt-get install postgresql; {_AGAIN}")
    directory.mkdir()
    shutil.chown(directory, "postgres")
    for above in directory.parents:
        if above.stat().st_uid == os.geteuid():
            above.chmod(above.stat().st_mode | 0o011)
    drop = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    data = directory / "data"
    made = [*drop, str(programs[-1].with_name("initdb")), "-D", str(data), "-A", "trust"]
    made += ["--no-sync", "-E", "UTF8", "-U", "ferret", "--locale=C.UTF-8"]
    subprocess.run(made, check=True, capture_output=True, cwd="/")
    command = [*drop, str(programs[-1]), "-D", str(data), "-h", address, "-k", str(directory)]
    with _process([*command, "-c", "fsync=off"], address, 5432, directory):
        create = [str(programs[-1].with_name("createdb")), "-h", address, "-U", "ferret"]
        _until_done([*create, "ferretdb"])
        yield f"postgres://ferret@{address}:5432/ferretdb"


def _until_done(command: Sequence[str]) -> None:
    """Wait until the server takes connections, a moment after it listens."""
    end = time.monotonic() + _SECONDS
    while subprocess.run(command, capture_output=True, check=False).returncode != 0:
        assert time.monotonic() < end, f"{command[0]} fails"
        time.sleep(0.2)


def _mongod(
    address: str, directory: Path, keys: Keys | None, asks_clients: bool, user: bool
) -> list[str]:
    data = directory / "data"
    data.mkdir()
    base = [mongod.program(), "--dbpath", str(data), "--bind_ip", address, "--port", str(PORT)]
    if user:
        with _process(base, address, PORT, directory), connect(address, PORT) as session:
            made = {"createUser": USER, "pwd": PASSWORD, "roles": ["root"]}
            session.command(made)
        base.append("--auth")
    if keys is None:
        return base
    both = directory / "server-both.pem"
    both.write_text(keys.server_key.read_text("ascii") + keys.server.read_text("ascii"))
    if mongod.release() >= (4, 2):
        names = ("tlsMode", "requireTLS", "tlsCertificateKeyFile", "tlsCAFile", "tls")
    else:
        names = ("sslMode", "requireSSL", "sslPEMKeyFile", "sslCAFile", "ssl")
    mode, required, key_file, authority, prefix = names
    base += [f"--{mode}", required, f"--{key_file}", str(both)]
    base += [f"--{authority}", str(keys.authority)]
    return base if asks_clients else [*base, f"--{prefix}AllowConnectionsWithoutCertificates"]


def _java_server(address: str, keys: Keys | None) -> list[str]:
    own = Path(__file__).with_name("MongoJavaServer.java")
    try:
        name = f"mongo-java-server-{JAVA_SERVER}-{text_digest(own.read_text('utf-8'))[:8]}"
        root, _ = kept(name, None, partial(_fill_java_server, own))
    except TareError as why:
        pytest.skip(f"no mongo-java-server: {why.what}: {why.why}; {why.remedy}; {_AGAIN}")
    jars = ":".join(map(str, sorted((root / "lib").glob("*.jar"))))
    words = [str(jdk.program("java")), "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
    words += ["-cp", f"{root / 'classes'}:{jars}", "tare.tests.MongoJavaServer"]
    words += [address, str(PORT)]
    return words if keys is None else [*words, str(keys.server_key), str(keys.server)]


def _fill_java_server(own: Path, root: Path) -> None:
    jdk.program("javac")
    jars = (f"de.bwaldvogel:mongo-java-server:{JAVA_SERVER}", "org.slf4j:slf4j-simple:2.0.16")
    copy_with_dependencies(jars, root / "lib")
    (root / "classes").mkdir()
    jdk.compile_java(own, sorted((root / "lib").glob("*.jar")), root / "classes")


@contextmanager
def _process(command: Sequence[str], address: str, port: int, directory: Path) -> Iterator[None]:
    """A server's process, once it listens."""
    log = directory / f"{Path(command[0]).name}-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd="/")
    try:
        end = time.monotonic() + _SECONDS
        while True:
            assert process.poll() is None, log.read_text("utf-8", "replace")[-2000:]
            with contextlib.suppress(OSError), socket.create_connection((address, port), 1.0):
                break
            assert time.monotonic() < end, f"it does not listen: {log}"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(_SECONDS)


def made_keys(address: str, directory: Path) -> Keys:
    """Certificates for a server at this address and for a client, of an authority made for them."""
    openssl = find_program("openssl", "keys are made", f"apt-get install openssl; {_AGAIN}")

    def run(*words: str | Path) -> None:
        subprocess.run([openssl, *map(str, words)], check=True, capture_output=True, cwd=directory)

    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    run(
        "req",
        "-x509",
        *new,
        "-days",
        "2",
        "-subj",
        "/CN=tests",
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
    )
    for name, more in (
        ("server", f"subjectAltName=IP:{address}"),
        ("client", "keyUsage=digitalSignature"),
    ):
        run("req", *new, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (directory / f"{name}.ext").write_text(more, "ascii")
        run(
            "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.pem",
        )  # fmt: skip
    both = directory / "both.pem"
    both.write_text(
        (directory / "client.key").read_text("ascii")
        + (directory / "client.pem").read_text("ascii")
    )
    ca, key, server = (directory / name for name in ("ca.pem", "server.key", "server.pem"))
    return Keys(ca, key, server, both)
