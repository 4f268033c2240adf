"""Every contrast of a study on one metric: the trials that enter, and their estimate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from tare.analysis.catalogue import has_ratio
from tare.analysis.inference.averages import WORDS, Typical, average, averaged_logs
from tare.analysis.inference.bootstrap import Resampled
from tare.analysis.inference.crosschecks import check_blocks, check_independent
from tare.analysis.inference.estimates import Stratum, estimate, make_stratum
from tare.analysis.inference.independent import estimate_independent, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tare.analysis.inference.averages import Average, How
    from tare.analysis.inference.contrasts import Contrast, Contrasts
    from tare.analysis.inference.estimates import Cell, Estimate, Logs
    from tare.analysis.inference.independent import Sample
    from tare.analysis.model import CrossCheck
    from tare.analysis.trials import Trial
    from tare.study.question import AnalysisSection

Samples = dict[str, "Sample"]
"""Condition to its independent repetitions."""


@dataclass(frozen=True)
class Compared:
    """One contrast on one metric.

    Attributes:
        values: typical value of baseline and treatment, in the metric's unit.
        trials: single values of both sides that entered, where these are single conditions.
        cells: pairs of conditions averaged.
        repetitions: trials that entered, of both sides.
        crosschecks: the results of other methods, given the p value of the interval.
    """

    contrast: Contrast
    estimate: Estimate
    values: tuple[float, float]
    trials: tuple[list[float], list[float]]
    cells: int
    repetitions: int
    crosschecks: Callable[[float | None], list[CrossCheck]]


@dataclass(frozen=True)
class Rules:
    """How a study's trials are put together.

    Attributes:
        by_deployment: one life of a cluster serves all blocks of its round.
        independent: repetitions are no pairs.
        how: the averages asked for.
        served: condition to its deployments; empty for imported trials.
    """

    by_deployment: bool
    independent: bool = False
    how: How = "model"
    served: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def shared(self, contrast: Contrast) -> bool:
        """Baseline and treatment were served by the very same deployments."""
        return all(self.served.get(b) == self.served.get(t) for b, t in contrast.cells)

    def alike(self, contrast: Contrast) -> bool:
        """Deployments of both sides serve equally many conditions."""
        return all(self.sharing(b) == self.sharing(t) for b, t in contrast.cells)

    def sharing(self, condition: str) -> int:
        """Conditions that a condition's deployments serve."""
        own = self.served.get(condition, frozenset())
        return sum(not own.isdisjoint(other) for other in self.served.values())

    def peers(
        self,
        contrast: Contrast,
        stratum: Mapping[str, Iterable[str]],
        repeats: Sequence[str] = (),
    ) -> list[str]:
        """The members of a stratum that vary as the contrast does, its two sides among them.

        Ways into one deployment share the level of that deployment. Beside a comparison of
        deployments they would hide a part of the variance between deployments and be counted as
        independent. Beside a comparison of ways, a way into another deployment would add it.

        Args:
            stratum: conditions, or averages, that share a baseline, to the conditions in each.
            repeats: repeats of the baseline, which are among them.
        """
        served = {
            name: frozenset[str]().union(*(self.served.get(one, ()) for one in parts))
            for name, parts in stratum.items()
        }
        if self.shared(contrast):
            return [name for name, own in served.items() if own == served[contrast.baseline]]
        sides = contrast.baseline, contrast.treatment, *repeats
        return apart(served, [name for name in sides if name in served])

    def estimate(
        self, stratum: Stratum, contrast: Contrast, repeats: Sequence[str] = ()
    ) -> Estimate | None:
        """As `estimates.estimate`, given what is known of the deployments of both sides."""
        shared, alike = self.shared(contrast), self.alike(contrast)
        return estimate(stratum, contrast.treatment, shared=shared, alike=alike, repeats=repeats)

    def repeats(self, contrast: Contrast, contrasts: Contrasts) -> list[str]:
        """The baseline's setup under other names, on deployments that neither side has.

        Imported trials have none: that two of their conditions are the same setup is a guess.
        """
        taken = set().union(*(self.served.get(name, ()) for name in contrast.cells[0]))
        found: list[str] = []
        if contrast.rows or contrast.aa or self.shared(contrast):
            return found
        for name in contrasts.repeats(contrast.baseline):
            own = self.served.get(name, frozenset())
            if own and taken.isdisjoint(own):
                found.append(name)
                taken |= own
        return found


