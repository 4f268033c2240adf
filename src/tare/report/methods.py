"""A methods paragraph for a paper, from what a run really did."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tare.analysis.catalogue import SERVICE_DEMAND
from tare.databases import registry as databases
from tare.enumeration import listing
from tare.machines.registry import made_in_words
from tare.report import ending, identical, numbers
from tare.report.escaping import plain
from tare.report.words import in_sentence, primary_metrics
from tare.runtimes.registry import registered
from tare.study.design import OFF
from tare.study.quantities import parse_duration

MOST_METHODS = 3
"""Other ways of making an interval are stated beside each comparison, not in the paragraph."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tare.analysis.model import Analysis, Effect

_FEW = 8
"""at most so many are named one by one"""


def methods_paragraph(analysis: Analysis) -> str:
    """The origin of the numbers: set-up, design, unit of analysis, statistics, noise, machine.

    Only what the records hold is stated; the rest is called unknown. Plain text on one line, for
    the reader to put into a paper.
    """
    sentences = [
        *_platforms(analysis),
        *_paths(analysis),
        *_load(analysis),
        *(_imported(analysis) if analysis.imported else _design(analysis)),
        *_statistics(analysis),
        *ending.looks(analysis),
        *_noise(analysis),
        *identical.sentences(analysis),
        *_machine(analysis),
        *_outcome(analysis),
    ]
    return plain(" ".join(sentence for sentence in sentences if sentence))


def _platforms(analysis: Analysis) -> list[str]:
    """The compared platforms, and their database."""
    setups = _mapping(analysis.provenance.get("settings"))
    names = [c.condition for c in analysis.conditions]
    few = len(names) <= _FEW
    shown = listing(names) if few else f"{len(names)} conditions"
    what = f"the condition{'s' if len(names) > 1 else ''} {shown}" if few else shown
    factors = list(dict.fromkeys(f for c in analysis.conditions for f in c.levels))
    by = f" ({listing(factors)})" if factors and len(names) > 1 else ""
    database = _mapping(analysis.provenance.get("database"))
    version = _one(s.get("version") for s in _parts(setups, "database")) or database.get("version")
    told = str(database.get("kind") or _one(s.get("kind") for s in _parts(setups, "database")))
    own = databases.registered().get(told)
    kind = str(database.get("stand_in") or (own.title if own else ""))
    if analysis.imported or not kind:
        return [f"We compared {shown}{by}."]
    nodes = _one(s.get("nodes") for s in _parts(setups, "database"))
    copies = _one(s.get("replication_factor") for s in _parts(setups, "database"))
    if database.get("stand_in"):
        version = None  # it has one of its own, which its name states
    cluster = f"{kind} {version}" if version else kind
    if nodes:
        cluster += f" on {numbers.count(int(nodes), 'node')}"
    if copies:
        cluster += f" with replication factor {copies}"
    java = database.get("java")
    runs = f", Java {java}" if isinstance(java, str) else ""
    return [f"We measured {cluster}{runs}, in {what}{by}."]


def ways_taken(analysis: Analysis) -> dict[str, str]:
    """Condition to the path that packets to its nodes were seen to take; empty where all took the
    same path."""
    told = {
        condition: listing([str(path) for path in dict.fromkeys(_mapping(units).values())])
        for condition, units in _mapping(analysis.provenance.get("paths")).items()
    }
    return told if len(set(told.values())) > 1 else {}


def _paths(analysis: Analysis) -> list[str]:
    """The path of packets to the database, where conditions differ in it."""
    seen: dict[str, list[str]] = {}
    for condition, units in _mapping(analysis.provenance.get("paths")).items():
        for path in dict.fromkeys(_mapping(units).values()):
            seen.setdefault(str(path), []).append(condition)
    if not 1 < len(seen) <= _FEW:
        return []
    told = [f"{path} ({listing(names)})" for path, names in seen.items() if len(names) <= _FEW]
    return [f"The ways to the database: {'; '.join(told)}."] if len(told) == len(seen) else []


