"""TLS, client certificates and SCRAM with a mongod and others; YCSB's Java code and MongoDB's
Rust driver beside ours.

What each server cannot do is in docs/mongodb.md.
"""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from pymongo import MongoClient

from tare.artifacts.binaries import find

from . import mongod
from .mongo_clients import java_ycsb, rust_driver
from .mongo_servers import GUARDED, KINDS, PASSWORD, USER, Keys, Kind, Server, made_keys, running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.engine

ANSWER_OLD = tuple(kind for kind in KINDS if not kind.startswith("ferretdb"))
"""Servers that answer what MongoDB's Java driver 3.8 of YCSB 0.17 asks by OP_QUERY: FerretDB 1.24
refuses that (error 352, UnsupportedOpQueryCommand), and MongoDB has removed it in 5.1."""
RUST_SPEAKS = (4, 4)
"""The oldest release that MongoDB's Rust driver 3.9.1 supports."""
ADDRESS = "127.0.11.2"
RECORDS = 200
VERIFIED = f"[VERIFY], Return=OK, {RECORDS}"


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return made_keys(ADDRESS, tmp_path)


def ours(phase: str, url: str, *pairs: str) -> subprocess.CompletedProcess[str]:
    given = [f"mongodb.url={url}", "tare.stand_in=true", f"recordcount={RECORDS}", "threadcount=4"]
    given += ["operationcount=200", *pairs]
    words = [word for pair in given for word in ("-p", pair)]
    return subprocess.run(
        [str(find("tare-load")), "ycsb", phase, "mongodb", "-P", "workloads/workloada", *words],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def passes(server: Server, url: str) -> None:
    for phase, operations in (("load", RECORDS), ("run", 200)):
        done = ours(phase, url)
        assert done.returncode == server.status, done.stderr[-2000:]
        counts = re.findall(r"\], Return=(\w+), (\d+)", done.stdout)
        assert {status for status, _ in counts} == {"OK"}
        assert sum(int(count) for _, count in counts) == operations


def refused(url: str) -> str:
    """The message for a deployment that refuses our login."""
    done = ours("load", f"{url}&serverSelectionTimeoutMS=3000")
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert "panicked" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_a_load_passes_through_tls_that_an_authority_vouches_for(
    kind: Kind, keys: Keys, tmp_path: Path
) -> None:
    with running(kind, ADDRESS, tmp_path, keys=keys) as server:
        url = f"mongodb://{server.place}/ycsb?tls=true"
        passes(server, f"{url}&tlsCAFile={keys.authority}")
        assert "certificate" in refused(url)  # this machine's authorities do not know it
        assert refused(f"mongodb://{server.place}/ycsb?w=1")  # without TLS


@pytest.mark.parametrize("kind", KINDS)
def test_a_certificate_for_another_name_is_refused(kind: Kind, tmp_path: Path) -> None:
    others = made_keys("127.0.11.99", tmp_path)
    with running(kind, ADDRESS, tmp_path, keys=others) as server:
        url = f"mongodb://{server.place}/ycsb?tls=true&tlsCAFile={others.authority}"
        assert "certificate" in refused(url)
        passes(server, f"mongodb://{server.place}/ycsb?tls=true&tlsInsecure=true")


@pytest.mark.parametrize("kind", GUARDED)
def test_a_server_that_asks_for_a_client_s_certificate_is_shown_it(
    kind: Kind, keys: Keys, tmp_path: Path
) -> None:
    with running(kind, ADDRESS, tmp_path, keys=keys, asks_clients=True) as server:
        url = f"mongodb://{server.place}/ycsb?tls=true&tlsCAFile={keys.authority}"
        passes(server, f"{url}&tlsCertificateKeyFile={keys.client}")
        assert refused(url)


@pytest.mark.parametrize("with_tls", [False, True])
@pytest.mark.parametrize("kind", GUARDED)
def test_a_user_who_knows_the_password_is_let_in(
    kind: Kind, with_tls: bool, keys: Keys, tmp_path: Path
) -> None:
    with running(kind, ADDRESS, tmp_path, keys=keys if with_tls else None, user=True) as server:
        options = "authSource=admin"
        if with_tls:
            options += f"&tls=true&tlsCAFile={keys.authority}"

        def url(user: str, password: str) -> str:
            return f"mongodb://{user}:{password}@{server.place}/ycsb?{options}"

        new = kind != "mongod" or mongod.release() >= (4, 0)
        own = "SCRAM-SHA-256" if new else "SCRAM-SHA-1"
        for mechanism in ("", f"&authMechanism={own}"):
            passes(server, f"{url(USER, PASSWORD)}{mechanism}&w=1")
            drop(f"{url(USER, PASSWORD)}{mechanism}")
        for wrong in (url(USER, "other"), url("bob", PASSWORD)):
            assert "uthentication" in refused(wrong)


def drop(url: str) -> None:
    """With the official driver."""
    with MongoClient[dict[str, object]](url) as client:
        client["ycsb"].drop_collection("usertable")


@pytest.fixture(scope="module")
def ycsb() -> Callable[..., subprocess.CompletedProcess[str]]:
    """YCSB 0.17.0 on MongoDB's Java driver."""
    base = java_ycsb(__file__)

    def run(url: str, *words: str) -> subprocess.CompletedProcess[str]:
        pairs = (f"mongodb.url={url}", f"recordcount={RECORDS}", f"operationcount={RECORDS}",
                 "readproportion=1", "updateproportion=0", "requestdistribution=sequential",
                 "fieldlengthdistribution=constant", "dataintegrity=true")  # fmt: skip
        given = [word for pair in pairs for word in ("-p", pair)]
        return subprocess.run(
            [*base, *given, *words], capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.mark.parametrize("kind", ANSWER_OLD)
def test_each_reads_the_documents_that_the_other_has_written(
    kind: Kind, ycsb: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    if kind == "mongod" and mongod.release() >= (5, 1):
        pytest.skip(
            "MongoDB 5.1 and newer have no OP_QUERY; make test-mongod MONGOD=/path/of/an/older/one"
        )
    with running(kind, ADDRESS, tmp_path) as server:
        url = f"mongodb://{server.place}/ycsb?w=1"
        assert ycsb(url, "-load").returncode == 0
        verify(url)
        drop(url)
        assert ours("load", url, "dataintegrity=true").returncode == server.status
        told = ycsb(url, "-t")
        assert VERIFIED in told.stdout, told.stdout + told.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_the_rust_driver_and_python_s_read_what_ours_wrote_and_ours_what_they_write(
    kind: Kind, tmp_path: Path
) -> None:
    """Each parses every document and writes it anew; then every value is verified."""
    driver = rust_driver(__file__)
    with running(kind, ADDRESS, tmp_path) as server:
        url = f"mongodb://{server.place}/ycsb?w=1"
        assert ours("load", url, "dataintegrity=true").returncode == server.status
        with MongoClient[dict[str, object]](url) as client:
            documents = client["ycsb"]["usertable"]
            before = sorted(documents.find(), key=str)
            if kind != "mongod" or mongod.release() >= RUST_SPEAKS:
                copied = subprocess.run(
                    [driver, url, "copy"], capture_output=True, text=True, check=False
                )
                assert copied.stdout.strip() == str(RECORDS), copied.stderr
                assert sorted(documents.find(), key=str) == before
                verify(url)
            documents.drop()
            assert len(documents.insert_many(before).inserted_ids) == RECORDS
            verify(url)


def verify(url: str) -> None:
    """Our client reads each document once, and finds the bytes that it would write itself."""
    reads = ("readproportion=1", "updateproportion=0", "requestdistribution=sequential")
    told = ours("run", url, "dataintegrity=true", *reads)
    assert VERIFIED in told.stdout, told.stdout + told.stderr