def apart(served: Mapping[str, frozenset[str]], first: Sequence[str] = ()) -> list[str]:
    """These conditions, and each other condition whose deployments serve none before it.

    Args:
        served: condition to its deployments; none where they are not known.
    """
    kept = list(first)
    taken = set[str]().union(*(served[name] for name in first))
    for name, own in served.items():
        if name not in kept and taken.isdisjoint(own):
            kept.append(name)
            taken |= own
    return kept


def make_rules(
    trials: Sequence[Trial], asked: AnalysisSection | None, *, by_deployment: bool
) -> Rules:
    """The rules that follow from the study and, where it leaves them open, from its trials.

    Trials of other tools are independent repetitions: nothing says that trials of the same number
    were measured side by side.
    """
    pairing = asked.pairing if asked else "auto"
    imported = [trial for trial in trials if trial.manifest.source is not None]
    return Rules(
        by_deployment=by_deployment and not imported,
        independent=pairing == "none" or (pairing == "auto" and bool(imported)),
        how=asked.over.how if asked and asked.over else "model",
        served={} if imported else _deployments(trials),
    )


def _deployments(trials: Iterable[Trial]) -> dict[str, frozenset[str]]:
    """Condition to the deployments that served it."""
    served: dict[str, set[str]] = {}
    for trial in trials:
        if trial.done:
            served.setdefault(trial.condition, set()).add(trial.manifest.deployment)
    return {condition: frozenset(ids) for condition, ids in served.items()}


def logs_of(trials: Iterable[Trial]) -> dict[str, Logs]:
    """Metric to condition to (round, block) to log value, over all completed trials.

    If a trial was recorded twice, the later attempt counts.
    """
    logs: dict[str, Logs] = {}
    for trial in sorted(trials, key=lambda t: t.manifest.attempt):
        condition, cell = trial.condition, trial.cell
        for metric, value in trial.values.items():
            if value > 0 and has_ratio(metric):
                logs.setdefault(metric, {}).setdefault(condition, {})[cell] = math.log(value)
    return logs


def slice_noise_of(trials: Iterable[Trial]) -> dict[tuple[str, str], dict[Cell, float]]:
    """(metric, condition) to (round, block) to the standard error that slices leave its log value.

    If a trial was recorded twice, the later attempt counts.
    """
    found: dict[tuple[str, str], dict[Cell, float]] = {}
    for trial in sorted(trials, key=lambda t: t.manifest.attempt):
        for metric, error in trial.slice_noise.items():
            found.setdefault((metric, trial.condition), {})[trial.cell] = error
    return found


def samples_of(trials: Iterable[Trial]) -> dict[str, Samples]:
    """Metric to condition to its independent repetitions.

    An imported trial is one repetition. In Tare's own runs a deployment is one: trials of one life
    of a cluster are related, and enter as their geometric mean.
    """
    units: dict[str, dict[str, dict[str, dict[Cell, float]]]] = {}
    for trial in sorted(trials, key=lambda t: t.manifest.attempt):
        unit = trial.name if trial.manifest.source else trial.manifest.deployment
        for metric, value in trial.values.items():
            if value > 0 and has_ratio(metric):
                own = units.setdefault(metric, {}).setdefault(trial.condition, {})
                own.setdefault(unit, {})[trial.cell] = math.log(value)
    return {
        metric: {
            condition: sample([math.exp(sum(v.values()) / len(v)) for v in own.values()])
            for condition, own in conditions.items()
        }
        for metric, conditions in units.items()
    }


def compare_independent(samples: Samples, contrasts: Contrasts, rules: Rules) -> Iterator[Compared]:
    """Every contrast that has repetitions on both sides."""
    typical = {name: one.typical for name, one in samples.items()}
    strata = _strata(contrasts)
    resampled = Resampled(samples)
    for contrast in contrasts.of:
        how = rules.how if contrast.rows else "model"
        found = average(contrast, how, typical)
        if found is None:
            continue
        stratum = strata[contrast.baseline, contrast.over]
        result = estimate_independent(
            found, samples, stratum, how, len(contrast.cells), rules.served
        )
        if result is None:
            continue
        sides = found.baseline, found.treatment
        base, treated = ([v for name in side for v in samples[name].values] for side in sides)
        yield Compared(
            contrast,
            result,
            found.values,
            ([], []) if contrast.rows else (base, treated),
            len(found.cells),
            len(base) + len(treated),
            partial(check_independent, result, found, samples, resampled, how),
        )


def _strata(contrasts: Contrasts) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """(baseline, factors averaged over) to all conditions of the contrasts that share them."""
    strata: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    for contrast in contrasts.of:
        own = strata.setdefault((contrast.baseline, contrast.over), {})
        own.update((name, None) for pair in contrast.cells for name in pair)
    return {key: list(names) for key, names in strata.items()}