def _load(analysis: Analysis) -> list[str]:
    """The workload and its intensity, where they are the same in all conditions."""
    if analysis.imported:
        return []
    loads = _parts(_mapping(analysis.provenance.get("settings")), "load")
    if not loads:
        return []
    workload = _one("statements of the study" if o.get("statements") else o.get("workload")
                    for o in loads)  # fmt: skip
    records = _one(one.get("records") for one in loads)
    rate, threads = (_one(one.get(key) for one in loads) for key in ("rate", "threads"))
    parts = [f"The load was {workload or 'a workload that varied between conditions'}"]
    if records:
        parts.append(f"over {int(records):,} rows")
    if any(one.get("phases") for one in loads):
        parts.append("open loop with a rate that changed over time")
    elif isinstance(rate, (int, float)) and rate:
        parts.append(f"open loop at {float(rate):,.0f} operations/s per client")
    elif all(one.get("rate") is None for one in loads):
        flight = f"{threads} operations in flight" if threads else "a number of threads that varied"
        parts.append(f"closed loop with {flight} per client")
    warmup, measure = (_one(one.get(key) for one in loads) for key in ("warmup", "measure"))
    sentence = ", ".join(parts) + "."
    if measure and not any(one.get("phases") for one in loads):
        several = " or a multiple of it" if _unequal(analysis) else ""
        sentence += f" Every trial measured {_seconds(measure)}{several}"
        sentence += f" after {_seconds(warmup)} that were left out" if warmup else ""
        sentence += f"{_slices(analysis)}."
    return [sentence, *_clients(analysis)]


def _length(analysis: Analysis) -> Any:
    """The length of a slice; OFF without slices."""
    study = _mapping(analysis.provenance.get("study"))
    return _mapping(study.get("design")).get("slice", OFF)


def _unequal(analysis: Analysis) -> bool:
    """Whether some trials have more slices than others: where a server has several conditions."""
    own = {(trial.deployment, trial.condition) for trial in analysis.trials}
    servers = {deployment for deployment, _ in own}
    return bool(_length(analysis) != OFF) and len(own) > len(servers)


def under_load(analysis: Analysis) -> str:
    """The load for which every number of the answer holds, and the meaning of its first metric;
    empty: the conditions share no known load."""
    loads = _parts(_mapping(analysis.provenance.get("settings")), "load")
    workload, threads, rate = (
        _one(one.get(key) for one in loads) for key in ("workload", "threads", "rate")
    )
    if analysis.imported or not (workload and threads) or rate:
        return ""
    text = f"Load: {workload}, {threads} operations in flight; another load pays another share."
    if any(one.name == SERVICE_DEMAND for one in primary_metrics(analysis)):
        text += " Service demand is CPU time per operation."
    return plain(text)


def _slices(analysis: Analysis) -> str:
    """How the conditions of a block took turns, or that they did not, and the reason."""
    length = _length(analysis)
    if length == OFF:
        study = _mapping(analysis.provenance.get("study"))
        reason = str(_mapping(study.get("slicing")).get("why_not", ""))
        return f", in one piece (not in slices: {reason})" if reason else ", in one piece"
    more = (
        ": servers with fewer conditions, and ways that others are compared with, had more slices"
        if _unequal(analysis)
        else ""
    )
    return (
        f", in slices of {_seconds(length)}, in turn with the other conditions of its block{more}. "
        "Ratios of service demand, throughput, mean latencies and the servers' CPU use come from "
        "all slices of a block fitted together, in which bursts count less; percentiles come from "
        "all replies. Servers that take turns find colder caches than one that runs on, so that "
        "each operation costs more than there"
    )


def _clients(analysis: Analysis) -> list[str]:
    """Load generators other than Tare's own, and numbers that were searched."""
    said = {c.condition: c.load for c in analysis.conditions if c.load}
    return [f"{name}: {'; '.join(lines)}." for name, lines in said.items()]


def _design(analysis: Analysis) -> list[str]:
    """Rounds, blocks and their order."""
    study = _mapping(analysis.provenance.get("study"))
    design = _mapping(study.get("design"))
    if not design:
        return ["The design of the run is not recorded."]
    rounds, blocks = design.get("deployments"), design.get("blocks")
    rounds = analysis.ending.rounds if analysis.ending else rounds
    order = "in random order" if design.get("order") == "randomised" else "in a fixed order"
    seed = f" (seed {study.get('seed')})" if order == "in random order" else ""
    found = [
        f"Each of {numbers.count(int(blocks or 0), 'block')} per round held every condition once, "
        f"{order}{seed}, over {numbers.count(int(rounds or 0), 'round')}."
    ]
    found += _size(study)
    fresh = design.get("fresh")
    if fresh == "deployment":
        found.append("Every round deployed every condition's cluster anew.")
    elif fresh:
        found.append(f"Every {fresh} had a newly deployed cluster.")
    warm = [trial.warm for trial in analysis.trials if trial.warm is not None]
    if warm:
        found.append(
            "Each deployment was warmed up until throughput and CPU per operation were flat, or "
            f"its time was up; {sum(warm)} of {len(warm)} trials ran on a flat one."
        )
    return found


