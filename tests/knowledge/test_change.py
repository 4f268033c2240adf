"""Is the change from an old to a new analysis larger than the platform's own effect?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tare.errors import KnowledgeError
from tare.knowledge.change import change_verdict, check_change
from tests.knowledge.sample import changed, library

DOCKER = {"platform": {"runtime": "docker", "network": "bridge", "storage": "volume"}}
KNOWN = library([changed(-10.0, id="a"), changed(15.0, id="b", load={"threads": 3})])


def analysis(path: Path, values: list[float], setup: dict[str, Any] | None = None) -> Path:
    trials = [
        {
            "condition": "docker",
            "deployment": f"D{n}",
            "status": "done",
            "values": {"all.mean": value, "cpu.util": 3.0},
        }
        for n, value in enumerate(values)
    ]
    content = {
        "study": "ci",
        "valid": True,
        "trials": trials,
        "provenance": {"settings": {"docker": setup if setup is not None else DOCKER}},
        "unknown_field": 1,
    }
    path.write_text(json.dumps(content))
    return path


def verdict(tmp_path: Path, old: list[float], new: list[float]) -> str:
    result = check_change(
        KNOWN, analysis(tmp_path / "old.json", old), analysis(tmp_path / "new.json", new)
    )
    [change] = result.changes
    assert change.metric == "all.mean"
    assert change.known == pytest.approx((0.90, 1.15))
    assert result.larger == change.verdict.startswith("larger")
    return change.verdict


BEFORE = [100.0, 101.0, 99.0, 100.5]


def test_noise_is_no_difference(tmp_path: Path) -> None:
    assert verdict(tmp_path, BEFORE, [100.4, 99.2, 101.1, 100.0]) == "no difference shown"


def test_five_percent_is_within_what_a_container_does(tmp_path: Path) -> None:
    found = verdict(tmp_path, BEFORE, [one * 1.05 for one in BEFORE])
    assert found == "within what the platform alone is known to cause"


def test_half_as_much_again_is_more_than_a_container_does(tmp_path: Path) -> None:
    found = verdict(tmp_path, BEFORE, [one * 1.5 for one in BEFORE])
    assert found == "larger than what the platform alone is known to cause"


def test_one_trial_on_a_side_is_too_few(tmp_path: Path) -> None:
    assert verdict(tmp_path, [100.0], [150.0]) == "too few to tell"


def test_many_trials_of_one_deployment_are_one_life_and_too_few(tmp_path: Path) -> None:
    old = analysis(tmp_path / "old.json", BEFORE)
    old.write_text(re.sub(r'"D\d"', '"D1"', old.read_text()))
    new = analysis(tmp_path / "new.json", [one * 1.5 for one in BEFORE])
    [change] = check_change(KNOWN, old, new).changes
    assert (change.unit, change.units, change.verdict) == ("trial", (4, 4), "too few to tell")
    assert change.ci is not None


def test_the_interval_is_welchs_on_deployment_means(tmp_path: Path) -> None:
    import numpy as np

    old, new = BEFORE, [110.0, 118.0, 105.0]
    result = check_change(
        KNOWN, analysis(tmp_path / "a.json", old), analysis(tmp_path / "b.json", new)
    )
    expected = stats.ttest_ind(np.log(new), np.log(old), equal_var=False).confidence_interval()
    assert result.changes[0].ci == pytest.approx((np.exp(expected.low), np.exp(expected.high)))
    assert result.changes[0].unit == "deployment"


def test_two_platforms_are_never_compared_silently(tmp_path: Path) -> None:
    native = {"platform": {"runtime": "native"}}
    result = check_change(
        KNOWN,
        analysis(tmp_path / "old.json", BEFORE, native),
        analysis(tmp_path / "new.json", BEFORE),
    )
    assert not result.same_platform
    assert any("Do not compare across platforms" in note for note in result.notes)


def test_the_same_on_both_sides_is_said_and_so_are_other_settings(tmp_path: Path) -> None:
    old = analysis(tmp_path / "old.json", BEFORE)
    result = check_change(KNOWN, old, old)
    assert (result.same_platform, result.same_settings) == (True, True)
    busier = analysis(tmp_path / "new.json", BEFORE, {**DOCKER, "load": {"threads": 64}})
    result = check_change(KNOWN, old, busier)
    assert (result.same_platform, result.same_settings) == (True, False)
    assert any("feeling" in note for note in result.notes)


def test_a_native_run_has_no_platform_to_blame(tmp_path: Path) -> None:
    native = {"platform": {"runtime": "native"}}
    old = analysis(tmp_path / "old.json", BEFORE, native)
    new = analysis(tmp_path / "new.json", [one * 1.2 for one in BEFORE], native)
    [change] = check_change(KNOWN, old, new).changes
    assert (change.platform, change.known) == ("", None)
    assert "nothing is known" in change.verdict


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"study": 1}', "[" * 100_000, "\x00"])
def test_what_is_no_analysis_is_refused(content: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(content)
    with pytest.raises(KnowledgeError, match="not an analysis"):
        check_change(KNOWN, bad, bad)


def test_an_analysis_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    bad = analysis(tmp_path / "old.json", BEFORE)
    bad.write_text(bad.read_text().replace('"condition": "docker"', '"condition": "\\u001b[2J"'))
    with pytest.raises(KnowledgeError, match="not an analysis"):
        check_change(KNOWN, bad, bad)


def test_two_runs_with_nothing_in_common_are_refused(tmp_path: Path) -> None:
    old = analysis(tmp_path / "old.json", BEFORE)
    new = analysis(tmp_path / "new.json", BEFORE)
    new.write_text(new.read_text().replace('"condition": "docker"', '"condition": "x"'))
    content = json.loads(old.read_text())
    content["trials"].append({**content["trials"][0], "condition": "other"})
    old.write_text(json.dumps(content))
    with pytest.raises(KnowledgeError, match="nothing to compare"):
        check_change(KNOWN, old, new)


@pytest.mark.parametrize(
    ("ci", "known", "expected"),
    [
        ((0.9, 1.1), (0.8, 1.2), "no difference shown"),
        ((1.05, 1.1), (0.8, 1.2), "within"),
        ((1.15, 1.3), (0.8, 1.2), "within"),
        ((1.21, 1.3), (0.8, 1.2), "larger"),
        ((0.5, 0.7), (0.8, 1.2), "larger"),
        ((1.05, 1.1), None, "a difference, and nothing is known"),
        (None, (0.8, 1.2), "too few"),
    ],
)
def test_verdicts(
    ci: tuple[float, float] | None, known: tuple[float, float] | None, expected: str
) -> None:
    assert change_verdict(ci, known).startswith(expected)
