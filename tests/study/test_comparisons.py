"""The analysis compares what the plan says."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tare.analysis.inference.contrasts import make_contrasts
from tare.study.comparisons import comparisons
from tare.study.conditions import expand
from tare.study.schema import Study

FACTORS = st.dictionaries(
    st.sampled_from("abc"), st.integers(1, 3), min_size=1, max_size=3
)  # factor to its number of levels


@given(FACTORS, st.data())
def test_comparisons_are_those_of_the_analysis(factors: dict[str, int], data: Any) -> None:
    """Each pair of the analysis, before averages, and no other."""
    levels = {
        name: {f"{name}{n}": {"database.settings": {name: n}} for n in range(count)}
        for name, count in factors.items()
    }
    roles: dict[str, Any] = {}
    if data.draw(st.booleans(), "roles"):
        names = list(factors)
        roles = {"compare": names[:1], "by": names[1:2], "over": {"factors": names[2:3]}}
        if not names[2:3]:
            del roles["over"]
    document = {
        "study": "x",
        "factors": levels,
        "baseline": {name: f"{name}0" for name in factors},
        "analysis": roles,
    }
    study = Study.model_validate(document)
    some = [one for one in expand(study) if data.draw(st.booleans(), one.name)]
    asked = make_contrasts(some, study.baseline, study.analysis)
    cells = {pair for contrast in asked.of for pair in contrast.cells}
    assert {(base.name, one.name) for base, one in comparisons(study, some)} == cells
