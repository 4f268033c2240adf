"""Scales: the same design at another size, and what a scale may not touch."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.errors import StudyError
from tare.lab.directory import study_digest, study_text
from tare.study.conditions import expand
from tare.study.document import Document, parse_document
from tare.study.origins import Origins
from tare.study.plan import make_plan
from tare.study.read import load_study, validate
from tare.study.scale import rescale

if TYPE_CHECKING:
    from tare.study.schema import Study
    from tests.study.conftest import ReadStudy, RefuseStudy

STUDIES = Path(__file__).parents[2] / "studies"
GOOD = """\
study: example
load: {workload: ycsb-a, records: 1_000_000, threads: 32, measure: 20m}
factors:
  platform:
    native:
    docker: {platform: {runtime: docker, network: bridge, storage: volume}}
  threads:
    low: {load.threads: 10}
    high: {load: {threads: 100}}
  instance:
    small: {platform.limits: {cpus: 1}, database.heap: 1GiB}
    large: {platform.limits: {cpus: 2}, database.heap: 2GiB}
baseline: {platform: native, threads: low, instance: small}
design: {deployments: 5, blocks: 4, warm: {at_most: 2m}}
margins: {throughput: 5%}
scale: paper
scales:
  paper: {}
  laptop:
    load.records: 10_000
    load: {measure: 10s}
    design: {deployments: 1, warm: {at_most: 30s}}
    margins: {read.p99: 10%}
    database.settings: {memtable_x: 1}
    factors.threads.high.load.threads: 40
    factors:
      instance:
        small: {platform.limits: {cpus: null, cpuset: "0"}, database.heap: 512MiB}
        large.platform.limits: {cpus: null, cpuset: "0-1"}
"""


def changed(old: str, new: str) -> str:
    """The good study with one change in it."""
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def with_scale(patch: str) -> str:
    """The good study with one more scale, in flow style, on its last line (30)."""
    return GOOD + f"  tiny: {{{patch}}}\n"


def test_an_empty_scale_is_the_study_as_the_file_says_it(read: ReadStudy) -> None:
    plain = read(GOOD[: GOOD.index("scale: paper")])
    paper = read(GOOD)
    assert (plain.scale, paper.scale) == (None, "paper")
    assert paper.model_copy(update={"scale": None}) == plain


def test_a_scale_sets_sizes_durations_repetitions_and_what_levels_say_of_them(
    read: ReadStudy,
) -> None:
    study = read(GOOD, scale="laptop")
    assert study.scale == "laptop"
    assert (study.load.records, study.load.measure, study.load.threads) == (10_000, 10.0, 32)
    assert (study.design.deployments, study.design.blocks) == (1, 4)
    assert study.design.warm.at_most == 30.0
    assert study.margins == {"throughput": 0.05, "read.p99": 0.1}
    assert study.database.settings == {"memtable_x": 1}
    setups = {one.name: one.setup for one in expand(study)}
    assert setups["native.high.small"].load.threads == 40
    assert setups["native.low.small"].load.threads == 10
    small, large = (setups[f"docker.low.{size}"] for size in ("small", "large"))
    assert (small.platform.limits.cpus, small.platform.limits.cpuset) == (None, "0")
    assert (small.database.heap, large.database.heap) == (512 * 1024**2, 2 * 1024**3)
    assert (large.platform.limits.cpus, large.platform.limits.cpuset) == (None, "0-1")


def test_the_scale_that_is_asked_for_wins_over_the_one_that_is_named(read: ReadStudy) -> None:
    assert read(changed("scale: paper", "scale: laptop")).load.records == 10_000
    assert read(changed("scale: paper", "scale: laptop"), scale="paper").load.records == 1_000_000


def test_overrides_come_after_the_scale(read: ReadStudy) -> None:
    study = read(GOOD, ["load.records=77"], scale="laptop")
    assert (study.load.records, study.load.measure) == (77, 10.0)


def test_a_scale_in_no_section_of_the_document_makes_it(read: ReadStudy) -> None:
    study = read("study: x\nscales: {tiny: {database.heap: 1GiB, load.rate: 5}}\n", scale="tiny")
    assert (study.database.heap, study.load.rate) == (1024**3, 5.0)


def test_phases_keep_their_rates_and_change_their_lengths(read: ReadStudy) -> None:
    text = "study: x\nload: {phases: [{for: 10m, rate: 50}, {for: 5m, rate: 9, to: 90}]}\nscales:\n"
    short = read(
        text + "  tiny: {load.phases: [{for: 10s, rate: 50}, {for: 5s, rate: 9, to: 90}]}",
        scale="tiny",
    )
    assert [(one.length, one.rate) for one in short.load.phases] == [(10.0, 50.0), (5.0, 9.0)]


def test_a_runs_own_copy_is_the_study_as_it_was_run(read: ReadStudy) -> None:
    """The scale's patch is applied once: a second time, it would undo the overrides."""
    study = read(GOOD, ["load.records=77", "margins.throughput=9%"], scale="laptop")
    again = read(study_text(study))
    assert again == study
    assert again.scale == "laptop"
    assert study_digest(again) == study_digest(study)
    assert read(study_text(study), scale="laptop") == study


