"""Simulates every scenario, prints the tables, and writes them into docs/calibration.md."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.calibration.designs import CONDITIONAL, DESIGNS, Design
from bench.calibration.looks import Looked, looked
from bench.calibration.noise import KINDS
from bench.calibration.page import (
    fill,
    kinds_table,
    looks_tables,
    power_table,
    promises_tables,
    sliced_looks_tables,
    spread_table,
)
from bench.calibration.power import Power, planned_power
from bench.calibration.simulate import CVS, Result, simulate
from bench.calibration.sliced_looks import simulate as simulate_looks
from bench.calibration.slices import TROUBLES
from bench.calibration.spread import SPREAD_DESIGNS, Spread, spread

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"
STUDIES = 400
"""Per scenario and CV, so that a rate near 95% has a standard error of about 0.4%."""
PLANNED = 300
"""First studies per plan: each costs a first, a second and an extended study."""
LOOKED = 2000
"""Studies per design and kind of noise of the rules for looks: each counts once."""
SLICED = 1100
"""Studies in slices per trouble, so that a rate near 95% has a standard error of at most 0.7%."""
LOOKED_AT = [Design(f"{n} conditions, rounds of 4 blocks", n, 8, 4) for n in (2, 5)]
PLAN_KINDS = [kind for kind in KINDS if kind.name in ("normal", "t3")]


def main() -> None:
    """Run everything; with a number of studies, fewer, and the page stays as it is."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibration", description=__doc__)
    parser.add_argument(
        "studies", type=int, nargs="?", help=f"studies per scenario (default: {STUDIES})"
    )
    alone = parser.add_mutually_exclusive_group()
    alone.add_argument("--looks", action="store_true", help="only studies with looks")
    alone.add_argument(
        "--sliced-looks", action="store_true", help="only studies in slices with looks"
    )
    arguments = parser.parse_args()
    asked = arguments.studies
    everything = not (arguments.looks or arguments.sliced_looks)
    tables = _without_looks(asked) if everything else {}
    if everything or arguments.looks:
        tables["looks"] = _looks(asked or LOOKED)
    if everything or arguments.sliced_looks:
        tables["sliced looks"] = _sliced_looks(asked or SLICED)
    print("\n\n".join(tables.values()))
    if asked is None:
        for name, text in tables.items():
            fill(PAGE, name, text)


def _without_looks(asked: int | None) -> dict[str, str]:
    """Every part but those on looks."""
    start = time.process_time()
    tables = {
        "kinds": kinds_table(),
        "promises": promises_tables(_promises(asked or STUDIES)),
        "power": power_table(_plans(min(asked or PLANNED, PLANNED))),
        "spread": spread_table(_spreads(asked or STUDIES)),
    }
    spent = time.process_time() - start
    tables["cost"] = (
        f"{asked or STUDIES} studies per kind of noise, design and CV; all but the parts on looks "
        f"took {spent / 60:.0f} minutes of one core."
    )
    return tables


def _looks(studies: int) -> str:
    start = time.process_time()
    found: dict[str, list[Looked]] = {
        f"{design.name}, {kind.name}": looked(design, kind, studies)
        for design in LOOKED_AT
        for kind in PLAN_KINDS
    }
    spent = max((time.process_time() - start) / 60, 1)
    cost = f"{studies} studies per table, about {spent:.0f} min of one core."
    return f"{looks_tables(found)}\n\n{cost}"


def _sliced_looks(studies: int) -> str:
    """On all cores: each process starts anew, because a forked one would inherit locks."""
    start = time.monotonic()
    workers = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = [simulate_looks(trouble, studies, pool.map) for trouble in TROUBLES]
    spent = max((time.monotonic() - start) / 60, 1)
    cost = f"{studies} studies per trouble, about {spent:.0f} min on {workers} cores."
    return f"{sliced_looks_tables(found)}\n\n{cost}"


def _promises(studies: int) -> list[Result]:
    return [simulate(d, kind, studies) for d in (*DESIGNS, CONDITIONAL) for kind in d.kinds]


def _plans(studies: int) -> list[Power]:
    plans = (
        planned_power(d, kind, cv, studies) for d in DESIGNS for kind in PLAN_KINDS for cv in CVS
    )
    return [plan for plan in plans if plan is not None]


def _spreads(studies: int) -> list[Spread]:
    return [spread(d, kind, studies) for d in SPREAD_DESIGNS for kind in d.kinds]


if __name__ == "__main__":
    main()
