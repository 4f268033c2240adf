"""Reading a study: every mistake is refused with its line, its reason and the edit to make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.study.read import load_study

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy, RefuseStudy

STUDIES = Path(__file__).parents[2] / "studies"

GOOD = """\
study: example
database:
  nodes: 3
  replication_factor: 3
load: {workload: ycsb-a, threads: 32}
factors:
  platform:
    native: {}
    docker:
      platform: {runtime: docker, network: bridge, storage: volume}
  threads:
    low:
    high: {load.threads: 64}
baseline: {platform: native, threads: low}
exclude:
  - {platform: docker, threads: high}
"""


def changed(old: str, new: str) -> str:
    """The good study with one mistake in it."""
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def test_a_good_study_is_read(read: ReadStudy) -> None:
    study = read(GOOD)
    assert study.study == "example"
    assert study.factors["threads"] == {"low": {}, "high": {"load.threads": 64}}
    assert study.origin(("load", "threads")) == "study.yaml:5"
    assert study.origin(("design", "blocks")) == "study.yaml:1"


def test_quantities_are_read_in_the_units_they_name(read: ReadStudy) -> None:
    study = read(changed("threads: 32}", "threads: 32, warmup: 3, measure: 1m30s}"))
    assert (study.load.warmup, study.load.measure) == (3.0, 90.0)


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_studies_that_come_with_tare_are_good(path: Path) -> None:
    assert load_study(path).study == path.stem


def test_an_error_reads_like_this(refuse: RefuseStudy) -> None:
    assert str(refuse(changed("{load.threads: 64}", "{load.thread: 64}"))) == (
        "study.yaml:13: load.thread: unknown field\n"
        "  why: load has workload, statements, records, distribution, fields, field_length, mix, "
        "threads, rate, rate_per, search, phases, arrivals, warmup, measure, timeout; "
        "in level high of factor threads\n"
        "  try: did you mean load.threads?"
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "what", "remedy"),
    [
        ("  nodes: 3", "  node: 3", 3, "database.node: unknown field", "database.nodes?"),
        ("  nodes: 3", "  nodes: three", 3, "'three' is not a whole number", "a whole number"),
        ("  nodes: 3", "  nodes: 0", 3, "database.nodes: 0 is out of range", "at least 1"),
        ("  nodes: 3", "  nodes: 3\n  version: 5", 4, "5 is not a text", 'such as "5.0.9"'),
        ("  nodes: 3", "  nodes: 3\n  version: '5'", 4, "'5' does not fit", '"5.0.9"'),
        ("  nodes: 3", "  nodes: 3\n  heap: 512m", 4, "'512m' is not a size", "mean 512MiB?"),
        ("ycsb-a", "ycsb_b", 5, "load.workload: 'ycsb_b' is not known", "ycsb-b?"),
        ("threads: 32}", "threads: 32, measure: 10x}", 5, "not a duration", "10s, 2m"),
        ("study: example", "study: My Study", 1, "'My Study' does not fit", "hyphens"),
        ("study: example\n", "", 1, "study: missing", "add `study:"),
        ("load: {", "lode: {", 5, "lode: unknown field", "load?"),
        ("load: {", "heap: 1GiB\nload: {", 5, "heap: unknown field", "database.heap?"),
        ("load: {", "conditions: [a]\nload: {", 5, "conditions: unknown", "mean factors?"),
        ("load: {", "repetitions: 5\nload: {", 5, "repetitions: unknown", "design.deployments?"),
        ("  nodes: 3", "  nodes: 3\n  compaction: 3", 4, "not a mapping", "{strategy: ..."),
        ("  nodes: 3", "  nodes: 3\n  consistency: 3", 4, "not a mapping", "{read: ..., write:"),
        ("  nodes: 3", "  nodes: 3\n  consistency: QORUM", 4, "read: 'QORUM'", "QUORUM?"),
        ("  nodes: 3", "  nodes: 3\n  consistency: ANY", 4, "read: 'ANY'", "ALL"),
        ("    low:", "    low: 3", 12, "factors.threads.low: 3 is not a mapping", "mapping"),
        ("    low:", "    l w:", 12, "factors.threads.l w: not a name", "rename 'l w'"),
        ("storage: volume", "storage: volum", 10, "platform.storage: 'volum'", "volume?"),
        ("{load.threads: 64}", "{design.blocks: 9}", 13, "design.blocks: not for a level", "top"),
        (
            "{load.threads: 64}",
            "\n      load.threads: 64\n      load: {threads: 65}",
            15,
            "load.threads: set twice",
            "remove",
        ),
        (
            "platform: native, threads: low",
            "platform: nativ, threads: low",
            14,
            "'nativ'",
            "native?",
        ),
        ("platform: native, threads", "platfrom: native, threads", 14, "factor platform", "native"),
        (", threads: low}", "}", 14, "baseline: no level of factor threads", "threads: low"),
        ("threads: high}\n", "threads: hihg}\n", 16, "unknown level 'hihg'", "high?"),
        ("threads: high}\n", "thread: high}\n", 16, "unknown factor", "threads?"),
        ("threads: high}\n", "threads: []}\n", 16, "exclude.0.threads", ""),
        ("  - {platform: docker, threads: high}", "  - {}", 16, "empty exclusion", "remove"),
        (
            "{platform: docker, threads: high}",
            "{platform: native}",
            15,
            "the baseline native.low is excluded",
            "another baseline",
        ),
        (
            "{platform: docker, threads: high}",
            "{threads: [low, high]}",
            15,
            "no condition is left",
            "remove an exclusion",
        ),
    ],
)
def test_a_mistake_is_found_where_it_was_made(
    refuse: RefuseStudy,
    old: str,
    new: str,
    line: int,
    what: str,
    remedy: str,
) -> None:
    error = refuse(changed(old, new))
    assert what in error.what
    assert error.where == f"study.yaml:{line}"
    assert remedy in error.remedy
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("  nodes: 3", "  nodes: 2", 4, "3 copies on 2 nodes"),
        ("{load.threads: 64}", "{database.nodes: 1}", 13, "3 copies on 1 node"),
        ("{runtime: docker, network: bridge", "{network: bridge", 10, "bridge with"),
        ("{runtime: docker, network: bridge", "{runtime: native", 10, "volume with"),
        ("{load.threads: 64}", "{client.network: bridge}", 13, "client.network: bridge with"),
        ("{load.threads: 64}", "{platform.limits.memory: 512MiB}", 13, "512MiB in a unit limited"),
        ("{load.threads: 64}", "{database.jvm: [-Xmx1g]}", 13, "-Xmx1g sets the heap"),
        (
            "{load.threads: 64}",
            "{database.compaction.options: {sstable_size_in_mb: 8}}",
            13,
            "sstable_size_in_mb: not an option of SizeTiered",
        ),
        (
            "  replication_factor: 3",
            "  replication_factor: 2\n  consistency: {read: THREE}",
            5,
            "THREE with replication factor 2",
        ),
        ("baseline:", "design: {warm: {at_least: 2m}}\nbaseline:", 14, "more than at_most 60s"),
        ("baseline:", "design: {warm: {window: 40s}}\nbaseline:", 14, "less than 4 windows"),
        (
            "baseline:",
            "design: {slice: 250ms, fresh: trial}\nbaseline:",
            14,
            "nothing lives beside",
        ),
    ],
)
def test_what_can_never_work_is_refused_at_the_line_that_brought_it(
    refuse: RefuseStudy, old: str, new: str, line: int, what: str
) -> None:
    text = changed(old, new).replace("exclude:\n  - {platform: docker, threads: high}\n", "")
    error = refuse(text)
    assert what in error.what
    assert error.where == f"study.yaml:{line}"
    assert error.why
    assert error.remedy


def test_a_level_is_to_blame_for_a_clash_wherever_it_is_written(refuse: RefuseStudy) -> None:
    text = """\
