"""`tare findings` and `tare advise` as a person or a script calls them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tare.cli.commands import COMMANDS, build
from tare.errors import KnowledgeError
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
    assert len(found) == 42
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
    own = tmp_path / "own"
    own.mkdir()
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
    assert set(advice) == {"docker-host", "docker-bridge", "docker-published"}


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
