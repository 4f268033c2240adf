"""Small studies and trials with chosen values, to know the answer of every exhibit beforehand."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tare.analysis.exhibits.make import make_exhibits
from tare.analysis.model import Effect, Series
from tare.analysis.trials import Trial
from tare.records.manifest import TrialManifest
from tare.study.conditions import expand
from tare.study.read import load_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.model import Exhibit, Grid
    from tare.study.schema import Study

STUDY = """\
study: scene
factors:
  platform:
    native: {}
    docker: {platform: {runtime: docker, network: bridge, storage: volume}}
    published: {platform: {runtime: docker, network: published, storage: volume}}
  threads:
    t10: {load.threads: 10}
    t20: {load.threads: 20}
    t40: {load.threads: 40}
baseline: {platform: native, threads: t10}
analysis:
  compare: [platform]
  by: [threads]
  show:
"""


def study(*show: str, text: str = STUDY) -> Study:
    """The study with these exhibits, each as one line of YAML."""
    lines = "".join(f"    - {one}\n" for one in show)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "study.yaml"
        path.write_text(text + lines, encoding="utf-8")
        return load_study(path)


def trial(
    condition: str, repetition: int, values: Mapping[str, float], deployment: str = ""
) -> Trial:
    """A finished trial, in its own deployment unless one is named."""
    name = f"D{repetition}-B01-{condition}"
    manifest = TrialManifest(
        run="scene",
        trial=name,
        condition=condition,
        levels={},
        status="done",
        round=repetition,
        block=1,
        position=1,
        deployment=deployment or name,
        started="2026-01-01T00:00:00+00:00",
        ended="2026-01-01T00:01:00+00:00",
        measure_start=0.0,
        measure_end=60.0,
        setup={},
        clients=[],
        warm_up=None,
        units=[],
        database={},
        caches_dropped=None,
        server_cpu_s=0.0,
        engine_cpu_s=0.0,
        machine_cpu_s=0.0,
        probe_cpu_s=0.0,
    )
    return Trial(name, manifest, values=dict(values))


def trials(values: Mapping[str, Sequence[float]], metric: str = "read.mean") -> list[Trial]:
    """Condition to the values of its repetitions, in order."""
    return [
        trial(condition, k, {metric: value, "throughput": 1e6 / value})
        for condition, own in values.items()
        for k, value in enumerate(own, start=1)
    ]


def series(one: Trial, **values: Sequence[float | None]) -> Series:
    """The trial's one-second series."""
    length = max(len(v) for v in values.values())
    return Series(
        trial=one.name,
        condition=one.condition,
        t=[float(k + 1) for k in range(length)],
        values={name: list(own) for name, own in values.items()},
    )


def effect(
    metric: str, levels: Mapping[str, str], ratio: float, over: Sequence[str] = ()
) -> Effect:
    """An effect of these levels over native."""
    return Effect(
        metric=metric,
        levels=dict(levels),
        baseline="native",
        treatment=".".join(levels.values()),
        factor="platform",
        aa=False,
        over=list(over),
        ratio=ratio,
        ci=(ratio - 0.02, ratio + 0.03),
        ci90=(ratio - 0.015, ratio + 0.02),
        verdict="different",
        margin=0.05,
        baseline_value=1.0,
        treatment_value=ratio,
        deployments=3,
        blocks=3,
        unit_of_analysis="block",
        df=2.0,
        sd_log=0.01,
        mde=0.03,
        needed=0,
        pairs=[],
        p=0.01,
        p_equivalence=0.5,
        method="",
    )


def exhibits(
    made: Study,
    done: Sequence[Trial],
    effects: Sequence[Effect] = (),
    lines: Sequence[Series] = (),
) -> list[Exhibit]:
    """The exhibits that the study asks for, from these records."""
    return make_exhibits(made, expand(made), done, effects, lines)


def exhibit(
    show: str,
    done: Sequence[Trial],
    effects: Sequence[Effect] = (),
    lines: Sequence[Series] = (),
) -> Exhibit:
    """One exhibit of the usual study."""
    return exhibits(study(show), done, effects, lines)[0]


def column(grid: Grid, name: str) -> list[str | float | None]:
    """A table's column."""
    place = grid.columns.index(name)
    return [row[place] for row in grid.rows]


def numbers(grid: Grid, name: str) -> list[float]:
    """A table's column, of numbers only."""
    return [value for value in column(grid, name) if isinstance(value, float)]
