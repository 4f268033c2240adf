"""Axes of exhibits have round ticks that span all values."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tare.analysis.model import Chart, Layer
from tare.report.exhibits.axes import categories, tick_text, x_span, y_span

VALUES = st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 3)), min_size=1, max_size=9)


def chart(y: list[float], kind: str = "points", **changes: object) -> Chart:
    layer = Layer.model_validate({"kind": kind, "series": "s", "x": list(range(len(y))), "y": y})
    return Chart.model_validate(
        {"title": "", "x_title": "", "y_title": "", "layers": [layer], **changes}
    )


@given(VALUES)
def test_the_axis_holds_every_value_between_its_end_ticks(values: list[float]) -> None:
    span = y_span(chart(values))
    slack = 1e-6 * max(1.0, *map(abs, values))
    assert span.low - slack <= min(values)
    assert max(values) <= span.high + slack
    assert 2 <= len(span.ticks) <= 9


@given(st.lists(st.floats(1, 1e6), min_size=1))
def test_bars_stand_on_zero(values: list[float]) -> None:
    assert y_span(chart(values, "bars")).low == 0


def test_values_far_from_zero_need_not_begin_there() -> None:
    assert y_span(chart([97, 99])).low > 90
    assert y_span(chart([97, 99], y_from_zero=True)).low == 0


def test_ticks_are_round() -> None:
    assert y_span(chart([0, 23])).ticks == [0, 5, 10, 15, 20, 25]


def test_few_steps_are_their_own_ticks() -> None:
    layer = Layer(kind="points", series="s", x=[10, 25, 50], y=[1, 2, 3])
    one = Chart(title="", x_title="", y_title="", layers=[layer])
    assert x_span(one).ticks == [10, 25, 50]


def test_units_stand_at_the_ticks() -> None:
    assert tick_text(2500, "us") == "2.5 ms"
    assert tick_text(-4, "%") == "\u22124%"
    assert tick_text(3, "count") == "3"


def test_long_names_are_wrapped_and_then_slanted() -> None:
    wide = categories(["client docker, server native"] * 2, 150)
    assert (wide.lines[0], wide.slanted) == (["client docker, server", "native"], False)
    narrow = categories(["client docker, server native"] * 12, 25)
    assert narrow.slanted
    assert narrow.height > wide.height
