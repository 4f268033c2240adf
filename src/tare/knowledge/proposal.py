"""The study that would settle a question, as a file that `tare plan` accepts."""

from __future__ import annotations

import os
import re
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from tare.databases.registry import declared
from tare.errors import KnowledgeError
from tare.knowledge.levels import levels_of
from tare.knowledge.proposed_sides import level_of, sides_of, why_not
from tare.machines.facts import local_facts
from tare.runtimes.registry import BARE, registered
from tare.study.database import Database
from tare.study.read import load_study

if TYPE_CHECKING:
    from pathlib import Path

    from tare.knowledge.query import Query
    from tare.knowledge.sizing import Size

_DATABASE = "cassandra"
_LEAST_CPUS = 2
"""With fewer CPUs, servers and clients cannot have their own."""
_SNITCH = """
  settings: {dynamic_snitch: false}  # else each cluster chooses by what it has seen who answers"""
_WORKLOADS = {"read": "ycsb-c", "write": "stress-write", "mixed": "stress-mixed"}
_THREADS = 32
_FEW_THREADS = 4
"""Where all conditions share a server, whose slices are shorter the less is in flight
(tare.study.slice_lengths)."""

_TEMPLATE = """\
# Proposed by `tare advise`, for a difference of {margin}: {deployments} deployments per condition.
{method}
study: {name}
question: {question}
database:
  kind: cassandra
  nodes: {nodes}
  replication_factor: {replicas}{consistency}{snitch}
platform: {{machines: local, {base}{server_cpus}}}{clusters}
client: {{machines: local, {client}{client_cpus}}}
{load_note}
load: {{workload: {workload}, records: 20_000, {intensity}, warmup: 2s,
       measure: 8s}}
factors:
  platform:
    {baseline}: {{}}
    {baseline}-again: {{}}  # A/A: the same setup under another name shows the noise
    {level}: {patch}
baseline: {{platform: {baseline}}}
design:
  deployments: {deployments}
  blocks: 3
  order: randomised
  fresh: deployment
  idle: pause
  reset: keep
  warm: {{gentle: 30s, at_least: 12s, at_most: 20s, window: 3s, bound: 5%}}
margins: {{service_demand: {margin}, throughput: {margin}, mean: {margin}, p99: 10%}}
{primary}"""
_OF_A_RATE = "analysis: {primary: [service_demand, all.mean, all.p99]}\n"
"""throughput is that of the rate"""


def study_text(asked: Query, size: Size) -> str:
    """A study of the asked platform against the one it replaces, with an A/A pair.

    Raises:
        KnowledgeError: the question is about a database or platform that a study cannot have.
    """
    if why := obstacle(asked):
        raise KnowledgeError(
            "no such study can be written",
            why=why,
            remedy="leave out --study-out; the findings stand without it",
        )
    note = load_note(asked)
    servers, clients = _cpus(asked)
    return _TEMPLATE.format(
        name=_name(asked),
        question=f"What does this cost here? {_plain(replace(asked, database=_DATABASE).words())}",
        deployments=size.deployments,
        margin=f"{size.margin:.3%}".rstrip("0%").rstrip(".") + "%",
        method=_comment(size.method),
        nodes=asked.nodes or asked.replication_factor or 1,
        replicas=asked.replication_factor or 1,
        workload=asked.workload or _WORKLOADS.get(asked.operation, "ycsb-a"),
        intensity=_intensity(asked),
        primary=_OF_A_RATE if _partial(asked) else "",
        load_note=_comment(note),
        consistency=_consistency(asked),
        snitch=_SNITCH if _chosen_from(asked) else "",
        server_cpus=servers,
        client_cpus=clients,
        **sides_of(asked),
    )


def _comment(text: str) -> str:
    return textwrap.fill(text, 98, initial_indent="# ", subsequent_indent="# ")


def _cpus(asked: Query) -> tuple[str, str]:
    """Limits that give servers and clients CPUs of their own, where both are on this machine and
    the user may set them."""
    cpus = local_facts().cpus
    if cpus < _LEAST_CPUS or os.geteuid() != 0 or not takes_turns(asked):
        return "", ""
    servers = "0" if cpus == _LEAST_CPUS else f"0-{cpus - 2}"
    return f', limits: {{cpuset: "{servers}"}}', f', limits: {{cpuset: "{cpus - 1}"}}'


def _consistency(asked: Query) -> str:
    """The question's levels of reads and writes, as a line of the file."""
    levels = levels_of(asked.consistency)
    if len(levels) < 2:
        return ""
    reads, writes = levels["reads"], levels["writes"]
    both = reads if reads == writes else f"{{read: {reads}, write: {writes}}}"
    return f"\n  consistency: {both}"


def _chosen_from(asked: Query) -> bool:
    """Whether a read leaves replicas out, so that something chooses among them."""
    read = levels_of(asked.consistency).get("reads", "QUORUM")
    level = {"replication_factor": asked.replication_factor or 1, "consistency": {"read": read}}
    return declared(_DATABASE).replica_chosen(Database.model_validate(level))


def write_study(path: Path, text: str) -> None:
    """Write the study and read it back, so that no file is left that cannot be planned.

    Raises:
        KnowledgeError: there is a file already.
        StudyError: the text is no valid study; the file is removed again.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise KnowledgeError(
            "not overwritten", where=str(path), why="there is a file already", remedy="name another"
        ) from error
    try:
        load_study(path)
    except BaseException:
        path.unlink()
        raise


def obstacle(asked: Query) -> str:
    """Why no study can answer the question here; empty where one can."""
    if asked.database not in ("", "cassandra"):
        return (
            "proposals are of Cassandra. Of MongoDB docs/mongodb.md has a study to begin with, "
            "and studies/truyen-2018-mongodb.yaml is a large one: name your own server in it"
        )
    return why_not(asked)


def takes_turns(asked: Query) -> bool:
    """The proposed study is measured in slices: its servers are units of this machine."""
    sides = (registered().get(name) for name in (asked.platform, asked.over))
    return not obstacle(asked) and all(one is not None and not one.orchestrator for one in sides)


def _name(asked: Query) -> str:
    parts = ["advise", asked.database or "cassandra", level_of(asked), asked.operation]
    return re.sub(r"[^a-z0-9-]+", "-", "-".join(part for part in parts if part).lower())[:64]


def _partial(asked: Query) -> bool:
    return asked.share is not None and asked.share < 1 and not asked.threads


def _intensity(asked: Query) -> str:
    """Fields of the load: threads of a closed loop, or the same share of the baseline's maximum."""
    if _partial(asked):
        return f"rate: {asked.share:.0%} of max, search: {{of: baseline}}, threads: {_THREADS}"
    return f"threads: {_threads(asked)}"


def _threads(asked: Query) -> int:
    """Operations in flight: as asked, else as many as answer best."""
    one_server = asked.platform == asked.over == BARE and not asked.against_clusters
    return asked.threads or (_FEW_THREADS if one_server else _THREADS)


def load_note(asked: Query) -> str:
    """The load of the proposed study in words."""
    if not _partial(asked):
        return f"Closed loop of {_threads(asked)} threads."
    return (
        f"Open loop at {asked.share:.0%} of the maximum of what is replaced, for all conditions "
        f"alike; the run looks for that maximum first, with {_THREADS} threads."
    )


def _plain(text: str) -> str:
    """Text that is safe as a plain YAML value."""
    return re.sub(r"[^A-Za-z0-9 .,%-]+", " ", text)