def _size(study: Mapping[str, Any]) -> list[str]:
    """The scale at which the study was run, and the part of it that was run."""
    scale, only = study.get("scale"), _mapping(study.get("only"))
    parts = [f"{factor} {listing(list(levels))}" for factor, levels in only.items()]
    return [
        *([f"The study was run at its scale {scale}."] if scale else []),
        *(
            [f"Of its conditions only those with {'; '.join(parts)} were selected."]
            if parts
            else []
        ),
    ]


def _imported(analysis: Analysis) -> list[str]:
    """Known and unknown facts of measurements by other tools."""
    files = _mapping(analysis.provenance.get("sources"))
    tools = [f"{numbers.count(int(n), 'file')} of {tool}" for tool, n in files.items()]
    done = sum(trial.status == "done" for trial in analysis.trials)
    return [
        f"The measurements were made with other tools and imported by Tare: {listing(tools)}, "
        f"{numbers.count(done, 'trial')}.",
        "The order of the trials, the state of the clusters before them and their warm-up are "
        "unknown to this analysis.",
    ]


def _statistics(analysis: Analysis) -> list[str]:
    """Unit of analysis, estimator, intervals, margins and multiplicity."""
    effects = [e for e in analysis.effects if not e.aa]
    if not effects:
        return ["No effect could be computed."]
    units = list(dict.fromkeys(e.unit_of_analysis for e in effects))
    counts = sorted({e.deployments for e in effects})
    span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    found = [
        "Effects are ratios of treatment to baseline, estimated on the log scale from "
        f"{'per-trial values' if units != ['deployment'] else 'means per deployment'}, "
        f"with 95% intervals; the unit of analysis is the {listing(units)} "
        f"({span} per comparison)."
    ]
    over = sorted({factor for e in effects for factor in e.over})
    if over:
        found.append(f"Some effects are averaged over {listing(over)}.")
    primary = [m.name for m in primary_metrics(analysis)]
    methods = list(dict.fromkeys(_interval(e.method) for e in effects if e.metric in primary))
    if len(methods) <= MOST_METHODS:
        found.append(f"Intervals: {'; or '.join(methods)}.")
    else:
        found.append("How each interval was made is stated beside it.")
    margins = {e.metric: e.margin for e in effects if e.margin is not None and e.metric in primary}
    titles = {m.name: in_sentence(m) for m in analysis.metrics}
    if margins:
        told = "; ".join(f"{numbers.share(m)} for {titles[n]}" for n, m in margins.items())
        found.append(
            "Equivalence was tested by two one-sided tests at 5% against the margins that the "
            f"study declares ({told})."
        )
    found += _adjustment(effects)
    if all(e.conditional for e in effects):
        found.append(
            "With one deployment per condition, the intervals are conditional on these clusters."
        )
    return found


def _interval(method: str) -> str:
    """How an interval was made, without details of one comparison."""
    first = re.split(r"\.(?:\s|$)", method, maxsplit=1)[0]
    return re.sub(r",? [\d.]+ degrees of freedom", "", first)


def _adjustment(effects: Iterable[Effect]) -> list[str]:
    """The corrections, and the sizes of their families."""
    families: dict[str, set[int]] = {}
    for effect in effects:
        found = re.fullmatch(r"(.+) over (\d+) (.+)", effect.adjustment)
        if found:
            families.setdefault(f"{found[1]} over {found[3]}", set()).add(int(found[2]))
    told = [
        f"{how} ({'a family' if len(sizes) == 1 else 'families'} of "
        f"{listing([str(n) for n in sorted(sizes)])})"
        for how, sizes in families.items()
    ]
    return [f"P values are adjusted after {' and '.join(told)}."] if told else []