def test_another_scale_is_another_study(read: ReadStudy) -> None:
    digests = {study_digest(read(GOOD, scale=name)) for name in ("paper", "laptop")}
    assert len(digests) == 2


def test_a_study_without_scales_is_written_as_before(read: ReadStudy) -> None:
    assert not {"scale", "scales", "only"} & read("study: x\n").model_dump(mode="json").keys()


def test_errors_in_a_scales_value_name_the_scales_line(refuse: RefuseStudy) -> None:
    error = refuse(changed("measure: 10s", "measure: soon"), scale="laptop")
    assert error.where == "study.yaml:21"
    assert "load.measure: 'soon' is not a duration" in error.what
    error = refuse(changed("high.load.threads: 40", "high.load.threads: 0"), scale="laptop")
    assert (error.where, error.what.split(";")[0]) == (
        "study.yaml:25",
        "load.threads: 0 threads are out of range",
    )


def test_of_two_fields_that_clash_the_scales_is_named(refuse: RefuseStudy) -> None:
    text = "study: x\nscales: {tiny: {database.heap: 2GiB}}\nplatform: {limits: {memory: 1GiB}}\n"
    assert refuse(text, scale="tiny").where == "study.yaml:2"


@pytest.mark.parametrize(
    ("patch", "what", "remedy"),
    [
        ("load.record: 5", "load.record: not for a scale to set", "load.records?"),
        ("load.workload: ycsb-c", "load.workload: not for a scale to set", "top of the study"),
        ("database.nodes: 1", "database.nodes: not for a scale to set", "top of the study"),
        ("database: {replication_factor: 1}", "replication_factor: not for a scale", "top of"),
        ("baseline: {threads: high}", "baseline.threads: not for a scale to set", "top of"),
        ("design.seed: 1", "design.seed: not for a scale to set", "top of the study"),
        ("load.threads: 4", "load.threads: has no effect", "factors.threads.LEVEL"),
        ("factors.thread.low: {load.threads: 1}", "unknown factor 'thread'", "threads?"),
        ("factors.threads.lo: {load.threads: 1}", "unknown level 'lo'", "low?"),
        ("factors.threads: 3", "names no level", "name one of those"),
        ("factors.threads.low: 3", "is no patch", "name them"),
        ("factors.threads.low.load.workload: x", "workload: not for a scale", "level itself"),
        ("factors.platform.docker.load.threads: 1", "docker says nothing of the intensity", "set"),
        ("factors.threads.low.load.threads: 100", "low and high of threads would be the", "values"),
        ("load.phases: [{for: 1s, rate: 1}]", "not the study's own phases", "other lengths"),
        ("load.records: 5, load: {records: 6}", "load.records: set twice", "remove one"),
    ],
)
def test_what_is_not_for_a_scale_is_refused_with_its_line(
    refuse: RefuseStudy, patch: str, what: str, remedy: str
) -> None:
    error = refuse(with_scale(patch))  # also where another scale is used
    assert error.where == "study.yaml:30"
    assert what in error.what
    assert error.what.startswith("scales.tiny.")
    assert remedy in error.remedy


