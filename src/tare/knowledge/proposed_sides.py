"""Both sides of the study that would settle a question, as text of its file; or why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.machines.registry import declared as machines
from tare.machines.registry import guests
from tare.runtimes.registry import BARE, containers, declared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.knowledge.query import Query


def sides_of(asked: Query) -> dict[str, str]:
    """The parts of the file that set the two sides of the comparison."""
    clusters = asked.against_clusters or asked.clusters or 1
    return {
        "base": _on(asked.over, *_replaced(asked)),
        "client": _client(asked),
        "clusters": f"\nclusters: {clusters}" if clusters > 1 else "",
        "baseline": _baseline(asked),
        "level": level_of(asked),
        "patch": _patch(asked),
    }


def why_not(asked: Query) -> str:
    """Why one study cannot compare these sides; empty where it can."""
    return next(_obstacles(asked), "")


def level_of(asked: Query) -> str:
    """The treatment's name."""
    if asked.platform == asked.over == BARE and not asked.against_clusters:
        return f"{asked.client}-client"
    if asked.platform == asked.over:
        return _inside(asked.platform, *_wanted(asked), asked.clusters if _many(asked) else None)
    both = "-and-client" if _moves_client(asked) else ""
    return f"{asked.platform}-{_wanted(asked)[0]}{both}"


def _obstacles(asked: Query) -> Iterator[str]:
    for platform in (asked.platform, asked.over):
        if platform in guests():
            yield machines(platform).no_proposal
    for platform, network, storage in (
        (asked.platform, *_wanted(asked)),
        (asked.over, *_replaced(asked)),
    ):
        for field, value in (("network", network), ("storage", storage)):
            fitting = declared(platform).fitting[field]
            if value not in fitting:
                yield f"{platform} has no {field} {value}: {', '.join(fitting)}"
    if asked.address or asked.against_address:
        yield f"this version gives machines no {asked.address or asked.against_address}"
    if asked.against_plugin:
        yield (
            "a cluster has one network plugin. Run a study on a cluster of each, then "
            "`tare compare` both runs"
        )
    if asked.against_replication_factor:
        yield (
            "proposals compare platforms. Copies are a factor of any study: levels "
            "{database.replication_factor: 1} and so on (docs/write-a-study.md)"
        )
    outside = asked.platform != asked.over
    runtime = declared(asked.platform)
    if outside and _wanted(asked)[0] in runtime.inside_only:
        yield (
            f"{asked.network} of a {runtime.title} is reached by containers on its network only. "
            f"Compare it inside the {runtime.title}: --over {runtime.name} --against-network "
            f"{runtime.from_outside}"
        )
    if not outside:
        moved = asked.against_network or asked.against_storage or asked.against_clusters
        if asked.platform == BARE and not (moved or asked.client in containers()):
            yield "both sides would be the same"
        if asked.platform != BARE and not moved:
            yield "it is not said what is replaced: --against-network or --against-storage"


def _wanted(asked: Query) -> tuple[str, str]:
    """Network and storage of the question."""
    network, storage = declared(asked.platform).proposed
    return asked.network or network, asked.storage or storage


def _replaced(asked: Query) -> tuple[str, str]:
    """Network and storage of the replaced side; on one platform the same, unless stated."""
    if asked.platform == asked.over:
        network, storage = _wanted(asked)
    else:
        network, storage = declared(asked.over).proposed
    return asked.against_network or network, asked.against_storage or storage


def _many(asked: Query) -> bool:
    return asked.against_clusters is not None


def _moves_client(asked: Query) -> bool:
    return asked.client in containers() and asked.over == BARE


def _on(platform: str, network: str, storage: str) -> str:
    return f"runtime: {platform}, network: {network}, storage: {storage}"


def _inside(platform: str, network: str, storage: str, clusters: int | None) -> str:
    count = f"-{clusters}-clusters" if clusters else ""
    return f"{BARE}{count}" if platform == BARE else f"{platform}-{network}-{storage}{count}"


def _baseline(asked: Query) -> str:
    network, storage = _replaced(asked)
    if asked.platform == asked.over:
        return _inside(asked.over, network, storage, asked.against_clusters)
    return BARE if asked.over == BARE else f"{asked.over}-{network}"


def _patch(asked: Query) -> str:
    parts = []
    if asked.platform != BARE:
        parts.append(f"platform: {{{_on(asked.platform, *_wanted(asked))}}}")
    if _moves_client(asked):
        parts.append(f"client: {{runtime: {asked.client}, network: bridge}}")
    if _many(asked):
        parts.append(f"clusters: {asked.clusters}")
    return "{" + ", ".join(parts) + "}"


def _client(asked: Query) -> str:
    """The client of every condition; over native only the treatment moves it."""
    if asked.platform == asked.over and declared(asked.over).inside_only:
        # one place from which all endpoints are reached
        return f"runtime: {asked.over}, network: bridge"
    both = asked.over != BARE and asked.client in containers()
    return f"runtime: {asked.client}, network: bridge" if both else f"runtime: {BARE}"
