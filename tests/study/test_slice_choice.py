"""Slices are the default wherever conditions allow them; one place chooses, and says why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tare.errors import StudyError
from tare.study.plan import Plan, make_plan
from tare.study.schema import Study
from tare.study.slice_lengths import USUAL_SLICE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.study.schema import Setup
    from tests.study.conftest import ReadStudy, RefuseStudy

TWO = "study: x\nfactors: {platform: {native: {}, docker: {platform: {runtime: docker}}}}\n"
TWO += "baseline: {platform: native}\n"
PHASES = "load: {phases: [{for: 5s, rate: 100}, {for: 5s, rate: 200}]}\n"


def planned(read: ReadStudy, text: str = "", *overrides: str, base: str = TWO) -> Plan:
    return make_plan(read(base + text, overrides))


def test_conditions_take_turns_unless_the_study_says_otherwise(read: ReadStudy) -> None:
    plan = planned(read)
    assert plan.slicing.length_s == plan.study.design.slice == USUAL_SLICE_S
    assert (plan.slicing.asked, plan.slicing.why_not) == ("auto", "")
    assert plan.slicing.words == (
        "in slices of 250 ms, the conditions of a block in turn (design.slice: auto)"
    )


def test_a_slice_of_a_second_is_told_in_whole_milliseconds(read: ReadStudy) -> None:
    assert "in slices of 1000 ms, " in planned(read, "", "design.slice=1s").slicing.words


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("client: {tool: ycsb}\n", "only Tare's own load generator drives its cluster in slices"),
        (PHASES, "a load that changes over time cannot be cut into slices"),
        ("design: {fresh: trial}\n", "nothing lives beside one another with design.fresh: trial"),
        ("design: {fresh: block}\n", "design.fresh: block has one deployment alive at a time"),
        ("analysis: {show: [{kind: band}]}\n", "analysis.show.0: band is drawn over time"),
        ("analysis: {primary: [cpu.util]}\n", "cpu.util is made of samples of every second"),
        ("margins: {disk.write_kbps: 5%}\n", "disk.write_kbps is made of samples"),
        ("analysis: {show: [{kind: mean-bars, metrics: [cpu.softirq]}]}\n", "cpu.softirq is made"),
    ],
)
def test_what_slices_cannot_be_or_tell_is_measured_in_one_piece(
    read: ReadStudy, text: str, reason: str
) -> None:
    plan = planned(read, text)
    assert plan.study.design.slice == "off"
    assert plan.study.design.slice_s is plan.slicing.length_s is None
    assert plan.slicing.why_not.startswith(reason)
    assert plan.slicing.words.startswith("one condition after another, in one piece")
    assert plan.slicing.why_not in plan.slicing.words


def test_conditions_of_different_lengths_are_measured_in_one_piece(read: ReadStudy) -> None:
    longer = TWO.replace("native: {}", "native: {load.measure: 20s}")
    plan = planned(read, base=longer)
    assert plan.slicing.why_not == "conditions are measured for different lengths of time"


def test_virtual_machines_are_measured_in_one_piece(read: ReadStudy) -> None:
    inside = TWO.replace("native: {}", "native: {platform.machines: kvm}")
    plan = planned(read, base=inside)
    assert plan.slicing.why_not == "virtual machines made here cannot be driven in slices"
    with pytest.raises(StudyError, match="cannot be driven in slices"):
        planned(read, "design: {slice: 250ms}\n", base=inside)


def test_compaction_is_compared_in_one_piece(read: ReadStudy) -> None:
    compared = TWO.replace("native: {}", "native: {database.compaction.strategy: LCS}")
    assert planned(read, base=compared).slicing.why_not.startswith("compaction is compared")
    alike = planned(read, "database: {compaction: {strategy: LCS}}\n")
    assert alike.study.design.slice_s == USUAL_SLICE_S


ENDPOINTS = """
study: x
platform: {runtime: docker, network: bridge}
factors:
  endpoint: {bridge: {platform.endpoint: bridge}, published: {platform.endpoint: published},
             proxy: {platform.endpoint: proxy}}
