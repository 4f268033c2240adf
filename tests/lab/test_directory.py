"""A run's directory: that of an unfinished run of the same study, else a new one."""

from __future__ import annotations

import contextlib
import json
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tare.errors import TareError, UsageError
from tare.lab.directory import (
    FINISHED,
    REPORTED,
    begin,
    choose,
    same_plan,
    study_digest,
    unreported,
)
from tare.lab.extension import choose_extended
from tare.lab.journal import Journal
from tare.lab.progress import Silent
from tare.lab.run import Lab
from tare.study.plan import make_plan
from tare.study.read import load_study
from tare.study.schema import Study

TEXT = """\
study: small
load: {threads: 4}
factors: {platform: {native: {}}}
baseline: {platform: native}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(TEXT)
    return path


def begun(runs: Path, study: Study, source: Path) -> Path:
    """A run of the study that was begun and not finished; returns its directory."""
    directory = choose(runs, study, None)
    begin(directory, make_plan(study), source, {})
    facts = {"study_digest": study_digest(study), "rounds": study.design.deployments}
    Journal(directory.files.journal).write("run begun", **facts)
    return directory.files.root


def test_a_first_run_is_named_after_the_study(tmp_path: Path, source: Path) -> None:
    chosen = choose(tmp_path / "runs", load_study(source), None)
    assert (chosen.name, chosen.resumed) == ("small", False)


def test_an_unfinished_run_of_the_same_study_is_resumed(tmp_path: Path, source: Path) -> None:
    study = load_study(source)
    root = begun(tmp_path / "runs", study, source)
    record = root / "trials" / "D1-B01-native"
    record.mkdir()
    (record / "manifest.json").write_text(json.dumps({"status": "done"}))
    chosen = choose(tmp_path / "runs", study, None)
    assert chosen.resumed
    assert chosen.done == {"D1-B01-native"}


def test_a_failed_trial_is_not_done(tmp_path: Path, source: Path) -> None:
    study = load_study(source)
    record = begun(tmp_path / "runs", study, source) / "trials" / "D1-B01-native.failed-1"
    record.mkdir()
    (record / "manifest.json").write_text(json.dumps({"status": "failed"}))
    assert choose(tmp_path / "runs", study, None).done == frozenset()


def test_a_finished_run_is_left_and_a_new_one_gets_a_number(tmp_path: Path, source: Path) -> None:
    study = load_study(source)
    root = begun(tmp_path / "runs", study, source)
    Journal(root / "journal.jsonl").write(FINISHED)
    chosen = choose(tmp_path / "runs", study, None)
    assert (chosen.name, chosen.resumed) == ("small-2", False)


def test_a_run_that_was_killed_before_its_report_still_wants_it(
    tmp_path: Path, source: Path
) -> None:
    study, runs = load_study(source), tmp_path / "runs"
    root = begun(runs, study, source)
    assert unreported(runs, study, None) is None
    journal = Journal(root / "journal.jsonl")
    journal.write(FINISHED, failed=["D1-B01-native"])
    found = unreported(runs, study, None)
    assert found is not None
    assert (found.files.root, found.failed) == (root, ["D1-B01-native"])
    assert unreported(runs, load_study(source, ["load.threads=8"]), None) is None
    journal.write(REPORTED)
    assert unreported(runs, study, None) is None


def test_an_extended_run_wants_its_report_anew(tmp_path: Path, source: Path) -> None:
    study, runs = load_study(source), tmp_path / "runs"
    root = begun(runs, study, source)
    (root / "report.html").write_text("of the rounds before")
    journal = Journal(root / "journal.jsonl")
    journal.write(FINISHED)
    assert unreported(runs, study, None) is None  # of a version that noted no report
    journal.write(REPORTED)
    journal.write("run extended", study_digest=study_digest(study))
    assert unreported(runs, study, None) is None
    journal.write(FINISHED)
    assert unreported(runs, study, None) is not None


BAD_NAMES = ["", ".", "..", "../out", "a/b", "/root", ".hidden", "-x", "a b", "$(id)", "a;b", "é",
    "a\n", "a\0", "x" * 300]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize("find", [choose, choose_extended, unreported])
def test_a_name_that_is_none_is_refused(
    tmp_path: Path, source: Path, find: Callable[..., object], name: str
) -> None:
    with pytest.raises(UsageError) as refused:
        find(tmp_path / "runs", load_study(source), name)
    assert refused.value.exit_code == 2
    assert "80 letters" in refused.value.why
    assert "--name storage-2" in refused.value.remedy
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("name", ["a", "Storage_2.1-anew", "x" * 80])
def test_a_plain_name_is_taken(tmp_path: Path, source: Path, name: str) -> None:
    assert choose(tmp_path / "runs", load_study(source), name).name == name


def test_a_directory_in_which_nothing_was_begun_is_used_again(tmp_path: Path, source: Path) -> None:
    study = load_study(source)
    begin(choose(tmp_path / "runs", study, None), make_plan(study), source, {})
    assert choose(tmp_path / "runs", study, None).name == "small"


def test_a_beginning_that_was_killed_amid_a_file_is_used_again(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = load_study(source)
    directory = choose(tmp_path / "runs", study, None)
    put = Path.replace

    def killed(path: Path, target: Path) -> Path:
        if target == directory.files.environment:
            raise KeyboardInterrupt
        return put(path, target)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "replace", killed)
        patched.setattr(Path, "unlink", lambda *_, **__: None)
        begin(directory, make_plan(study), source, {})
    (aside,) = (path for path in directory.files.root.iterdir() if path.name.startswith("."))
    assert choose(tmp_path / "runs", study, None).name == "small"
    aside.rename(directory.files.root / ".mine")
    assert choose(tmp_path / "runs", study, None).name == "small-2"


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """The kernel writes no more to any file, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_finished_run_whose_extension_cannot_be_written_stays_as_it_was(
    tmp_path: Path, source: Path
) -> None:
    runs, first = tmp_path / "runs", load_study(source, ["design.deployments=4"])
    root = begun(runs, first, source)
    Journal(root / "journal.jsonl").write(FINISHED, rounds=4)
    before = {path: path.read_bytes() for path in root.iterdir() if path.is_file()}
    longer = load_study(source, ["design.deployments=6"])
    plan, chosen = make_plan(longer), choose_extended(runs, longer, None)
    room = len(plan.model_dump_json(indent=1)) - 1
    assert len(before[root / "study.yaml"]) < room, "only the plan finds no room"
    with files_of_at_most(room), pytest.raises(OSError, match="large"):
        begin(chosen, plan, source, {})
    assert {path: path.read_bytes() for path in root.iterdir() if path.is_file()} == before


