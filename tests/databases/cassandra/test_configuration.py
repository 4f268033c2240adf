"""A node's files: Tare's settings, the changes for NAT, and the study's settings, which win."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tare.databases.cassandra import configuration
from tare.runtimes.unit import Site


def site(listen: str = "127.190.0.1", peers: str | None = None) -> Site:
    return Site(
        name="n1",
        conf="/conf",
        conf_on_host=Path("/conf"),
        data="/data",
        data_on_host=None,
        listen=listen,
        peers=peers or listen,
        endpoint_host=peers or listen,
        path="",
    )


def document(where: Site | None = None, **settings: object) -> dict[str, object]:
    return configuration.cassandra_yaml(
        cluster_name="c",
        site=where or site(),
        seeds=["127.190.0.1"],
        node=0,
        nodes=3,
        key_cache="auto",
        settings=settings,
    )


@given(st.integers(1, 100))
def test_tokens_divide_the_ring_evenly_and_lie_in_it(nodes: int) -> None:
    tokens = [configuration.even_token(node, nodes) for node in range(nodes)]
    assert tokens == sorted(set(tokens))
    assert tokens[0] == -(2**63)
    assert tokens[-1] < 2**63
    gaps = [b - a for a, b in pairwise(tokens)]
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_a_node_on_the_host_announces_the_address_that_it_listens_on() -> None:
    made = document()
    assert made["listen_address"] == made["rpc_address"] == "127.190.0.1"
    assert "broadcast_address" not in made


def test_where_others_have_its_ports_it_binds_ports_of_its_own() -> None:
    made = document(replace(site("c-0.c"), shift=100))
    assert (made["native_transport_port"], made["storage_port"]) == (9142, 7100)
    assert made["listen_address"] == "c-0.c"
    assert "broadcast_address" not in made


def test_behind_published_ports_it_announces_the_host_address() -> None:
    made = document(site("198.19.0.100", "198.18.0.1"))
    assert made["listen_address"] == "198.19.0.100"
    assert made["broadcast_address"] == made["broadcast_rpc_address"] == "198.18.0.1"


def test_with_an_address_of_published_ports_beside_its_own_it_serves_on_both() -> None:
    made = document(replace(site("tasks.n1"), everywhere=True))
    assert made["rpc_address"] == "0.0.0.0"  # noqa: S104 - what a file says
    assert made["broadcast_rpc_address"] == made["listen_address"] == "tasks.n1"
    assert "broadcast_address" not in made


def test_the_settings_of_the_study_win() -> None:
    made = document(concurrent_writes=8, auto_snapshot=True)
    assert made["concurrent_writes"] == 8
    assert made["auto_snapshot"] is True


def test_a_study_that_sets_tokens_gets_no_fixed_one() -> None:
    assert "initial_token" not in document(num_tokens=16)


def test_key_cache_sizes_are_written_as_cassandra_reads_them() -> None:
    made = configuration.cassandra_yaml(
        cluster_name="c", site=site(), seeds=[], node=0, nodes=1, key_cache=0, settings={}
    )
    assert made["key_cache_size"] == "0MiB"


def test_the_yaml_text_reads_back_as_the_same_document() -> None:
    made = document(memtable_flush_writers=2)
    assert YAML(typ="safe").load(configuration.yaml_text(made)) == made


def test_heap_and_extra_arguments_come_after_the_standard_flags() -> None:
    text = configuration.jvm_arguments(
        heap_bytes=512 << 20, extra=["-XX:+UseZGC"], class_path=["/conf", "/lib/a.jar"]
    )
    assert text.splitlines()[-5:] == [
        '"-Xms512m"',
        '"-Xmx512m"',
        '"-XX:+UseZGC"',
        '"-cp"',
        '"/conf:/lib/a.jar"',
    ]
    assert "-XX:+UseG1GC" in text


def test_the_command_is_a_list_that_starts_with_java() -> None:
    made = configuration.command(
        java="/jre/bin/java", lib="/lib", jamm="jamm-0.4.0.jar", site=site()
    )
    assert made[:3] == ["/jre/bin/java", "@/conf/jvm.args", "-javaagent:/lib/jamm-0.4.0.jar"]
    assert made[-1] == "org.apache.cassandra.service.CassandraDaemon"


def test_superusers_are_set_up_as_late_as_everywhere() -> None:
    """With a delay of 0, the setup's read raced with the request pool.

    For the node's whole life, its threads ask for work first at the pool that was made first.
    """
    made = configuration.command(
        java="/jre/bin/java", lib="/lib", jamm="jamm-0.4.0.jar", site=site()
    )
    assert not [argument for argument in made if "superuser_setup_delay" in argument]


def test_collections_are_logged_where_a_directory_exists_before_the_jvm_starts() -> None:
    """A JVM that cannot open its log does not start."""
    common = {"java": "/jre/bin/java", "lib": "/lib", "jamm": "jamm-0.4.0.jar"}
    on_host = replace(site(), data="/run/n1", data_on_host=Path("/run/n1"))
    in_image = replace(site(), data="/var/lib/cassandra", data_on_host=None)
    own = [a for a in configuration.command(site=on_host, **common) if a.startswith("-Xlog")]
    other = [a for a in configuration.command(site=in_image, **common) if a.startswith("-Xlog")]
    assert own == ['-Xlog:gc=info:file="/run/n1/tmp/gc.log":timemillis:filecount=0']
    assert other == ['-Xlog:gc=info:file="/tmp/gc.log":timemillis:filecount=0']