baseline: {endpoint: bridge}
"""


def test_a_server_s_conditions_have_short_slices_in_one_turn(read: ReadStudy) -> None:
    plan = planned(read, base=ENDPOINTS)
    # 32 operations in flight, which a node answers in some 10 ms
    assert plan.study.design.slice_s == pytest.approx(0.0384)
    assert plan.study.design.drain == pytest.approx(0.025)
    assert plan.study.design.turn == "pass"
    assert plan.slicing.words == (
        "in slices of 38.4 ms, the servers of a block in turn, each with all its conditions "
        "(design.slice: auto)"
    )
    few = planned(read, "load: {workload: ycsb-c, threads: 4}\n", base=ENDPOINTS)
    # the baseline has as many slices as the two others together: four in a turn
    assert few.study.design.slice_s == pytest.approx(0.03)
    assert few.study.design.drain == pytest.approx(0.0074)
    three = planned(read, "database: {nodes: 3}\n", base=ENDPOINTS)
    assert three.study.design.slice_s == pytest.approx(0.1152)
    apart = planned(read, "", "design.turn=slice", base=ENDPOINTS)
    assert apart.study.design.slice_s == USUAL_SLICE_S
    asked = planned(read, "", "design.slice=100ms", "design.drain=9ms", base=ENDPOINTS)
    assert asked.slicing.turn == "slice"
    assert asked.study.design.drain == asked.slicing.drain_s == pytest.approx(0.009)


def test_one_condition_has_none_to_take_turns_with(read: ReadStudy) -> None:
    assert "none to take turns with" in planned(read, base="study: x\n").slicing.why_not
    left_out: Callable[[Setup], Any] = lambda setup: (  # noqa: E731
        Hindered() if setup.platform.runtime == "docker" else None
    )
    plan = make_plan(read(TWO), left_out)
    assert "none to take turns with" in plan.slicing.why_not
    nothing = make_plan(read(TWO), lambda setup: Hindered())
    assert nothing.slicing.length_s == USUAL_SLICE_S


class Hindered:
    """Why a setup cannot be run."""

    field, why, remedy = ("platform", "runtime"), "not here", "none"
    whys = ("not here",)


def test_units_that_cannot_be_driven_in_slices_where_they_run(read: ReadStudy) -> None:
    def unsliced(setup: Setup) -> str:
        return "it runs elsewhere" if setup.platform.runtime == "docker" else ""

    plan = make_plan(read(TWO), unsliced=unsliced)
    assert (plan.slicing.length_s, plan.slicing.why_not) == (None, "it runs elsewhere")
    asked = make_plan(read(TWO, ["design.slice=100ms"]), unsliced=unsliced)
    assert asked.study.design.slice_s == 0.1


def test_the_study_s_own_word_stands(read: ReadStudy, refuse: RefuseStudy) -> None:
    off = planned(read, "", "design.slice=off")
    assert (off.slicing.asked, off.slicing.why_not) == ("off", "")
    assert off.study.design.slice == "off"
    length = planned(read, "", "design.slice=100ms")
    assert length.slicing.words.endswith("in turn (design.slice: 100ms)")
    assert length.study.design.slice == 0.1
    error = refuse(TWO + PHASES, ["design.slice=100ms"])
    assert "a load that changes over time cannot be cut into slices" in str(error)
    word = refuse(TWO, ["design.slice=always"])
    assert "design.slice" in str(word)


def test_a_run_s_own_study_says_what_was_chosen(read: ReadStudy) -> None:
    """A plan made again stays the same, even where another choice would be made now."""
    for plan in (planned(read), planned(read, PHASES), planned(read, base=ENDPOINTS)):
        kept = Study.model_validate_json(plan.study.model_dump_json())
        again = make_plan(kept, unsliced=lambda setup: "elsewhere")
        assert again.study.design.slice == plan.study.design.slice
        assert again.rounds == plan.rounds
        assert again.estimate == plan.estimate


def test_the_choice_is_in_the_plan_s_document(read: ReadStudy) -> None:
    document = json.loads(planned(read, "client: {tool: ycsb}\n").model_dump_json())
    assert document["study"]["design"]["slice"] == "off"
    assert document["slicing"]["asked"] == "auto"
    assert document["slicing"]["length_s"] is None
    assert document["slicing"]["why_not"].startswith("only Tare's own load generator")


def test_every_client_of_a_block_in_slices_needs_its_memory(read: ReadStudy) -> None:
    """Conditions that share a deployment have a client each, at once."""
    eight = {str(n): {"load.threads": n} for n in range(1, 9)}
    text = f"study: x\nfactors: {{threads: {json.dumps(eight)}}}\nbaseline: {{threads: '1'}}\n"
    sliced = planned(read, base=text)
    whole = planned(read, "", "design.slice=off", base=text)
    assert sliced.study.design.slice_s is not None
    assert sliced.estimate.memory_bytes - whole.estimate.memory_bytes == 7 * 64 * 2**20


def test_in_slices_all_deployments_of_a_block_need_memory_at_once(read: ReadStudy) -> None:
    block = planned(read, "", "design.fresh=block", "design.slice=250ms")
    round_ = planned(read, "", "design.fresh=deployment", "design.slice=250ms")
    assert block.estimate.memory_bytes == round_.estimate.memory_bytes
    assert block.estimate.disk_bytes == round_.estimate.disk_bytes
    apart = planned(read, "", "design.fresh=block")
    assert apart.estimate.memory_bytes < block.estimate.memory_bytes
