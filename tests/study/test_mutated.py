"""Whatever a study's file holds, it is planned or refused in words, with the place in the file."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tare.errors import TareError
from tare.study.plan import make_plan
from tare.study.read import load_study
from tests.mutated import LONG, examples, mutations

STUDIES = Path(__file__).parents[2] / "studies"
SEEDS = [file.read_bytes() for file in sorted(STUDIES.glob("*.yaml"))]
SPICE = [
    *(b"{}", b"[]", b"~", b"-1", b"0", b"1e999", b".nan", b".inf", b"9" * 400, b"yes", b"? "),
    *(b"&a ", b"*a", b"<<: ", b"!!binary ", b"'", b"\x00", b"\xff", b"\xe2\x80\xae", b": ", b"- "),
    *(b"ycsb-c", b"docker", b"250ms", b"3%", b"2026-01-01", b"native", b"[bold red]", b"\x1b[31m"),
]


@settings(
    max_examples=examples(60),
    derandomize=not LONG,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
@given(data=st.data())
def test_a_mutated_study_is_planned_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes(data.draw(st.sampled_from(SEEDS).flatmap(lambda s: mutations(s, SPICE))))
    try:
        plan = make_plan(load_study(file))
    except TareError as refusal:
        assert refusal.what
        assert refusal.where.startswith(str(file)), refusal
        assert len(str(refusal)) < 20_000
    else:
        assert plan.trials