def _noise(analysis: Analysis) -> list[str]:
    primary = {m.name: in_sentence(m) for m in primary_metrics(analysis)}
    floors = [f for f in analysis.noise_floor if f.metric in primary]
    if not floors:
        return ["No condition was measured twice under two names (A/A), so the noise floor is "
                "unknown."]  # fmt: skip
    told = listing([f"{numbers.share(f.floor)} for {primary[f.metric]}" for f in floors])
    return [f"Identical conditions (A/A) differed by up to {told} in 95% of pairs."]


def _machine(analysis: Analysis) -> list[str]:
    environment = _mapping(analysis.provenance.get("environment"))
    machine = _mapping(environment.get("machine"))
    software = _mapping(analysis.provenance.get("software"))
    version = software.get("tare")
    tool = f"Analysed with Tare {version}." if version else "Analysed with Tare."
    if not machine:
        return ["The machine is not recorded.", tool]
    parts = [f"{machine.get('cpus')} CPUs ({machine.get('cpu_model') or 'model unknown'})"]
    memory = machine.get("memory_bytes")
    if isinstance(memory, int | float):
        parts.append(f"{memory / 2**30:.1f} GiB of memory")
    if machine.get("kernel"):
        parts.append(f"Linux {machine['kernel']}")
    engines = (
        one.engine_in_words(_mapping(environment.get(name))) for name, one in registered().items()
    )
    parts += filter(None, engines)
    where = machine.get("virtualization")
    under = f", under {where}" if where and where not in ("none", "unknown") else ""
    hosts = _mapping(environment.get("hosts"))
    others = any("domain" not in _mapping(one) for one in hosts.values())
    what = "machine that controlled the hosts" if others else "machine"
    found = [*_hosts(hosts), f"The {what} had {', '.join(parts)}{under}."]
    idle = environment.get("idle_cpus")
    if idle == "poll":
        found.append("Its idle CPUs polled and did not halt.")
    elif isinstance(idle, str):
        found.append("Its idle CPUs halted.")
    return [*found, tool]


def _hosts(hosts: Mapping[str, Any]) -> list[str]:
    """The hosts reached by SSH that took part, identical ones together."""
    alike: dict[str, list[str]] = {}
    for name, facts in hosts.items():
        own = _mapping(facts)
        model = f" ({own['CPU model']})" if own.get("CPU model") else ""
        parts = [f"{own['cpus']} CPUs{model}"] if own.get("cpus") else []
        if str(own.get("memory", "")).isdecimal():
            parts.append(f"{int(str(own['memory'])) / 2**20:.1f} GiB of memory")
        if own.get("kernel"):
            parts.append(f"Linux {own['kernel']}")
        under = own.get("hypervisor")
        if under:
            parts.append("no hypervisor seen" if under == "none" else f"under {under}")
        domain = _mapping(own.get("domain"))
        if domain:
            parts.append(f"made for the run {made_in_words(domain)}")
        words = ", ".join(parts) or "nothing known"
        group = f"group {own['group']}: " if own.get("group") else ""
        alike.setdefault(f"{group}{words}", []).append(name)
    told = [f"{listing(names)} ({words})" for words, names in alike.items()]
    return [f"Hosts over SSH took part: {'; '.join(told)}."] if told else []


def _outcome(analysis: Analysis) -> list[str]:
    """Failed trials, and doubts, which a reader of the paper has to know, too."""
    failed = sum(trial.status == "failed" for trial in analysis.trials)
    found = [f"{numbers.count(failed, 'trial')} failed and entered no effect."] if failed else []
    if analysis.left_out:
        reasons = listing(list(dict.fromkeys(one.why for one in analysis.left_out)))
        missing = numbers.count(len(analysis.left_out), "further condition")
        found.append(f"{missing} of the study could not be run: {reasons}.")
    if not analysis.valid:
        found.append("The run is not valid: " + "; ".join(analysis.problems[:3]) + ".")
    return found


def _parts(setups: Mapping[str, Any], part: str) -> list[Mapping[str, Any]]:
    return [_mapping(_mapping(setup).get(part)) for setup in setups.values()]


def _one(values: Iterable[Any]) -> Any:
    """The value, if it is the same everywhere."""
    found = list(values)
    return found[0] if found and all(value == found[0] for value in found) else None


def _seconds(value: Any) -> str:
    """A duration; a study may hold it as it was written."""
    found = parse_duration(value)
    return f"{found:g} s" if isinstance(found, int | float) else str(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
