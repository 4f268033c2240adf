"""Measures a plan's trials, and shows the progress."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tare.cli.background_load import warn_if_busy
from tare.cli.console import Terminal, say
from tare.cli.interim_looks import judge_of
from tare.cli.live import LiveView
from tare.cli.options import study_words
from tare.cli.plan_text import cost, left_out_lines
from tare.cli.shortfall import show_shortfall
from tare.cli.weigh_first import prices_for
from tare.lab import clean
from tare.lab.directory import REPORTED, choose, done_trials, unreported
from tare.lab.extension import choose_extended
from tare.lab.journal import Journal
from tare.lab.progress import Silent
from tare.lab.run import Lab, RunOutcome
from tare.lab.run_lock import RunLock
from tare.records.layout import RunFiles

if TYPE_CHECKING:
    from tare.lab.directory import Unreported
    from tare.lab.progress import Watcher
    from tare.records.run_prices import RunPrices
    from tare.study.plan import Plan


def begin_words(
    study: Path,
    set_: list[str] | None,
    scale: str | None,
    only: list[str] | None,
    runs: Path,
    name: str | None,
) -> str:
    """The command line of such a run, for extending it."""
    words = ["tare", "run", *study_words(study, set_, scale, only)]
    words += ["--runs", str(runs)] if runs != Path("runs") else []
    words += ["--name", name] if name else []
    return shlex.join(words)


def measure(
    plan: Plan,
    study: Path,
    runs: Path,
    name: str | None,
    *,
    quiet: bool,
    command: str = "",
    extend: bool = False,
    weigh: bool = True,
) -> RunOutcome:
    """Measure the plan's remaining trials, and show the progress.

    A run of the plan that was killed between its end and its report is taken as this run.

    Args:
        study: the file that the plan was made from; the run keeps it.
        name: the run's name; None: the study's name.
        quiet: show nothing.
        command: starts such a run; empty: no command can extend the run.
        extend: the study's finished run is extended to the plan's rounds.
        weigh: prices may be weighed first, if there are none.
    """
    ended = unreported(runs.absolute(), plan.study, name)
    if ended is not None:
        return _after_end(ended, quiet=quiet)
    find = choose_extended if extend else choose
    directory = find(runs.absolute(), plan.study, name)
    judge = judge_of(directory.files, len(plan.rounds))
    if command and name is None and directory.name != plan.study.study:
        command = f"{command} --name {directory.name}"

    def lab(watcher: Watcher, prices: RunPrices | None) -> Lab:
        return Lab(plan, directory, study, watcher, judge=judge, command=command, prices=prices)

    with RunLock(directory.name):
        pass  # a busy machine is reported before anything of this run; the lab takes the lock again
    if quiet:
        prices = prices_for(plan, directory.files, weigh=weigh, say=lambda line: None)
        return lab(Silent(), prices).run()
    console = Terminal()
    if directory.note:
        console.print(directory.note)
    verb = "extending" if extend else "resuming" if directory.resumed else "beginning"
    console.print(
        f"{verb} {directory.name}: {len(plan.trials) - len(directory.done)} trials to do, "
        f"at most about {cost(plan.estimate.seconds)} in all",
    )
    for line in [*left_out_lines(plan), *_naming(plan)]:
        console.print(line)
    warn_if_busy(console)
    show_shortfall(plan, console)
    prices = prices_for(plan, directory.files, weigh=weigh, say=console.print)
    with LiveView(console) as view:
        return lab(view, prices).run()


def _naming(plan: Plan) -> list[str]:
    """Explains a trial's name and its line."""
    if not plan.trials:
        return []
    one = plan.trials[0]
    return [
        f"a trial's name, e.g. {one.name}: deployment {one.round}, block {one.block}, condition "
        f"{one.condition}; its line has that trial's own sums, which no effect is made of alone"
    ]


def _after_end(ended: Unreported, *, quiet: bool) -> RunOutcome:
    """Remove what a finished run left behind; returns its outcome."""
    root = ended.files.root
    with RunLock(root.name):
        for fault in clean.remove(clean.find(root.parent)):
            say(f"something was left: {fault}", err=True)
    if not quiet:
        say(f"{root.name} has ended without its report, which is written now; no trial is run")
    return RunOutcome(root, len(done_trials(ended.files)), ended.failed, resumed=True)


def note_reported(run: Path) -> None:
    """Record the report in the journal, so that the same command begins another run."""
    Journal(RunFiles(run).journal).write(REPORTED)
