"""A replica set forms from units that may answer late; if they do not, the reason is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tare.artifacts.snapshot import NodeSnapshot, Snapshot
from tare.databases.mongodb.session import RefusedError
from tare.errors import ClusterError, StudyError
from tare.runtimes.unit import Site, Way
from tests.databases.mongodb.scripted import BUILD, GIB, NOW, Servers, cluster

FERRETDB = {"version": "7.0.42", "ferretdbVersion": "v1.24.0"}
ALL = ["127.0.0.1:27017", "127.0.0.2:27017", "127.0.0.3:27017"]


def test_members_become_a_set_that_is_waited_for(tmp_path: Path) -> None:
    servers = Servers(silent_until=NOW + 2.0)
    made, runtime = cluster(tmp_path, servers)
    made.deploy()
    assert len(runtime.launched) == 3
    initiated = servers.last["replSetInitiate"]["replSetInitiate"]
    assert initiated["_id"] == "d1-k1"
    assert [m["host"] for m in initiated["members"]] == ALL
    # 2 s until the members answer, 3 s until one is elected
    assert 5.0 <= servers.now - NOW < 6.0
    assert servers.asked[-1] == ("127.0.0.2:27017", "create")
    assert made.primary() is runtime.launched[1]


def test_the_cache_follows_the_units_limit_and_not_the_hosts_memory(tmp_path: Path) -> None:
    made, runtime = cluster(tmp_path, Servers())
    made.deploy()
    text = (tmp_path / "d1-k1-n1" / "mongod.conf").read_text()
    written = YAML(typ="safe").load(text)
    assert written["storage"]["wiredTiger"]["engineConfig"]["cacheSizeGB"] == 0.5
    assert runtime.launched[0].unit.limits.memory == 2 * GIB


def test_a_write_must_reach_every_member_before_the_set_is_ready(tmp_path: Path) -> None:
    servers = Servers()
    made, _ = cluster(tmp_path, servers, write_concern="majority")
    made.deploy()
    assert servers.last["update"]["writeConcern"] == {"w": "majority", "wtimeout": 5000}
    assert [name for _, name in servers.asked].count("update") == 2


def test_a_set_that_is_initiated_already_is_taken_as_it_is(tmp_path: Path) -> None:
    servers = Servers(initiated=True, hosts=ALL)
    made, _ = cluster(tmp_path, servers)
    answer = servers.answer

    def refuse(address: str, document: dict[str, object]) -> dict[str, object]:
        if "replSetInitiate" in document:
            raise RefusedError("no", where=address, why="already initialized", code=23)
        return answer(address, document)

    servers.answer = refuse  # type: ignore[method-assign,assignment]
    made.deploy()
    assert made.primary().unit.site.name == "d1-k1-n2"


def test_a_member_that_never_answers_is_named_with_the_reason(tmp_path: Path) -> None:
    made, _ = cluster(tmp_path, Servers(silent_until=NOW + 1e6))
    with pytest.raises(ClusterError) as raised:
        made.deploy()
    assert raised.value.where == "d1-k1-n1"
    assert "no answer after 120 s" in str(raised.value)
    assert "connection refused" in str(raised.value)


def test_an_election_that_never_ends_is_told(tmp_path: Path) -> None:
    made, _ = cluster(tmp_path, Servers(election_s=1e6))
    with pytest.raises(ClusterError, match="the replica set is not ready after 90 s") as raised:
        made.deploy()
    assert "is STARTUP2" in raised.value.why


def test_a_member_that_died_is_told_at_once(tmp_path: Path) -> None:
    servers = Servers(silent_until=NOW + 1e6)
    made, runtime = cluster(tmp_path, servers)
    runtime.dies = True
    with pytest.raises(ClusterError, match="a database node died"):
        made.deploy()
    assert servers.now == NOW


def test_the_url_says_how_the_load_reads_and_writes(tmp_path: Path) -> None:
    made, _ = cluster(
        tmp_path, Servers(), write_concern=2, journal=True, read_preference="secondaryPreferred"
    )
    made.deploy()
    assert made.url == (
        f"mongodb://{','.join(ALL)}/ycsb"
        "?replicaSet=d1-k1&w=2&journal=true&readPreference=secondaryPreferred"
    )


def test_what_is_left_to_the_server_is_not_in_the_url(tmp_path: Path) -> None:
    made, _ = cluster(tmp_path, Servers(), nodes=1)
    made.deploy()
    assert made.url == f"mongodb://{ALL[0]}/ycsb?replicaSet=d1-k1"


def test_a_set_tells_its_version_members_and_cache(tmp_path: Path) -> None:
    servers = Servers()
    made, _ = cluster(tmp_path, servers)
    made.deploy()
    servers.status = {
        "storageEngine": {"name": "wiredTiger"},
        "wiredTiger": {"cache": {"maximum bytes configured": 536870912}},
    }
    told = made.describe()
    assert told["version"] == "7.0.14"
    assert [member["state"] for member in told["set"]] == ["SECONDARY", "PRIMARY", "SECONDARY"]
    assert (told["storage_engine"], told["cache_bytes"]) == ("wiredTiger", 536870912)
    assert "stand_in" not in told


def test_a_reset_empties_through_the_primary(tmp_path: Path) -> None:
    servers = Servers()
    made, _ = cluster(tmp_path, servers)
    made.deploy()
    servers.asked.clear()
    made.truncate()
    writes = [entry for entry in servers.asked if entry[1] in ("drop", "create")]
    assert writes == [("127.0.0.2:27017", "drop"), ("127.0.0.2:27017", "create")]


def test_a_collection_that_is_gone_already_is_no_hindrance(tmp_path: Path) -> None:
    """After an interrupted reset, `drop` fails up to MongoDB 6.x, as the collection is missing."""
    servers = Servers()
    made, _ = cluster(tmp_path, servers)
    made.deploy()
    servers.refused["drop"] = RefusedError("no", where="", why="ns not found", code=26)
    made.truncate()
    assert servers.asked[-1] == ("127.0.0.2:27017", "create")
    servers.refused["drop"] = RefusedError("no", where="", why="not primary", code=10107)
    with pytest.raises(RefusedError, match="no"):
        made.truncate()


def test_another_release_than_the_study_s_is_refused(tmp_path: Path) -> None:
    servers = Servers(build=BUILD | {"version": "8.0.4"})
    made, _ = cluster(tmp_path, servers)
    with pytest.raises(
        StudyError, match=r"the server is MongoDB 8\.0\.4, and not 7\.0\.14"
    ) as raised:
        made.deploy()
    assert raised.value.where == "database.version"
    assert "replSetInitiate" not in servers.last


def test_what_the_server_takes_for_a_silent_study_is_told(tmp_path: Path) -> None:
    servers = Servers()
    made, _ = cluster(tmp_path, servers)
    made.deploy()
    assert made.describe()["write_concern_default"] == {"w": "majority", "wtimeout": 0}


def test_a_set_that_was_paused_is_waited_for(tmp_path: Path) -> None:
    servers = Servers()
    made, runtime = cluster(tmp_path, servers)
    made.deploy()
    made.pause()
    servers.elected = servers.now + 5.0
    began = servers.now
    made.resume()
    assert servers.now - began >= 5.0
    assert runtime.launched[0].calls == ["pause", "resume"]
    assert servers.asked[-1] == ("127.0.0.2:27017", "update"), "it takes writes again"


def test_nothing_is_left_when_it_is_destroyed_twice(tmp_path: Path) -> None:
    made, runtime = cluster(tmp_path, Servers())
    made.deploy()
    made.destroy()
    made.destroy()
    assert all(node.calls == ["stop"] for node in runtime.launched)
    assert runtime.released == ["d1-k1", "d1-k1"]


def test_a_stand_in_has_no_set_and_says_what_it_is(tmp_path: Path) -> None:
    servers = Servers(build=FERRETDB)
    made, runtime = cluster(tmp_path, servers, kind="ferretdb", nodes=1, stand_in=True)
    made.deploy()
    assert "replSetInitiate" not in servers.last
    assert made.primary() is runtime.launched[0]
    assert made.url == f"mongodb://{ALL[0]}/ycsb"
    called = "FerretDB v1.24.0 (a functional stand-in and not MongoDB)"
    assert made.describe()["stand_in"] == called


def test_a_stand_in_that_starts_from_a_snapshot_has_its_collection(tmp_path: Path) -> None:
    servers = Servers(build=FERRETDB)
    made, runtime = cluster(tmp_path, servers, kind="ferretdb", nodes=1, stand_in=True)
    root = tmp_path / "snapshot"
    made.snapshot = Snapshot("key", "digest", (NodeSnapshot(root, "of the node"),))
    made.deploy()
    assert runtime.launched[0].unit.snapshot.root == root
    assert "create" not in servers.last


def test_the_stub_is_a_set_as_mongods_are_and_says_what_it_is(tmp_path: Path) -> None:
    servers = Servers(build={"version": "7.0.0", "tareStub": "0.1.0"})
    made, runtime = cluster(tmp_path, servers, kind="tare-stub", stand_in=True)
    made.deploy()
    initiated = servers.last["replSetInitiate"]["replSetInitiate"]
    assert [m["host"] for m in initiated["members"]] == ALL
    assert made.primary() is runtime.launched[1]
    assert made.url == f"mongodb://{','.join(ALL)}/ycsb?replicaSet=d1-k1"
    called = "tare-stub 0.1.0 (a server that keeps nothing, and not MongoDB)"
    assert made.describe()["stand_in"] == called
    assert runtime.written == [[]] * 3, "it has no configuration file"


def test_what_says_itself_that_it_is_not_mongodb_is_refused_whatever_it_is_called(
    tmp_path: Path,
) -> None:
    made, _ = cluster(tmp_path, Servers(build=FERRETDB), kind="mongod", nodes=1)
    with pytest.raises(StudyError, match="cannot be the target of a benchmark"):
        made.deploy()


def test_all_members_are_configured_before_the_first_starts(tmp_path: Path) -> None:
    """This is for StatefulSets, which are made with the files of all pods."""
    made, runtime = cluster(tmp_path, Servers())
    made.deploy()
    files = [f"d1-k1-n{number}/mongod.conf" for number in (1, 2, 3)]
    assert runtime.written == [files] * 3


def on_a_bridge(site: Site) -> Site:
    """A container's site with a published port and the container's own address."""
    number = int(site.name[-1])
    own = f"172.30.0.{number}"
    published = Way("10.0.0.9", "published", reached={27017: 30000 + number})
    return replace(
        site, endpoint_host=own, ways={"bridge": Way(own, "bridge"), "published": published}
    )


def test_clients_of_each_endpoint_are_told_where_it_leads_to_members_that_name_another(
    tmp_path: Path,
) -> None:
    servers = Servers()
    made, runtime = cluster(tmp_path, servers, nodes=2)
    runtime.settle = on_a_bridge
    made.deploy()
    assert made.hosts == ["172.30.0.1:27017", "172.30.0.2:27017"]
    assert made.reached("native", "") == {}, "as their names say"
    assert made.reached("native", "published") == {
        "172.30.0.1:27017": "10.0.0.9:30001",
        "172.30.0.2:27017": "10.0.0.9:30002",
    }


def node_port(site: Site) -> Site:
    """A pod's site once its service exists."""
    number = int(site.name[-1])
    return replace(
        site, endpoint_host="10.0.0.9", reached={27017: 30000 + number}, inside=f"pod-{number}",
        here=("127.0.0.1", 4000 + number),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("client", "first"), [("native", "10.0.0.9:30001"), ("kubernetes", "pod-1:27017")]
)
def test_members_and_clients_share_the_endpoint_that_the_load_has(
    tmp_path: Path, client: str, first: str
) -> None:
    servers = Servers()
    made, runtime = cluster(tmp_path, servers, client=client)
    runtime.name, runtime.settle = "kubernetes", node_port
    made.deploy()
    initiated = servers.last["replSetInitiate"]["replSetInitiate"]
    assert [m["host"] for m in initiated["members"]] == made.hosts
    assert made.hosts[0] == first
    assert made.url is not None
    assert made.url.startswith(f"mongodb://{first},")
    assert servers.asked[-1] == ("127.0.0.1:4002", "create"), "this process has its own way"
    assert made.primary() is runtime.launched[1]