class Strata:
    """The stratum of each contrast on one metric, or count, made once for each."""

    def __init__(self, logs: Logs, contrasts: Contrasts, rules: Rules) -> None:
        self._logs, self._contrasts, self._rules = logs, contrasts, rules
        self._made: dict[tuple[str, ...], Stratum] = {}

    def of(self, contrast: Contrast, repeats: Sequence[str]) -> Stratum | None:
        """The contrast's stratum, with these repeats of its baseline; None without a baseline."""
        baseline, rules = contrast.baseline, self._rules
        if baseline not in self._logs:
            return None
        beside = {n: (n,) for n in self._contrasts.stratum(baseline) if n in self._logs}
        names = baseline, *sorted(set(rules.peers(contrast, beside, repeats)) - {baseline})
        if names not in self._made:
            members = {name: self._logs[name] for name in names}
            made = make_stratum(members, baseline, by_deployment=rules.by_deployment)
            self._made[names] = made
        return self._made[names]


def compare_in_blocks(logs: Logs, contrasts: Contrasts, rules: Rules) -> Iterator[Compared]:
    """Every contrast that has two complete units of analysis."""
    typical = {
        name: Typical(
            sum(math.exp(y) for y in cells.values()) / len(cells), sum(cells.values()) / len(cells)
        )
        for name, cells in logs.items()
        if cells
    }
    strata = Strata(logs, contrasts, rules)
    for contrast in contrasts.of:
        if contrast.rows:
            averaged = _average_in_blocks(logs, typical, contrast, contrasts, rules)
            if averaged is not None:
                yield averaged
            continue
        repeats = rules.repeats(contrast, contrasts)
        stratum = strata.of(contrast, repeats)
        if stratum is None:
            continue
        result = rules.estimate(stratum, contrast, repeats)
        if result is not None:
            pairs, own = result.pairs, logs[contrast.treatment]
            base = [math.exp(own[cell] - ratio) for cell, ratio in pairs.items()]
            treated = [math.exp(own[cell]) for cell in pairs]
            values = _geometric_mean(base), _geometric_mean(treated)
            again = sum(cell in logs.get(name, {}) for name in repeats for cell in pairs)
            yield Compared(
                contrast,
                result,
                values,
                (base, treated),
                1,
                2 * len(pairs) + again,
                partial(check_blocks, result),
            )


def _average_in_blocks(
    logs: Logs,
    typical: Mapping[str, Typical],
    contrast: Contrast,
    contrasts: Contrasts,
    rules: Rules,
) -> Compared | None:
    """Average inside each block first, then as for single conditions, with the ratio asked for."""
    found = average(contrast, rules.how, typical)
    if found is None:
        return None
    weights = {contrast.baseline: found.baseline, contrast.treatment: found.treatment}
    for other in contrasts.of:  # others that share the baseline, for the variance
        if (other.baseline, other.over) != (contrast.baseline, contrast.over):
            continue
        beside = average(other, rules.how, typical)
        if beside is not None and beside.baseline.keys() == found.baseline.keys():
            partner = dict(other.cells)
            weights.setdefault(
                other.treatment,
                beside.treatment
                if rules.how == "ratio-of-means"
                else {partner[b]: w for b, w in found.baseline.items()},
            )
    peers = rules.peers(contrast, weights)
    own = averaged_logs(logs, {name: weights[name] for name in peers})
    stratum = make_stratum(own, contrast.baseline, by_deployment=rules.by_deployment)
    result = rules.estimate(stratum, contrast)
    if result is None:
        return None
    cells, asked = len(found.cells), len(contrast.cells)
    of = f"{cells}" if cells == asked else f"{cells} of {asked}"
    how = rules.how if _whole(logs, found) else "model"
    words = f"{WORDS[how]} over {of} cells, averaged inside each block; {result.method}"
    result = replace(result, log_ratio=_centre(how, found, result), method=words)
    return Compared(
        contrast,
        result,
        found.values,
        ([], []),
        cells,
        2 * cells * len(result.pairs),
        partial(check_blocks, result),
    )


def _whole(logs: Logs, found: Average) -> bool:
    """Every condition of the average has the same blocks. With different blocks, a ratio of means
    would show which blocks were missed."""
    return len({frozenset(logs[name]) for name in (*found.baseline, *found.treatment)}) == 1


def _centre(how: How, found: Average, result: Estimate) -> float:
    """The ratio as asked; the model's own is the fit's, which allows for missing blocks."""
    return result.log_ratio if how == "model" else math.log(found.ratio)


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(value) for value in values) / len(values))