def test_levels_may_not_become_the_same_as_the_base_either(refuse: RefuseStudy) -> None:
    text = (
        "study: x\nload: {threads: 8}\nfactors: {t: {few: {}, many: {load.threads: 64}}}\n"
        "baseline: {t: few}\nscales: {tiny: {load.threads: 64}}\n"
    )
    error = refuse(text)
    assert "levels few and many of t would be the same" in error.what
    assert error.where == "study.yaml:5"


def test_an_unknown_scale_is_refused_with_the_nearest(refuse: RefuseStudy) -> None:
    error = refuse(GOOD, scale="latop")
    assert str(error) == (
        "--scale latop: scale: no scale is called 'latop'\n"
        "  why: scales: paper, laptop\n"
        "  try: did you mean laptop?"
    )
    assert refuse(changed("scale: paper", "scale: papier")).where == "study.yaml:16"
    assert "has no scales" in refuse("study: x\n", scale="laptop").what


@pytest.mark.parametrize("override", ["scale=laptop", "scales.laptop.load.records=5"])
def test_a_scale_is_chosen_by_its_option_alone(refuse: RefuseStudy, override: str) -> None:
    error = refuse(GOOD, [override])
    assert (error.where, "--scale" in error.remedy) == (f"--set {override}", True)


@pytest.mark.parametrize(
    "text", ["scales: 3", "scales: [a]", "scales: {a: 3}", "scales: {a: [1]}", "scale: [1]"]
)
def test_what_is_no_scale_is_refused(refuse: RefuseStudy, text: str) -> None:
    assert refuse(f"study: x\n{text}\n").where == "study.yaml:2"


def test_a_scale_does_not_hide_what_is_wrong_below_it(refuse: RefuseStudy) -> None:
    error = refuse("study: x\nload: 3\nscales: {tiny: {load.records: 5}}\n", scale="tiny")
    assert (error.where, error.what) == ("study.yaml:2", "load: 3 is not a mapping (name: value)")


WORDS = st.sampled_from(
    ["load", "threads", "factors", "design", "warm", "margins", "p99", "a", "b", "load.threads",
     "factors.a", "factors.a.b", "factors.a.b.load.rate", "design.blocks", "phases", ""]
)  # fmt: skip
ANYTHING = st.recursive(
    st.sampled_from([None, True, 0, 3, 2.5, "", "a", "10s"]) | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(WORDS, ANYTHING, max_size=3), ANYTHING, ANYTHING, ANYTHING)
def test_whatever_a_file_holds_is_read_or_refused(
    patch: dict[str, Any], factors: object, load: object, scales: object
) -> None:
    for wanted in ({"tiny": patch}, scales):
        content = {"study": "x", "scale": "tiny", "scales": wanted, "factors": factors}
        document = parse_document(json.dumps({**content, "load": load}), "study.yaml")
        with contextlib.suppress(StudyError):
            rescale(document, None)
            validate(document.data, Origins(document.at))


RATES = st.sampled_from([None, 10, 2000.5])
SIZES = st.fixed_dictionaries(
    {},
    optional={
        "load.records": st.integers(1, 9),
        "load.warmup": st.integers(0, 9),
        "load": st.fixed_dictionaries({}, optional={"measure": st.integers(1, 9), "rate": RATES}),
        "design.deployments": st.integers(1, 9),
        "design": st.fixed_dictionaries({}, optional={"blocks": st.integers(1, 9)}),
        "design.fresh": st.sampled_from(["trial", "block", "deployment"]),
        "design.warm.gentle": st.integers(0, 9),
        "margins.throughput": st.sampled_from([0.01, 0.2]),
        "factors.threads.low": st.fixed_dictionaries({}, optional={"load.threads": st.just(3)}),
        "factors": st.fixed_dictionaries(
            {}, optional={"threads": st.just({"high": {"load.threads": 64}})}
        ),
        "factors.instance.large.database.heap": st.just("3GiB"),
    },
)


