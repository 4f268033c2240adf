"""Studies that could not work, or that would use Tare's own names: refused with line and remedy."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from tare.artifacts.image import named_image
from tare.databases.cassandra.configuration import jvm_arguments
from tare.errors import ArtifactError
from tare.study.image_names import is_image_name
from tests.cli.test_console import tare_here

if TYPE_CHECKING:
    from pathlib import Path

    from tests.study.conftest import ReadStudy, RefuseStudy

HEAD = "study: foreign\nload: {threads: 4}\n"


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("", "an empty argument"),
        ("  ", "an empty argument"),
        ("org.example.Main", "is no option"),
        ("java.base/java.io=ALL-UNNAMED", "is no option"),
        ("-", "is no option"),
        ("@/etc/passwd", "is a file of arguments"),
        ("-Da=b\n-jar", "is no argument"),
        ("-Da=b\rx", "is no argument"),
        ("-Da=\u0085b", "is no argument"),
        (" -Xint", "has blanks at its ends"),
        ("-jar", "runs no Cassandra"),
        ("--version", "runs no Cassandra"),
        ("--module=a.b/c.Main", "runs no Cassandra"),
        ("-Xshare:dump", "runs no Cassandra"),
        ("-Xinternalversion", "runs no Cassandra"),
        ("-XX:+DumpSharedSpaces", "runs no Cassandra"),
        ("-XX:+PrintFlagsInitial", "runs no Cassandra"),
        ("-Xlog:help", "runs no Cassandra"),
        ("--add-modules", "has no value"),
        ("--add-opens", "has no value"),
        ("--add-opens=", "has no value"),
        ("--enable-native-access", "has no value"),
        ("-cp", "is Tare's to set"),
        ("--class-path=/tmp/x", "is Tare's to set"),
        ("-Dcassandra.config=file:///etc/x.yaml", "is Tare's to set"),
        ("-Dcassandra.storagedir=/home", "is Tare's to set"),
        ("-XX:Flags=/tmp/flags", "reads options from a file"),
        ("-XX:VMOptionsFile=/tmp/flags", "reads options from a file"),
        ("-Xmx2g", "sets the heap"),
        ("-XX:MaxHeapSize=2g", "sets the heap"),
    ],
)
def test_what_is_no_argument_of_the_server_s_jvm(
    refuse: RefuseStudy, argument: str, said: str
) -> None:
    error = refuse(f'{HEAD}database:\n  jvm:\n    - "-Xint"\n    - {json.dumps(argument)}\n')
    assert error.where == "study.yaml:6"
    assert error.what.startswith("database.jvm.1: ")
    assert said in error.what
    assert error.remedy


@pytest.mark.parametrize(
    "argument",
    ["-XX:TieredStopAtLevel=1", "-Xint", "-Dcassandra.x=a b", "--add-opens=a/b=ALL-UNNAMED",
     "--add-modules=java.se", "-Xshare:auto", "-Xshare:off",
     "-XX:OnOutOfMemoryError=echo \"x\"", "-javaagent:/opt/agent.jar", "-Xlog:gc*:file=gc.log"],
)  # fmt: skip
def test_options_of_the_jvm_are_left_to_the_study(read: ReadStudy, argument: str) -> None:
    study = read(f"{HEAD}database: {{jvm: [{json.dumps(argument)}]}}\n")
    assert study.database.jvm == [argument]


def test_quotes_and_backslashes_stay_within_their_argument() -> None:
    text = jvm_arguments(heap_bytes=2**29, extra=['-Da="x" \\ @y'], class_path=["a.jar"])
    assert '"-Da=\\"x\\" \\\\ @y"\n' in text


@pytest.mark.parametrize(
    "key",
    ["", " ", "../x", "a b", "concurrent_writes\n", "a;b", "-x", "\u0661", "__exec", "9lives",
     "memtable.x"],
)  # fmt: skip
def test_a_setting_whose_key_is_no_name(refuse: RefuseStudy, key: str) -> None:
    error = refuse(f"{HEAD}database:\n  settings:\n    {json.dumps(key)}: 1\n")
    assert "is no name of a setting" in error.what
    assert error.where == "study.yaml:5"
    assert error.remedy


@pytest.mark.parametrize("key", ["__exec", "sto rage", "\u0661"])
def test_a_setting_of_mongod_whose_key_is_no_name(refuse: RefuseStudy, key: str) -> None:
    text = 'study: foreign\nload: {threads: 4}\ndatabase:\n  kind: mongodb\n  version: "7.0"\n'
    error = refuse(f"{text}  settings:\n    {json.dumps(key)}: 1\n")
    assert "is no name of a setting" in error.what
    assert error.where == "study.yaml:7"


@pytest.mark.parametrize(
    "key",
    ["data_file_directories", "commitlog_directory", "hints_directory", "saved_caches_directory",
     "listen_address", "rpc_address", "broadcast_address", "broadcast_rpc_address",
     "native_transport_port", "storage_port", "seed_provider", "cluster_name", "initial_token"],
)  # fmt: skip
def test_a_setting_that_tare_must_own(refuse: RefuseStudy, key: str) -> None:
    error = refuse(f"{HEAD}database:\n  settings:\n    {key}: x\n")
    assert error.what == f"database.settings: {key} is Tare's to set"
    assert (error.where, error.remedy) == ("study.yaml:5", "remove it")


def test_a_setting_that_a_level_brings_is_refused_at_the_level(refuse: RefuseStudy) -> None:
    error = refuse(
        f"{HEAD}factors:\n  place:\n    a: {{}}\n    b:\n"
        "      database: {settings: {data_file_directories: [/home]}}\nbaseline: {place: a}\n"
    )
    assert error.where == "study.yaml:7"
    assert "data_file_directories is Tare's to set" in error.what


@pytest.mark.parametrize("key", ["concurrent_writes", "memtable", "num_tokens"])
def test_other_settings_are_left_to_the_study(read: ReadStudy, key: str) -> None:
    value = "{configurations: {default: {class_name: TrieMemtable}}}" if key == "memtable" else "8"
    assert key in read(f"{HEAD}database: {{settings: {{{key}: {value}}}}}\n").database.settings


NO_IMAGES = [
    "a; rm -rf ~", "$(id)", "`id`", "Mongo:7", "mongo:7 --privileged", "-v/:/x", "a/../b", "a//b",
    "redis:", "mongo@sha256:12", "mongo\n", "\u0661", "a" * 300, "--help", "mongo:7|sh", " mongo",
]  # fmt: skip


@pytest.mark.parametrize("image", NO_IMAGES)
def test_what_can_be_no_image(refuse: RefuseStudy, image: str) -> None:
    error = refuse(
        f"{HEAD}platform: {{runtime: docker, network: bridge, storage: volume}}\n"
        f"database:\n  image: {json.dumps(image)}\n"
    )
    assert error.where == "study.yaml:5"
    assert "is no name of an image" in error.what
    assert image not in error.remedy


@pytest.mark.parametrize(
    "image",
    ["mongo:7", "cassandra", "library/cassandra:5.0.9", "registry.example:5000/a/b__c:x_1",
     "localhost/x", "GHCR.io/a/b@sha256:" + "a" * 64, "a/b:1@sha256:" + "0" * 64,
     "sha256:" + "a" * 64],
)  # fmt: skip
def test_what_can_be_an_image(image: str) -> None:
    assert is_image_name(image)


def test_a_remedy_can_be_pasted_whatever_the_name_is() -> None:
    class Engine:
        @property
        def images(self) -> Any:
            from docker.errors import APIError

            raise APIError("no such image")

    name = "x; touch owned"
    with pytest.raises(ArtifactError) as caught:
        named_image(Engine(), name)  # type: ignore[arg-type]
    command = caught.value.remedy.partition(", or")[0]
    assert shlex.split(command) == ["docker", "pull", name]
    assert "the mongod of database.home" in caught.value.remedy, "MongoDB has no locked files"


def test_a_home_that_is_no_cassandra_is_refused_by_the_plan(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(f"{HEAD}database:\n  home: {tmp_path}\n")
    status, output = tare_here("plan", file)
    assert status == 2
    assert f"{file}:4: database.home: this is not the directory of a Cassandra" in output
    assert "try: name the unpacked directory" in output


def test_a_home_of_another_release_is_refused_by_the_plan(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "apache-cassandra-4.1.3.jar").touch()
    file = tmp_path / "study.yaml"
    file.write_text(f"{HEAD}database:\n  home: {tmp_path}\n")
    status, output = tare_here("plan", file)
    assert status == 2
    assert "the directory holds Cassandra 4.1.3, the study says 5.0.9" in output
    assert f"{file}:4" in output


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("load.measure", "\u0661\u0660s"),
        ("load.measure", "\uff11\uff10s"),
        ("load.threads", "\u0664"),
        ("load.records", "\u0661\u0660"),
        ("database.heap", "\u0661GiB"),
        ("database.version", "\u0665.0.9"),
        ("platform.limits.cpuset", "\u0660-\u0661"),
        ("platform.limits.cpus", "\u0661"),
        ("margins.throughput", "\u0665%"),
        ("margins.throughput", "1_0%"),
        ("margins.throughput", "0x5%"),
        ("load.rate", "\u0665\u0660% of max"),
    ],
)
def test_digits_of_other_scripts_are_no_numbers(refuse: RefuseStudy, field: str, text: str) -> None:
    head, *path = field.split(".")
    value: Any = text
    for key in reversed(path):
        value = {key: value}
    study = {"study": "foreign", "load": {"threads": 4}}
    study[head] = {**study.get(head, {}), **value}  # type: ignore[dict-item]
    error = refuse("\n" + json.dumps(study, ensure_ascii=False))
    assert error.where == "study.yaml:2"
    assert error.remedy


@pytest.mark.parametrize("text", [r'"a\0b"', r'"\ud800"', r'"\ud83d\ude00"'])
def test_a_text_that_no_file_could_hold(refuse: RefuseStudy, text: str) -> None:
    error = refuse(f"study: foreign\nload: {{threads: 4}}\nquestion: {text}\n")
    assert error.where == "study.yaml:3"
    assert "no file, program or report" in error.what
    assert error.remedy