def test_a_run_that_another_machine_has_keeps_its_environment(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both see the same directory of runs; each has its own lock."""
    study = load_study(source)
    with monkeypatch.context() as there:
        there.setattr("tare.lab.marked.identity", lambda: "there")
        root = begun(tmp_path / "runs", study, source)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    with pytest.raises(TareError, match="something else is there"):
        begin(choose(tmp_path / "runs", study, None), make_plan(study), source, {"here": True})
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_somebody_s_own_directory_is_never_written_to(tmp_path: Path, source: Path) -> None:
    (tmp_path / "runs" / "small").mkdir(parents=True)
    assert choose(tmp_path / "runs", load_study(source), None).name == "small-2"


def test_an_imported_run_has_no_journal_and_is_not_measured_into(
    tmp_path: Path, source: Path
) -> None:
    """Trials of the same names would replace those of the files."""
    trial = tmp_path / "runs" / "small" / "trials" / "D1-B01-native"
    trial.mkdir(parents=True)
    (tmp_path / "runs" / "small" / "study.yaml").write_text(TEXT)
    (trial / "manifest.json").write_text(json.dumps({"status": "done"}))
    assert choose(tmp_path / "runs", load_study(source), None).name == "small-2"


@pytest.mark.parametrize("own", ["study.yaml", "notes.txt", "trials/D1-B01-native"])
def test_a_directory_with_more_than_a_killed_beginning_leaves_is_somebody_s(
    tmp_path: Path, source: Path, own: str
) -> None:
    study, runs = load_study(source), tmp_path / "runs"
    if own == "study.yaml":
        (runs / "small").mkdir(parents=True)
    else:
        begin(choose(runs, study, None), make_plan(study), source, {})
        (runs / "small" / own).parent.mkdir(exist_ok=True)
    (runs / "small" / own).write_text("mine")
    assert choose(runs, study, None).name == "small-2"


def test_another_study_never_resumes_it(tmp_path: Path, source: Path) -> None:
    begun(tmp_path / "runs", load_study(source), source)
    chosen = choose(tmp_path / "runs", load_study(source, ["load.threads=8"]), None)
    assert chosen.name == "small-2"
    assert "different study" in chosen.note


def test_the_kept_study_reads_back_as_the_study_that_was_run(tmp_path: Path, source: Path) -> None:
    """Overrides from the command line are part of what was run."""
    study = load_study(source, ["load.threads=9", "margins.p99=20%"])
    root = begun(tmp_path / "runs", study, source)
    again = load_study(root / "study.yaml")
    assert again == make_plan(study).study
    assert again.load.threads == 9
    assert again.design.slice == "off", "what was chosen, not `auto`"
    assert (root / "study.source.yaml").read_text() == TEXT


TWO = """\
study: small
factors: {platform: {native: {}, docker: {platform: {runtime: docker, network: bridge}}}}
baseline: {platform: native}
"""


def two_begun(tmp_path: Path) -> tuple[Study, Path]:
    """A study of two conditions, and the directory of its run, which has begun."""
    source = tmp_path / "two.yaml"
    source.write_text(TWO)
    study = load_study(source)
    return study, begun(tmp_path / "runs", study, source)


def kept_plan(root: Path) -> dict[str, Any]:
    """The plan that the run was begun with, as plain data."""
    plan: dict[str, Any] = json.loads((root / "plan.json").read_text())
    return plan


def keep(root: Path, plan: object) -> None:
    (root / "plan.json").write_text(json.dumps(plan))


def test_an_unfinished_run_goes_on_with_the_plan_that_it_began_with(tmp_path: Path) -> None:
    study, _ = two_begun(tmp_path)
    same_plan(choose(tmp_path / "runs", study, None), make_plan(study))


def test_the_same_study_in_another_order_is_not_resumed(tmp_path: Path) -> None:
    """As another version may have planned it: half a round of each would not be blocks."""
    study, root = two_begun(tmp_path)
    plan = kept_plan(root)
    plan["rounds"][0]["blocks"][0]["order"].reverse()
    keep(root, plan)
    chosen = choose(tmp_path / "runs", study, None)
    with pytest.raises(UsageError, match="small: not resumed") as caught:
        same_plan(chosen, make_plan(study))
    assert "another order" in caught.value.why
    assert "--name small-anew" in caught.value.remedy


@pytest.mark.parametrize("change", ["deployment", "fewer", "unreadable", "damaged", "gone"])
def test_a_run_of_other_conditions_is_not_resumed(tmp_path: Path, change: str) -> None:
    study, root = two_begun(tmp_path)
    plan = kept_plan(root)
    if change == "deployment":
        plan["conditions"][1]["deployment"] = "docker.4"
    elif change == "fewer":
        del plan["conditions"][1]
    keep(root, [1] if change == "damaged" else plan)
    if change == "unreadable":
        (root / "plan.json").write_text("{")
    elif change == "gone":
        (root / "plan.json").unlink()
    chosen = choose(tmp_path / "runs", study, None)
    with pytest.raises(UsageError, match="not resumed"):
        same_plan(chosen, make_plan(study))


def test_a_lab_refuses_another_plan_before_it_starts_anything(tmp_path: Path) -> None:
    study, root = two_begun(tmp_path)
    plan = kept_plan(root)
    plan["conditions"].reverse()
    keep(root, plan)
    chosen = choose(tmp_path / "runs", study, None)
    before = sorted(root.rglob("*"))
    with pytest.raises(UsageError, match="not resumed"):
        Lab(make_plan(study), chosen, tmp_path / "two.yaml", Silent()).run()
    assert sorted(root.rglob("*")) == before
