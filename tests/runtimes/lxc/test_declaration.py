"""What a study may ask of LXC, and how it is refused where it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import StudyError
from tare.knowledge.proposed_sides import sides_of, why_not
from tare.knowledge.query import Query
from tare.lab.weighed_servers import ways
from tare.runtimes.lxc.declaration import DECLARED
from tare.study.plan import make_plan
from tare.study.read import load_study

STUDY = """\
study: one
factors: {platform: {native: {}, lxc: {platform: {runtime: lxc, network: bridge}}}}
baseline: {platform: native}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    return file


def test_a_study_has_it_by_each_endpoint_with_limits_and_with_clients_of_its_own(
    study: Path,
) -> None:
    own = "factors.platform.lxc"
    for changed in (
        f"{own}.platform.endpoint=loopback",
        f"{own}.platform.endpoint=bridge",
        f"{own}.platform.network=host",
        f"{own}.client={{runtime: lxc, network: bridge}}",
    ):
        plan = make_plan(load_study(study, [changed, "platform.limits={cpus: 1, memory: 2GiB}"]))
        assert [one.name for one in plan.conditions] == ["native", "lxc"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ("platform.network=published", "an LXC container has no published network"),
        ("platform.storage=layer", "an LXC container has no layer storage"),
    ],
)
def test_what_it_has_not_is_refused_in_its_own_words(study: Path, changed: str, why: str) -> None:
    with pytest.raises(StudyError) as raised:
        load_study(study, [f"factors.platform.lxc.{changed}"])
    assert why in raised.value.why


def test_weighing_and_advice_know_it() -> None:
    assert [one.name for one in ways(["lxc"], [1])] == [
        "native", "native again", "lxc.host", "lxc.loopback", "lxc.bridge", "lxc.between-nodes",
    ]  # fmt: skip
    asked = Query(platform="lxc")
    assert why_not(asked) == ""
    assert "{runtime: lxc, network: bridge, storage: directory}" in sides_of(asked)["patch"]


def test_a_report_names_its_release() -> None:
    assert DECLARED.engine_in_words({"version": "5.0.2"}) == "LXC 5.0.2"
    assert DECLARED.engine_in_words({}) == ""
