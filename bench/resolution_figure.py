"""Draws half-widths over minutes of an old and a new design, as one SVG file.

    python -m bench.resolution OLD >old.jsonl; python -m bench.resolution NEW >new.jsonl
    python -m bench.resolution_figure old.jsonl new.jsonl --to docs/images/half-widths.svg

Each line shows the mean half-width of one kind of comparison after each round: between endpoints of
one server (in the old design, between containers), or between container and native process. A band
spans the smallest to the largest half-width. Several runs in one file are shown together.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import matplotlib
from matplotlib import pyplot

matplotlib.rcParams["svg.fonttype"] = "none"
matplotlib.rcParams["svg.hashsalt"] = "tare"

METRICS = {
    "CPU time per operation": ("service_demand", "cpu.machine_per_op"),
    "Throughput": ("throughput",),
}
STYLES = {
    ("old", "container against native"): ("tab:red", "--"),
    ("new", "container against native"): ("tab:red", "-"),
    ("new", "endpoints of one server"): ("tab:blue", "-"),
}
FULL_WIDTH_PERCENT = 50.0
"""Half-widths above this are not drawn: they say nothing."""

Widths = dict[tuple[str, int], list[tuple[float, float]]]


def kind_of(design: str, baseline: str, treatment: str) -> str | None:
    """The kind of a comparison; None: two native processes, or another kind that is not shown."""
    sides = ["native" if side.startswith("native") else "docker" for side in (baseline, treatment)]
    if sides == ["native", "docker"]:
        return "container against native"
    if sides == ["docker", "docker"] and design == "new":
        return "endpoints of one server"
    return None


def read(file: Path, design: str, metrics: tuple[str, ...]) -> dict[str, Widths]:
    """Kind of comparison to half-widths by run and round, each with its minutes."""
    found: dict[str, Widths] = defaultdict(lambda: defaultdict(list))
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        kind = kind_of(design, row["baseline"], row["treatment"])
        if kind and row["metric"] in metrics and row["half_width"] < FULL_WIDTH_PERCENT:
            found[kind][row["run"], row["rounds"]].append((row["minutes"], row["half_width"]))
    return found


def draw(files: dict[str, Path], to: Path) -> None:
    """The figure: a panel for each metric, a line for each design and kind of comparison."""
    figure, panels = pyplot.subplots(1, len(METRICS), figsize=(9, 4), sharey=True)
    for axes, (title, metrics) in zip(panels, METRICS.items(), strict=True):
        for design, file in files.items():
            for kind, widths in read(file, design, metrics).items():
                colour, dash = STYLES[design, kind]
                label = f"{kind}, {design} design"
                for run in dict.fromkeys(run for run, _ in widths):
                    points = sorted(rows for (name, _), rows in widths.items() if name == run)
                    minutes = [rows[0][0] for rows in points]
                    means = [sum(width for _, width in rows) / len(rows) for rows in points]
                    least = [min(width for _, width in rows) for rows in points]
                    greatest = [max(width for _, width in rows) for rows in points]
                    axes.plot(minutes, means, dash, color=colour, label=label, linewidth=1.5)
                    axes.fill_between(
                        minutes, least, greatest, color=colour, alpha=0.1, linewidth=0
                    )
                    label = "_"  # matplotlib leaves such labels out of the legend
        axes.set_title(title, fontsize=11)
        axes.set_xlabel("minutes of study")
        axes.set_yscale("log")
        axes.grid(visible=True, which="both", alpha=0.25)
        axes.set_yticks([0.5, 1, 2, 5, 10, 20, 50], ["0.5", "1", "2", "5", "10", "20", "50"])
    panels[0].set_ylabel("half-width of the 95% interval, percent")
    panels[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(to, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("old", type=Path, help="JSON lines from bench.resolution")
    parser.add_argument("new", type=Path)
    parser.add_argument("--to", type=Path, required=True, help="SVG file to write")
    options = parser.parse_args()
    draw({"old": options.old, "new": options.new}, options.to)


if __name__ == "__main__":
    main()
