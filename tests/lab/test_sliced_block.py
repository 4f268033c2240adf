"""Records of the trials of a block in slices, and their state after one has failed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import TareError, TrialFailedError
from tare.lab.head_start import HeadStarts
from tare.lab.sliced_block import BlockAgainError, SlicedBlock, all_or_none
from tare.records.manifest import TrialManifest


def done(trial: str) -> TrialManifest:
    return TrialManifest.model_construct(trial=trial, status="done")


def test_a_block_without_a_failure_stands() -> None:
    outcomes = {"a": done("a"), "b": done("b")}
    assert all_or_none(outcomes) == outcomes


@pytest.mark.parametrize("error", [TrialFailedError("it died"), OSError("no disk")])
def test_a_failure_takes_its_partners_with_it_for_they_are_compared_slice_by_slice(
    error: TareError | OSError,
) -> None:
    outcomes = all_or_none({"a": done("a"), "b": error, "c": done("c")})
    assert outcomes["b"] is error
    for name in ("a", "c"):
        one = outcomes[name]
        assert isinstance(one, BlockAgainError)
        assert "b failed" in str(one)


def test_conditions_of_one_server_have_keys_of_their_own_and_servers_begin_alike() -> None:
    runs: dict[str, Any] = {
        name: (SimpleNamespace(deployment=SimpleNamespace(identity=server), keys=0), Path(name))
        for name, server in (("a", "native"), ("b", "docker"), ("c", "docker"), ("d", "docker"))
    }
    anything: Any = None
    SlicedBlock(runs, anything, anything, HeadStarts())
    assert [run.keys for run, _ in runs.values()] == [0, 0, 1, 2]


class Begins:
    """A trial whose servers live, or not."""

    def __init__(self, name: str, *, fault: TareError | None = None) -> None:
        self.trial = SimpleNamespace(name=name)
        self.deployment = SimpleNamespace(identity=name, discard=lambda clients: None)
        self.keys, self.fault = 0, fault

    def begin(self) -> None:
        if self.fault is not None:
            raise self.fault

    def watched(self, clients: object) -> dict[str, Any]:
        return {}


def test_servers_that_died_between_blocks_cost_no_other_its_servers() -> None:
    lost = TrialFailedError("its host is gone")
    anything: Any = None
    runs: Any = {
        name: (Begins(name, fault=lost if name == "b" else None), Path(name)) for name in "abc"
    }
    outcomes = SlicedBlock(runs, anything, anything, HeadStarts()).perform()
    assert outcomes["b"] is lost
    for name in ("a", "c"):
        assert isinstance(outcomes[name], BlockAgainError), "which ends no deployment"
        assert "b failed" in str(outcomes[name])
