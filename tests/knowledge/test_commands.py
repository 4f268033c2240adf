"""`tare findings` and `tare advise` on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tare.cli.commands import COMMANDS, build
from tare.errors import KnowledgeError
from tare.knowledge.library import load_library
from tare.study.plan import make_plan
from tare.study.read import load_study
from tests.knowledge.sample import changed
from tests.knowledge.test_library import base
from tests.synthetic_run import QUICKSTART, write_run

APP = build(["findings", "advise"])
KNOWN = "bth-kvm-2016.cpu.write.66"


def tare(*arguments: str) -> Result:
    return CliRunner().invoke(build(COMMANDS), list(arguments), catch_exceptions=False)


def refused(*arguments: str) -> KnowledgeError:
    with pytest.raises(KnowledgeError) as caught:
        tare(*arguments)
    return caught.value


def test_findings_filters_and_counts() -> None:
    done = tare("findings", "--platform", "kvm", "--metric", "cpu")
    assert "bth-kvm-2016.cpu.read.100" in done.stdout
    assert "6 findings" in done.stdout


def test_findings_as_json_are_whole() -> None:
    found = json.loads(tare("findings", "--study", "truyen-2018", "--json").stdout)
    assert len(found) == 55
    assert {one["origin"] for one in found} == {"shipped"}


def test_findings_as_csv_have_the_numbers_in_columns() -> None:
    text = tare("findings", "--study", "bth-kvm-2016", "--metric", "throughput", "--csv").stdout
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(text))}
    row = rows["bth-kvm-2016.throughput.mixed.100"]
    assert (row["baseline"], row["treatment"], row["ratio"]) == ("139833", "58304", "0.417")


def test_csv_never_holds_a_formula(tmp_path: Path) -> None:
    own = base(tmp_path / "own", changed(1.0, load={"share": None, "label": "=cmd()"}))
    text = tare("findings", "--csv", "--knowledge", str(own), "--study", "study-a").stdout
    assert ",'=cmd()" in text


def test_show_says_values_source_and_discrepancies() -> None:
    text = tare("findings", "show", KNOWN).stdout
    for part in ("41.74 to 58.64 %", "16.9 points", "Table 3 and 6", "15.9", "6.00", "shipped"):
        assert part in text


def test_show_of_something_unknown_names_what_is_near() -> None:
    assert KNOWN in refused("findings", "show", "kvm-2016.cpu.write").remedy


def test_check_of_the_shipped_files_passes() -> None:
    done = tare("findings", "check", "--json")
    assert done.exit_code == 0
    assert sum(one["findings"] for one in json.loads(done.stdout)) > 200


def test_check_of_a_wrong_effect_does_not(tmp_path: Path) -> None:
    own = base(tmp_path / "own", changed(5.0, effect={"ratio": 1.5}))
    done = tare("findings", "check", str(own))
    assert done.exit_code == 3
    assert "1.0500" in done.stdout


def test_add_writes_findings_that_the_next_command_lists(tmp_path: Path) -> None:
    levels = {name: QUICKSTART[name] for name in ("native", "docker-bridge")}
    run = write_run(tmp_path / "mine", effects=levels)
    own = tmp_path / "team" / "own"  # the command makes this directory
    out = own / "mine.yaml"
    assert "findings written" in tare("findings", "add", str(run), "--out", str(out)).stdout
    listed = json.loads(
        tare("findings", "--study", "own-mine", "--knowledge", str(own), "--json").stdout
    )
    assert {one["effect"]["how"] for one in listed} == {"computed"}
    assert refused("findings", "add", str(run), "--out", str(out)).what == "not overwritten"


def test_findings_of_a_run_that_is_not_valid_say_so(tmp_path: Path) -> None:
    levels = {name: QUICKSTART[name] for name in ("native", "docker-bridge")}
    run = write_run(tmp_path / "bad", effects=levels, errors={"D1-B01-native": 4000})
    done = tare("findings", "add", str(run))
    assert done.exit_code == 3
    assert "not valid" in done.stdout


def test_advise_answers_and_names_its_sources() -> None:
    done = tare(
        "advise", "--database", "cassandra", "--platform", "docker", "--network", "bridge",
        "--operation", "update", "--load", "66%",
    )  # fmt: skip
    for part in ("grambow-2018, section 4.1, Table", "another such study", "Is it safe", "settle"):
        assert part in done.stdout


def test_advise_as_json_is_the_whole_advice() -> None:
    advice = json.loads(tare("advise", "--platform", "kvm", "--json").stdout)
    assert {"question", "asked", "answers", "follows", "settle", "notes"} <= set(advice)
    assert not any(one["pooled"]["enough"] for one in advice["answers"]), "there is one study"


def test_advise_on_a_study_answers_per_condition() -> None:
    study = Path(__file__).parents[2] / "studies" / "quickstart.yaml"
    advice = json.loads(tare("advise", str(study), "--json").stdout)
    assert set(advice) == {"docker.loopback", "docker.bridge", "docker.published"}


def test_advice_on_a_study_begins_with_what_to_expect_and_says_what_follows_once() -> None:
    study = Path(__file__).parents[2] / "studies" / "quickstart.yaml"
    text = tare("advise", str(study)).stdout
    first, _ = text.split("\n== docker.loopback\n")
    lines = first.splitlines()
    names = [line for line in lines if line and not line.startswith(" ")]
    assert names == ["docker.loopback", "docker.bridge", "docker.published"]
    assert all(lines[lines.index(name) + 1].startswith("  ") for name in names)
    for once in ("Is it safe to dockerise", "To settle it here: "):
        assert text.count(once) == 1
        assert text.index(once) > text.index("== docker.published")


def test_conditions_of_a_study_that_nothing_tells_apart_are_named() -> None:
    study = Path(__file__).parents[2] / "studies" / "quickstart.yaml"
    text = " ".join(tare("advise", str(study)).stdout.split())
    assert "Not asked about: native-again.loopback, docker.proxy. They differ" in text
    assert "Not asked about" not in tare("advise", "--platform", "docker").stdout


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [("--network", "hostt", "host"), ("--consistency", "quorum", "QUORUM")],
)
def test_a_mistyped_value_is_told_what_it_was_meant_to_be(
    option: str, value: str, meant: str
) -> None:
    assert refused("advise", option, value).remedy == f"did you mean {meant}?"


def test_the_study_that_would_settle_it_can_be_planned(tmp_path: Path) -> None:
    out = tmp_path / "settle.yaml"
    assert tare("advise", "--network", "host", "--study-out", str(out)).exit_code == 0
    assert make_plan(load_study(out)).trials


def test_a_study_for_each_question_is_not_written_from_many(tmp_path: Path) -> None:
    study = Path(__file__).parents[2] / "studies" / "quickstart.yaml"
    error = refused("advise", str(study), "--study-out", str(tmp_path / "x.yaml"))
    assert "3 questions" in error.why


@pytest.mark.parametrize(
    "arguments",
    [
        ("--load", "many"),
        ("--load", "200%"),
        ("--platform", "dokcer"),
        ("--network", "brigde"),
        ("--metric", "p42"),
        ("--for", "fun"),
        ("--check",),
        ("a.yaml", "b.yaml"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_read(arguments: tuple[str, ...]) -> None:
    assert refused("advise", *arguments).exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        (str(QUICKSTART), "--network", "bridge"),
        ("--check", "old.json", "new.json", "--load", "66%"),
    ],
    ids=["a study", "--check"],
)
def test_an_option_that_would_be_passed_over_is_refused(arguments: tuple[str, ...]) -> None:
    assert "means nothing here" in refused("advise", *arguments).what


def test_both_sides_alike_are_no_question() -> None:
    assert "nothing to compare" in refused("advise", "--platform", "native").what


def test_a_metric_of_which_nothing_is_known_is_named() -> None:
    done = tare("advise", "--platform", "swarm", "--metric", "throughput")
    assert "Nothing is known of throughput on swarm rather than native." in done.stdout


def test_a_direction_is_listed_with_the_note_that_qualifies_it() -> None:
    words = ("--platform", "vmware", "--over", "docker", "--metric", "mean", "--operation", "write")
    assert "Most of all close to the maximum." in tare("advise", *words).stdout


def test_a_filter_that_matches_nothing_says_so() -> None:
    assert "none matches" in tare("findings", "--platform", "mainframe").stdout


def test_findings_list_is_findings() -> None:
    filters = ("--platform", "kvm", "--json")
    assert tare("findings", "list", *filters).stdout == tare("findings", *filters).stdout


def test_an_unknown_metric_is_answered_by_the_nearest_one_that_is_known() -> None:
    text = tare("advise", "--platform", "docker", "--metric", "p99").stdout
    said = text.index("Nothing is known of p99 on docker rather than native. What is known of the")
    assert said < text.index("95th percentile latency")
    assert "Mean latency" not in text


def test_a_load_is_a_percentage_or_a_fraction() -> None:
    asked = [tare("advise", "--load", load, "--json").stdout for load in ("66%", "0.66")]
    assert asked[0] == asked[1]
    assert json.loads(asked[0])["asked"]["share"] == 0.66
    assert refused("advise", "--load", "66").remedy == "did you mean 66%?"


def test_threads_are_asked_for_and_taken_into_the_study(tmp_path: Path) -> None:
    out = tmp_path / "settle.yaml"
    done = tare("advise", "--network", "host", "--threads", "12", "--study-out", str(out))
    assert "threads 12" in done.stdout
    assert load_study(out).load.threads == 12


def test_what_a_share_of_the_load_becomes_is_printed_and_written(tmp_path: Path) -> None:
    out = tmp_path / "settle.yaml"
    done = tare("advise", "--network", "host", "--load", "50%", "--study-out", str(out))
    load = load_study(out).load
    assert (load.rate, load.search.of) == ("50% of max", "baseline")
    for text in (done.stdout, out.read_text(encoding="utf-8")):
        assert "Open loop at 50% of the maximum of what is replaced" in " ".join(
            text.replace("\n#", " ").split()
        )


def test_a_storage_can_be_compared_inside_docker(tmp_path: Path) -> None:
    out = tmp_path / "settle.yaml"
    done = tare(
        "advise", "--platform", "docker", "--over", "docker", "--storage", "volume",
        "--against-storage", "layer", "--study-out", str(out),
    )  # fmt: skip
    assert "on docker with storage volume rather than layer" in done.stdout
    assert "dockerise" not in done.stdout, "both sides are in containers"
    plan = make_plan(load_study(out))
    storages = {one.name: one.setup.platform.storage for one in plan.conditions}
    assert storages == {
        "docker-bridge-layer": "layer",
        "docker-bridge-layer-again": "layer",
        "docker-bridge-volume": "volume",
    }


def test_networks_inside_kubernetes_are_compared_with_the_one_that_is_named() -> None:
    sides = ("--platform", "kubernetes", "--over", "kubernetes", "--network", "service-ip")
    found = json.loads(tare("advise", *sides, "--against-network", "host-port", "--json").stdout)
    nearest = [one["id"] for answer in found["answers"] for one in answer["nearest"]]
    library = load_library(environment={}).entries
    assert nearest
    assert {library[one].finding.baseline.network for one in nearest} == {"host-port"}


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("--over", "docker", "--storage", "volume"), "--against-storage"),
        (("--over", "docker", "--against-storage", "layer"), "say by --storage"),
        (("--against-storage", "layer"), "--over docker"),
        (
            ("--over", "docker", "--network", "host", "--against-network", "host"),
            "say by --network",
        ),
    ],
)
def test_a_question_with_one_side_is_refused(arguments: tuple[str, ...], remedy: str) -> None:
    assert remedy in refused("advise", *arguments).remedy


def test_own_prices_are_those_of_ways_that_native_has_not() -> None:
    """Ways into a native node have no price, as they cost no more than native."""
    assert "own prices" in tare("advise", "--platform", "docker").stdout
    for runtime in ("native", "kvm"):
        told = tare("advise", "--platform", runtime, "--client", "docker").stdout
        assert "own prices" not in told
        assert "was weighed here" not in told