study: x
factors:
  nodes:
    three: {}
    one: {database.nodes: 1}
baseline: {nodes: three}
database:
  nodes: 3
  replication_factor: 3
"""
    assert refuse(text).where == "study.yaml:5"


REPLACED_LIST = """\
study: x
database:
  jvm:
  - -Xss1m
factors: {f: {a: {}, b: {}}}
baseline: {f: a}
"""


def test_an_item_of_a_replaced_list_is_found_in_the_new_list(refuse: RefuseStudy) -> None:
    patched = REPLACED_LIST.replace("b: {}", "b: {database.jvm: [-Xmx1g]}")
    assert refuse(patched).where == "study.yaml:5"
    override = "database.jvm=[-Xmx1g]"
    assert refuse(REPLACED_LIST, [override]).where == f"--set {override}"


def test_an_impossible_combination_may_be_excluded(read: ReadStudy) -> None:
    text = changed("{load.threads: 64}", "{database.nodes: 3, database.replication_factor: 3}")
    text = text.replace("  nodes: 3\n  replication_factor: 3", "  nodes: 1")
    assert len(read(text).factors) == 2


def test_an_image_that_no_condition_runs_is_refused(refuse: RefuseStudy) -> None:
    error = refuse("study: x\ndatabase:\n  image: cassandra:5.0\n")
    assert error.where == "study.yaml:3"
    assert "would run nowhere" in error.what


def test_all_mistakes_are_listed_in_the_order_of_lines(refuse: RefuseStudy) -> None:
    error = refuse("study: x\nload: {thread: 1}\ndatabase: {node: 3}\nclusters: 0\n")
    assert error.where == "study.yaml:2"
    assert error.why.splitlines()[1:] == [
        "  also study.yaml:3: database.node: unknown field",
        "  also study.yaml:4: clusters: 0 is out of range",
    ]


def test_a_mistake_of_the_base_is_said_once_and_not_per_condition(refuse: RefuseStudy) -> None:
    error = refuse(changed("replication_factor: 3", "replication_factor: 4"))
    assert "also" not in error.why


def test_too_many_conditions_are_refused(refuse: RefuseStudy) -> None:
    levels = "{" + ", ".join(f"l{n}: {{}}" for n in range(11)) + "}"
    factors = "".join(f"  f{n}: {levels}\n" for n in range(3))
    error = refuse(f"study: x\nfactors:\n{factors}baseline: {{f0: l0, f1: l0, f2: l0}}\n")
    assert "1,331 combinations" in error.what
    assert error.where == "study.yaml:2"


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n", "just words\n", "null\n"])
def test_what_is_no_mapping_is_no_study(refuse: RefuseStudy, text: str) -> None:
    assert "begin with `study: " in refuse(text).remedy


# --set


def test_overrides_replace_fields_in_their_order(read: ReadStudy) -> None:
    study = read(
        GOOD,
        [
            "load.threads=8",
            "load.threads=16",
            "design={blocks: 2}",
            "design.warm.at_most=2m",
            "database.settings.concurrent_reads=64",
            "factors.threads.low.load.records=10",
            "exclude.0.threads=[low, high]",
            "platform.placement.node_selector.kubernetes.io/arch=amd64",
        ],
    )
    assert study.load.threads == 16
    assert study.design.blocks == 2
    assert study.design.warm.at_most == 120.0
    assert study.database.settings == {"concurrent_reads": 64}
    assert study.factors["threads"]["low"] == {"load": {"records": 10}}
    assert study.exclude == [{"platform": ["docker"], "threads": ["low", "high"]}]
    assert study.platform.placement.node_selector == {"kubernetes.io/arch": "amd64"}
    assert study.origin(("load", "threads")) == "--set load.threads=16"


@pytest.mark.parametrize(
    ("override", "what", "remedy"),
    [
        ("load.thread=3", "load.thread: unknown field", "did you mean load.threads?"),
        ("threads=3", "threads: unknown field", "did you mean load.threads?"),
        ("load.threads=many", "'many' is not a whole number", "whole number"),
        ("load.threads", "not an override", "--set load.threads=16"),
        ("=3", "not an override", "--set load.threads=16"),
        ("load.threads=[1", "not valid YAML", "column"),
        ("load.threads.x=1", "load.threads", "whole number"),
        ("exclude.7.platform=native", "exclude: no item '7'", "whole list"),
        (f"exclude.{'9' * 5000}.platform=native", "exclude: no item", "whole list"),
        ("load.threads=a:\u00b2", "is not a whole number", "whole number"),
        (f"load.threads=a:{'9' * 5000}", "is not a whole number", "whole number"),
        ("baseline.platform=dokcer", "unknown level 'dokcer'", "did you mean docker?"),
        ("database.replication_factor=5", "5 copies on 3 nodes", "at most 3"),
        ("platform={network: bridge}", "bridge with platform.runtime native", "host"),
    ],
)
def test_a_bad_override_is_named_as_it_was_typed(
    refuse: RefuseStudy, override: str, what: str, remedy: str
) -> None:
    error = refuse(GOOD, [override])
    assert what in error.what
    assert error.where == f"--set {override}"
    assert remedy in error.remedy
