"""A treatment has one colour on the whole page."""

from __future__ import annotations

from tare.analysis.model import Analysis, Chart, Exhibit, Layer
from tare.report.exhibits.styles import styles
from tare.report.palette import condition_classes
from tests.browser.sample import factorial_analysis

THREADS = ("t16", "t64", "t256")


def drawn(lines: dict[str, list[str]]) -> Exhibit:
    """An exhibit of these lines, each of these conditions."""
    layers = [
        Layer(kind="points", series=name, place=place, x=[0], y=[1], conditions=[conditions])
        for place, (name, conditions) in enumerate(lines.items())
    ]
    chart = Chart(title="Means", x_title="", y_title="Throughput", layers=layers)
    return Exhibit(name="bars-1", kind="mean-bars", title="Means", caption="", charts=[chart])


def averaged(*exhibits: Exhibit) -> Analysis:
    """Platforms at three numbers of threads, level by level and averaged over threads."""
    analysis = factorial_analysis()
    over = [
        e.model_copy(
            update={
                "treatment": platform,
                "baseline": "native",
                "levels": {"platform": platform},
                "over": ["threads"],
            }
        )
        for platform in ("docker-published", "docker-bridge")
        for e in analysis.effects[:1]
    ]
    analysis.effects += [e.model_copy(update={"aa": False}) for e in over]
    analysis.exhibits = list(exhibits)
    return analysis


PLATFORMS = drawn(
    {p: [f"{p}.{t}" for t in THREADS] for p in ("native", "docker-bridge", "docker-published")}
)


def hue(classes: dict[str, str], name: str) -> str:
    return classes[name].split()[0]


def test_the_average_and_every_level_of_a_treatment_have_the_colour_of_its_line() -> None:
    classes = condition_classes(averaged(PLATFORMS))
    style = styles(PLATFORMS, classes)
    for platform in ("native", "docker-bridge", "docker-published"):
        line = style[platform].css.split()[0]
        assert hue(classes, platform) == line
        assert {hue(classes, f"{platform}.{t}") for t in THREADS} == {line}


def test_conditions_of_one_colour_differ_by_their_dashes() -> None:
    classes = condition_classes(averaged(PLATFORMS))
    assert len({classes[f"docker-bridge.{t}"] for t in THREADS}) == len(THREADS)


def test_lines_that_are_no_treatments_do_not_decide_its_colour() -> None:
    names = [c.condition for c in factorial_analysis().conditions]
    by_threads = drawn({t: [n for n in names if n.endswith(f".{t}")] for t in THREADS})
    without = condition_classes(averaged())
    assert condition_classes(averaged(by_threads)) == without
    assert condition_classes(averaged(by_threads, PLATFORMS)) != without