@settings(max_examples=40)
@given(SIZES)
def test_a_scale_keeps_the_names_the_order_the_count_and_the_baseline(
    patch: dict[str, Any],
) -> None:
    plain, scaled = _studies(patch)
    before, after = expand(plain), expand(scaled)
    assert [one.name for one in after] == [one.name for one in before]
    assert [one.levels for one in after] == [one.levels for one in before]
    assert [one.deployment for one in after] == [one.deployment for one in before]
    assert [one.aa_of for one in after] == [one.aa_of for one in before]
    assert (scaled.baseline, scaled.exclude) == (plain.baseline, plain.exclude)
    assert scaled.analysis == plain.analysis
    for one, other in zip(before, after, strict=True):
        assert one.setup.platform.runtime == other.setup.platform.runtime
        assert one.setup.load.workload == other.setup.load.workload
        assert one.setup.database.nodes == other.setup.database.nodes


@settings(max_examples=40)
@given(SIZES)
def test_a_scale_applied_twice_is_applied_once(patch: dict[str, Any]) -> None:
    document = _document(patch)
    rescale(document, "tiny")
    once = validate(document.data, Origins(document.at))
    rescale(document, "tiny")
    assert validate(document.data, Origins(document.at)) == once


def _document(patch: dict[str, Any]) -> Document:
    document = parse_document(GOOD, "study.yaml")
    document.data["scales"] = {"tiny": patch}
    document.at = {path: where for path, where in document.at.items() if path[:1] != ("scales",)}
    document.at |= {("scales", "tiny", *path): "study.yaml:99" for path in _paths(patch)}
    return document


def _paths(patch: dict[str, Any]) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for key, value in patch.items():
        found.append((key,))
        if isinstance(value, dict):
            found += [(key, *below) for below in _paths(value)]
    return found


def _studies(patch: dict[str, Any]) -> tuple[Study, Study]:
    """The study as it stands, and at a scale with this patch."""
    plain, scaled = _document(patch), _document(patch)
    del plain.data["scale"]
    rescale(scaled, "tiny")
    return validate(plain.data, Origins(plain.at)), validate(scaled.data, Origins(scaled.at))


# Grambow 2018: Table 2 counts 720 experiments; section 4 has some 20 minutes for each.
GRAMBOW = STUDIES / "grambow-2018.yaml"


def test_the_papers_scale_counts_what_the_paper_counts() -> None:
    plan = make_plan(load_study(GRAMBOW))
    assert plan.study.scale == "paper"
    assert (len(plan.conditions), len(plan.trials)) == (144, 720)
    experiments = 720 * 20 * 60
    assert plan.estimate.breakdown["measure"] == experiments
    assert experiments < plan.estimate.seconds < 1.1 * experiments


def test_a_day_is_a_day() -> None:
    plan = make_plan(load_study(GRAMBOW, scale="day"))
    assert len(plan.conditions) == 144
    assert plan.estimate.seconds < 24 * 3600


def test_a_laptop_measures_one_instance_type_within_an_hour() -> None:
    plan = make_plan(load_study(GRAMBOW, scale="laptop", only=["instance=m3-medium"]))
    assert len(plan.conditions) == 4 * 3 * 3 * 2
    assert len(plan.trials) == 6 * 72
    # clients and threads share a cluster; servers, compaction and caches do not
    assert len({one.deployment for one in plan.conditions}) == 12
    assert plan.estimate.seconds < 60 * 60
    assert plan.estimate.memory_bytes < 17 * 1024**3
    setups = [one.setup for one in plan.conditions]
    assert {one.platform.limits.cpuset for one in setups} == {"0"}
    assert {one.client.limits.cpuset for one in setups} == {"1"}
    assert {one.platform.limits.cpus for one in setups} == {None}
