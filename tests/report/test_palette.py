"""A treatment has one colour on the whole page."""

from __future__ import annotations

import re

from tare.analysis.model import Analysis, Chart, Exhibit, Layer
from tare.report.exhibits.styles import styles
from tare.report.page import template
from tare.report.palette import condition_classes
from tests.browser.sample import factorial_analysis
from tests.report.sample import averaged_over

THREADS = ("t16", "t64", "t256")


def drawn(lines: dict[str, list[str]]) -> Exhibit:
    """An exhibit with these lines and their conditions."""
    layers = [
        Layer(kind="points", series=name, place=place, x=[0], y=[1], conditions=[conditions])
        for place, (name, conditions) in enumerate(lines.items())
    ]
    chart = Chart(title="Means", x_title="", y_title="Throughput", layers=layers)
    return Exhibit(name="bars-1", kind="mean-bars", title="Means", caption="", charts=[chart])


def averaged(*exhibits: Exhibit) -> Analysis:
    """Platforms at three thread counts, at each count and averaged over them."""
    analysis = factorial_analysis()
    over = [
        averaged_over("threads", analysis.effects[0], platform)
        for platform in ("docker-published", "docker-bridge")
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


def blocks_of(css: str) -> list[dict[str, str]]:
    """The colours of each style block that sets all of them: light, dark, print."""
    found = [dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", one)) for one in css.split("}")]
    return [one for one in found if "k6" in one]


def contrast(first: str, second: str) -> float:
    """The contrast ratio of WCAG 2.1."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((light(first), light(second)))
    return (high + 0.05) / (low + 0.05)


def test_the_percentages_on_coloured_bars_have_the_contrast_of_wcag_aa() -> None:
    css = template("figure.css")
    on = dict.fromkeys(("c0", "c1"), "on-deep")
    on |= dict.fromkeys(("c2", "c3", "c4", "c5", "c6"), "on-bright")
    for names, variable in re.findall(r"^(\.c[^{]*) { --on: var\(--([a-z-]+)\)", css, re.MULTILINE):
        assert {on.pop(one) for one in re.findall(r"c\d", names)} == {variable}
    assert on == {}
    modes = blocks_of(css)
    assert len(modes) == 3
    for mode in modes:
        for hue in range(7):
            text = mode["on-deep" if hue < 2 else "on-bright"]
            assert contrast(mode[f"k{hue}"], text) >= 4.5
