"""What an import writes, skips and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.errors import StudyError, UsageError
from tare.records.reader import read_run
from tests.imports.conftest import DATA, STUDY

if TYPE_CHECKING:
    from tests.imports.conftest import Import

YCSB = (DATA / "ycsb-cassandra-a-t.txt").read_text(encoding="utf-8")


def reasons(outcome: object) -> dict[str, str]:
    skipped = getattr(outcome, "skipped")  # noqa: B009 - any outcome
    return {Path(one.label).name: one.reason for one in skipped}


def test_files_become_trials_that_are_analysed_like_any_others(
    import_: Import, results: Path, run: Path
) -> None:
    outcome = import_("ycsb", results)
    assert len(outcome.trials) == 8
    assert outcome.skipped == []
    trials = {trial.name: trial.manifest for trial in read_run(run).trials}
    manifest = trials["D1-B02-docker.few"]
    assert manifest.levels == {"platform": "docker", "threads": "few"}
    assert manifest.reported is not None
    assert manifest.reported["read.mean"] == 16611.612669053302
    assert manifest.reported["throughput"] == 980.3441007793735
    assert manifest.operations == 20_000
    assert manifest.source is not None
    assert manifest.source.tool == "ycsb"
    assert manifest.source.files[0].path.endswith("docker_16_2.txt")
    assert manifest.setup["platform"]["runtime"] == "docker"
    analysis = analyse(run)
    assert analysis.valid
    assert {summary.trials for summary in analysis.conditions} == {2}
    effect = next(e for e in analysis.effects if e.metric == "read.mean")
    assert effect.ratio == pytest.approx(1.0)


def test_a_value_a_level_or_the_levels_own_setting_names_the_level(
    import_: Import, results: Path
) -> None:
    """`bare` is mapped, `docker` is a level, and 16 is the value that the level `few` sets."""
    trials = set(import_("ycsb", results).trials)
    assert "D1-B01-native.few" in trials
    assert "D1-B01-docker.many" in trials


def test_what_does_not_fit_is_named_and_the_rest_goes_on(import_: Import, results: Path) -> None:
    (results / "README").write_text("hello", encoding="utf-8")
    (results / "podman_16_1.txt").write_text(YCSB, encoding="utf-8")
    (results / "dockr_16_1.txt").write_text(YCSB, encoding="utf-8")
    (results / "native_few_1.txt").write_text(YCSB, encoding="utf-8")
    (results / "docker_16_3.txt").write_text(YCSB[:700], encoding="utf-8")
    outcome = import_("ycsb", results)
    assert len(outcome.trials) == 8
    found = reasons(outcome)
    assert found["README"] == (
        "its name does not fit the template {platform}_{threads}_{repetition}.txt: {platform} "
        "would begin at 'README', and no '_' follows it"
    )
    assert found["podman_16_1.txt"] == (
        "platform is 'podman', which is no level: levels are native, docker; map the text to one "
        "in files.values"
    )
    assert "did you mean docker?" in found["dockr_16_1.txt"]
    assert "the same condition and repetition as" in found["native_few_1.txt"]
    assert "cut off" in found["docker_16_3.txt"]


def test_patterns_say_which_files_are_read(import_: Import, results: Path) -> None:
    (results / "load").mkdir()
    (results / "load" / "docker_16_3.txt").write_text("nothing", encoding="utf-8")
    (results / "README").write_text("hello", encoding="utf-8")
    outcome = import_("ycsb", results, include=["*.txt"], exclude=["load/*", "bare_*.txt"])
    assert outcome.skipped == []
    assert len(outcome.trials) == 4
    assert outcome.notes[0] == "6 left out by --include and --exclude"


def test_what_was_left_out_is_kept_and_reported(import_: Import, results: Path, run: Path) -> None:
    (results / "docker_16_9.txt").write_text("nothing", encoding="utf-8")
    import_("ycsb", results)
    check = next(check for check in analyse(run).checks if check.name == "files")
    assert check.status == "warning"
    assert "docker_16_9.txt: no [OVERALL] block" in check.details[0]


def test_repetitions_may_count_from_zero_and_it_is_said(
    import_: Import, tmp_path: Path, run: Path
) -> None:
    for number in (0, 1):
        (tmp_path / f"docker_16_{number}.txt").write_text(YCSB, encoding="utf-8")
    outcome = import_("ycsb", tmp_path / "docker_16_0.txt", tmp_path / "docker_16_1.txt")
    assert sorted(outcome.trials) == ["D1-B01-docker.few", "D1-B02-docker.few"]
    assert "from 0" in outcome.notes[0]


def test_status_lines_in_a_file_of_their_own_join_the_result(
    import_: Import, tmp_path: Path, run: Path
) -> None:
    (tmp_path / "docker_16_1.out.txt").write_text(YCSB, encoding="utf-8")
    status = (DATA / "ycsb-cassandra-a-t.stderr.txt").read_text(encoding="utf-8")
    (tmp_path / "docker_16_1.err.txt").write_text(status, encoding="utf-8")
    (tmp_path / "docker_16_2.err.txt").write_text(status, encoding="utf-8")
    files = sorted(tmp_path.glob("docker*"))
    outcome = import_("ycsb", *files, template="{platform}_{threads}_{repetition}.{_}.txt")
    assert outcome.trials == ["D1-B01-docker.few"]
    assert "status lines without a result" in reasons(outcome)["docker_16_2.err.txt"]
    (series,) = analyse(run).series
    assert series.values["throughput"] == [677.0, 1323.0]
    assert series.t == pytest.approx([9.907, 19.907])


def test_the_content_tells_a_factor_that_the_name_does_not(import_: Import, tmp_path: Path) -> None:
    stress = (DATA / "stress-3.11.2-mixed-j17.txt").read_bytes()
    (tmp_path / "docker-1.txt").write_bytes(stress)
    outcome = import_(
        "cassandra-stress", tmp_path / "docker-1.txt", template="{platform}-{repetition}.txt"
    )
    assert outcome.trials == ["D1-B01-docker.many"]


def test_a_name_that_contradicts_the_content_is_not_believed(
    import_: Import, tmp_path: Path
) -> None:
    stress = (DATA / "stress-3.11.2-mixed-j17.txt").read_bytes()
    (tmp_path / "docker_few_1.txt").write_bytes(stress)
    outcome = import_("cassandra-stress", tmp_path / "docker_few_1.txt")
    assert outcome.trials == []
    assert reasons(outcome)["docker_few_1.txt"] == "its name says threads few, its content 32"


def test_a_factor_that_nothing_tells_is_named(import_: Import, tmp_path: Path) -> None:
    (tmp_path / "16_1.txt").write_text(YCSB, encoding="utf-8")
    outcome = import_("ycsb", tmp_path / "16_1.txt", template="{threads}_{repetition}.txt")
    reason = reasons(outcome)["16_1.txt"]
    assert "tells the factor platform" in reason
    assert "--level platform=LEVEL" in reason


def test_a_level_can_be_said_for_all_files(import_: Import, tmp_path: Path) -> None:
    (tmp_path / "16_1.txt").write_text(YCSB, encoding="utf-8")
    outcome = import_(
        "ycsb",
        tmp_path / "16_1.txt",
        template="{threads}_{repetition}.txt",
        fixed={"platform": "docker"},
    )
    assert outcome.trials == ["D1-B01-docker.few"]


def test_a_sidecar_tells_what_names_do_not(import_: Import, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(YCSB, encoding="utf-8")
    (tmp_path / "b.log").write_text(YCSB, encoding="utf-8")
    sidecar = tmp_path / "sidecar.csv"
    sidecar.write_text("file,platform,threads,repetition\na.log,bare,few,1\n", encoding="utf-8")
    outcome = import_("ycsb", tmp_path / "a.log", tmp_path / "b.log", sidecar=sidecar)
    assert outcome.trials == ["D1-B01-native.few"]
    assert reasons(outcome)["b.log"] == "the sidecar has no row for it"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("name,platform\na,b\n", "no column file"),
        ("file,platfrm\na,b\n", "unknown field platfrm"),
        ("file,platform\na,native\na,docker\n", "two rows for a"),
        ("file,platform\na\n", "not as many cells"),
        ("", "cannot be read"),
    ],
)
def test_a_wrong_sidecar_is_refused(
    import_: Import, tmp_path: Path, run: Path, text: str, what: str
) -> None:
    sidecar = tmp_path / "sidecar.csv"
    sidecar.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=what):
        import_("ycsb", tmp_path, sidecar=sidecar)
    assert not run.exists()


def test_a_missing_sidecar_is_said_in_words(import_: Import, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        import_("ycsb", tmp_path, sidecar=tmp_path / "none.csv")
    assert error.value.why == "No such file or directory"
    assert error.value.remedy


def test_what_is_there_is_never_overwritten(import_: Import, results: Path, run: Path) -> None:
    import_("ycsb", results)
    before = {path: path.read_bytes() for path in run.rglob("*.json")}
    with pytest.raises(UsageError, match="not empty"):
        import_("ycsb", results)
    assert before == {path: path.read_bytes() for path in run.rglob("*.json")}


@pytest.mark.parametrize(
    ("tool", "text", "why"),
    [
        ("ycsb", YCSB.replace(", 20401\n", ", 1e14\n").replace("980.3441007793735", "2e-7"),
         "it lasted 1,157,407 days"),
        ("hlog", (DATA / "stress-3.11.2-mixed.hdr").read_text(encoding="utf-8").replace(
            "StartTime: 1795253781.000", "StartTime: 999999999999.000"), "no year"),
    ],
)  # fmt: skip
def test_absurd_times_are_named(
    import_: Import, tmp_path: Path, tool: str, text: str, why: str
) -> None:
    (tmp_path / "docker_many_1.txt").write_text(text, encoding="utf-8")
    outcome = import_(tool, tmp_path / "docker_many_1.txt")
    assert why in reasons(outcome)["docker_many_1.txt"]


def test_nothing_is_written_when_nothing_could_be_read(
    import_: Import, tmp_path: Path, run: Path
) -> None:
    outcome = import_("ycsb", tmp_path / "missing.txt")
    assert reasons(outcome) == {"missing.txt": "there is no such file"}
    assert not run.exists()


def test_a_crash_leaves_no_half_trial(
    import_: Import, results: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.rename
    done: list[Path] = []

    def rename(path: Path, target: Path) -> Path:
        if len(done) == 3:
            raise OSError("the disk is full")
        done.append(path)
        return real(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OSError, match="full"):
        import_("ycsb", results)
    assert len(read_run(run).trials) == 3
    assert read_run(run).damaged == []


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{platform}{threads}.txt", "side by side"),
        ("results.txt", "no {field}"),
        ("{platform.txt", "brace"),
        ("{plat form}.txt", "not a field"),
        ("{platfrom}_{threads}.txt", "unknown field platfrom"),
    ],
)
def test_a_template_that_cannot_serve_is_refused(
    import_: Import, results: Path, run: Path, template: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        import_("ycsb", results, template=template)
    assert not run.exists()


def test_an_excluded_combination_is_named(study: Path, import_: Import, results: Path) -> None:
    study.write_text(STUDY + "exclude: [{platform: docker, threads: many}]\n", encoding="utf-8")
    outcome = import_("ycsb", results)
    assert len(outcome.trials) == 6
    assert reasons(outcome)["docker_many_1.txt"] == "the study excludes docker.many"


def test_imported_from_is_kept_with_the_run(import_: Import, results: Path, run: Path) -> None:
    import_("ycsb", results)
    entry = json.loads((run / "environment.json").read_text(encoding="utf-8"))["imports"][0]
    assert (entry["tool"], entry["files"], entry["trials"]) == ("ycsb", 8, 8)


def test_series_need_an_imported_run(import_: Import, tmp_path: Path, run: Path) -> None:
    with pytest.raises(UsageError, match="adds series to the trials of an imported run"):
        import_("sar", tmp_path)
    assert not run.exists()


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ('{template: "{platfrom}.txt"}', "unknown field {platfrom}"),
        ('{template: "{platform}{threads}"}', "side by side"),
        ("{values: {platfrom: {a: native}}}", "unknown factor"),
        ("{values: {platform: {a: natve}}}", "unknown level 'natve'"),
    ],
)
def test_a_wrong_files_section_is_refused_with_its_line(
    import_: Import, study: Path, results: Path, files: str, what: str
) -> None:
    text = STUDY.partition("files:")[0] + f"files: {files}\n"
    study.write_text(text, encoding="utf-8")
    line = len(text.splitlines())
    with pytest.raises(StudyError) as error:
        import_("ycsb", results)
    assert what in error.value.what
    assert error.value.where == f"{study}:{line}"
