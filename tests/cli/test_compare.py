"""`tare compare`, `notebook`, `schema` and the outputs of `report`, as a shell sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from tare.analysis.analyse import analyse
from tare.cli.commands import COMMANDS, build
from tare.cli.comparing import read_side
from tare.errors import RecordError, UsageError
from tare.report.write import write_data
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

PAIR = {"native": Truth(), "docker-bridge": Truth(throughput=0.93, patch=docker("bridge"))}


def tare(*arguments: object) -> Result:
    """Run the command line in this process; errors of Tare's own are left in `exception`."""
    return CliRunner().invoke(build(COMMANDS), [str(argument) for argument in arguments])


def run(place: Path, **changes: object) -> Path:
    options: dict[str, object] = {"effects": PAIR, "between": 0.005, "within": 0.005}
    options |= {"blocks": 2, "measure_s": 3}
    return write_run(place, **(options | changes))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def before_run(place: Path) -> Path:
    return run(place / "before", seed=1)


@pytest.fixture(scope="module")
def slower_run(place: Path) -> Path:
    return run(place / "slower", seed=2, ops_per_s=3600.0)


def analysed(directory: Path) -> Path:
    """The analysis that a report would leave, which is read sooner than a run."""
    write_data(directory, analyse(directory))
    return directory / "analysis.json"


@pytest.fixture(scope="module")
def before(before_run: Path) -> Path:
    return analysed(before_run)


@pytest.fixture(scope="module")
def slower(slower_run: Path) -> Path:
    return analysed(slower_run)


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ([], 0),
        (["worse"], 1),
        (["different"], 1),
        (["inconclusive"], 0),
        (["inconclusive", "worse"], 1),
    ],
)
def test_fail_on_sets_the_exit_status(
    before: Path, slower: Path, conditions: list[str], status: int
) -> None:
    options = [word for one in conditions for word in ("--fail-on", one)]
    assert tare("compare", before, slower, *options).exit_code == status


def test_faster_is_different_and_not_worse(before: Path, slower: Path) -> None:
    assert tare("compare", slower, before, "--fail-on", "worse").exit_code == 0
    assert tare("compare", slower, before, "--fail-on", "different").exit_code == 1


def test_a_side_that_is_not_valid_wins_over_every_condition(before: Path, place: Path) -> None:
    broken = run(place / "broken", seed=3, ops_per_s=2000.0, errors={"D1-B01-native": 5000})
    done = tare("compare", before, broken, "--fail-on", "worse")
    assert done.exit_code == 3
    assert "not valid" in done.stdout


def test_json_is_the_whole_comparison(before: Path, slower: Path) -> None:
    done = json.loads(tare("compare", before, slower, "--json").stdout)
    assert done["valid"]
    found = {(d["b"], d["metric"]): d for d in done["differences"]}
    assert found["native", "throughput"]["verdict"] == "different"
    assert {"a", "b", "changes", "differed", "noise_floor", "notes"} <= set(done)


def test_markdown_for_a_pull_request(before: Path, slower: Path) -> None:
    text = tare("compare", before, slower, "--markdown").stdout
    assert text.startswith("### Tare: ")
    assert "<details>" in text


def test_a_side_is_a_run_or_the_analysis_json_of_an_earlier_one(
    before: Path, before_run: Path, slower: Path
) -> None:
    one, other = (tare("compare", side, slower, "--json") for side in (before, before_run))
    assert one.exit_code == 0
    assert one.stdout == other.stdout


def test_margin_and_map_are_taken(before: Path, slower: Path) -> None:
    arguments = ["--margin", "throughput=25%", "--margin", "p99=0.3", "--map", "native=native"]
    done = tare("compare", before, slower, *arguments, "--fail-on", "different")
    assert done.exit_code == 0
    assert "25% margin" in done.stdout


@pytest.mark.parametrize(
    "wrong",
    [
        ["--margin", "throughput"],
        ["--margin", "throughput=150%"],
        ["--margin", "throughput=nan"],
        ["--map", "native"],
        ["--map", "native=a", "--map", "native=b"],
        ["--map", "nativ=native"],
        ["--metric", "scan.p99"],
        ["--json", "--markdown"],
    ],
)
def test_wrong_usage_is_refused(before: Path, slower: Path, wrong: list[str]) -> None:
    done = tare("compare", before, slower, *wrong)
    assert isinstance(done.exception, UsageError)
    assert done.exception.exit_code == 2
    assert done.exception.remedy


def test_a_run_is_not_compared_with_itself(before: Path) -> None:
    done = tare("compare", before, before)
    assert isinstance(done.exception, UsageError)
    assert "share blocks" in str(done.exception)


def test_nor_with_its_own_analysis_json(before: Path, before_run: Path) -> None:
    assert isinstance(tare("compare", before_run, before).exception, UsageError)


def test_no_such_run_and_no_such_condition_are_wrong_usage(before: Path, slower: Path) -> None:
    with pytest.raises(UsageError, match="no such run"):
        read_side(Path("no/such/run"))
    assert tare("compare", before, slower, "--fail-on", "slower").exit_code == 2


@pytest.mark.parametrize("content", ["{}", "[", '{"study": 3}', "\x00"])
def test_a_file_that_is_no_analysis_is_refused(before: Path, tmp_path: Path, content: str) -> None:
    file = tmp_path / "analysis.json"
    file.write_text(content, encoding="utf-8")
    done = tare("compare", before, file)
    assert isinstance(done.exception, RecordError)
    assert "tare report" in done.exception.remedy


def test_a_report_leaves_its_tables_and_prints_markdown(before_run: Path) -> None:
    done = tare("report", before_run, "--markdown")
    assert done.exit_code == 0
    assert done.stdout == (before_run / "report.md").read_text(encoding="utf-8")
    trials = pd.read_parquet(before_run / "trials.parquet")
    assert len(trials) == 12
    assert list(pd.read_csv(before_run / "trials.csv")) == list(trials)
    assert len(pd.read_csv(before_run / "effects.csv")["metric"]) > 0


def test_a_notebook_is_not_overwritten_unasked(before_run: Path) -> None:
    assert tare("notebook", before_run).exit_code == 0
    mine = before_run / "analysis.ipynb"
    mine.write_text("mine", encoding="utf-8")
    refused = tare("notebook", before_run)
    assert isinstance(refused.exception, UsageError)
    assert mine.read_text(encoding="utf-8") == "mine"
    assert tare("notebook", before_run, "--force").exit_code == 0
    assert json.loads(mine.read_text(encoding="utf-8"))["nbformat"] == 4


@pytest.mark.parametrize(
    ("document", "title"),
    [((), "Tare study"), (("analysis",), "Tare analysis"), (("manifest",), "Tare trial manifest")],
)
def test_schemas_are_printed(document: tuple[str, ...], title: str) -> None:
    assert json.loads(tare("schema", *document).stdout)["title"] == title
