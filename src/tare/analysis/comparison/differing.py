"""What else differs between two runs: software, machine, database, setups and study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tare.analysis.comparison.model import ProvenanceDifference
from tare.analysis.comparison.sides import declared_primary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.model import Analysis

UNKNOWN = "not recorded"
DEPTH = 12

# Facts that differ between any two runs and explain nothing: what was free at the start, where a
# cluster lay, which addresses it got.
_ALWAYS = ("memory_available", "disk_free", "hostname", "cluster_name", "host_id", "peers")
_PLACES = ("address", "directory", "directories", "seeds", "interface")


def differing(
    a: Analysis, b: Analysis, pairs: Sequence[tuple[str, str]]
) -> list[ProvenanceDifference]:
    """Every recorded fact that is not the same on both sides.

    Args:
        pairs: conditions of A and their partners in B, whose setups and files are compared.
    """
    found = []
    left, right = _sections(a.provenance), _sections(b.provenance)
    for section in dict.fromkeys([*left, *right]):
        for fact, one, other in _unequal(left.get(section, {}), right.get(section, {})):
            found.append(ProvenanceDifference(section=section, fact=fact, a=one, b=other))
    first, second = (", ".join(declared_primary(one)) or "none" for one in (a, b))
    if a.effects and b.effects and first != second:
        # first, because it changes the rules of the comparison
        found.insert(
            0, ProvenanceDifference(section="study", fact="primary metrics", a=first, b=second)
        )
    return found + _by_condition(a.provenance, b.provenance, pairs)


def _sections(provenance: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Facts of whole runs: section to fact to value."""
    environment = _mapping(provenance.get("environment"))
    database = _mapping(provenance.get("database"))
    study = _mapping(provenance.get("study"))
    rest = {k: v for k, v in environment.items() if k not in ("machine", "artifacts")}
    sections = {
        "software": provenance.get("software"),
        "machine": {**_mapping(environment.get("machine")), **_machine_seen(provenance), **rest},
        "database": {"files": environment.get("artifacts"), **database},
        "study": _study(study),
        "sources": provenance.get("sources"),
    }
    return {name: dict(_flatten(content, "")) for name, content in sections.items() if content}


def _study(study: Mapping[str, Any]) -> dict[str, Any]:
    """The study's own facts; the seed once, and no digest, which differs for any reason."""
    design = {k: v for k, v in _mapping(study.get("design")).items() if k != "seed"}
    return {**{k: v for k, v in study.items() if k != "digest"}, "design": design}


def _machine_seen(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The machine as the running units saw it, under the names of the environment's facts."""
    machine = _mapping(provenance.get("machine"))
    return {str(name).replace(" ", "_"): value for name, value in machine.items()}


def _by_condition(
    a: Mapping[str, Any], b: Mapping[str, Any], pairs: Sequence[tuple[str, str]]
) -> list[ProvenanceDifference]:
    """Setups, files, images and network paths of paired conditions; equal differences as one."""
    seen: dict[tuple[str, str, str, str], list[str]] = {}
    for first, second in pairs:
        for section in ("settings", "bits", "images", "paths"):
            one = _of_condition(a, section, first)
            other = _of_condition(b, section, second)
            for fact, x, y in _unequal(one, other):
                name = "setup" if section == "settings" else section
                seen.setdefault((name, fact, x, y), []).append(second)
    everywhere = [second for _, second in pairs]
    return [
        ProvenanceDifference(
            section=section,
            fact=fact,
            a=x,
            b=y,
            conditions=[] if names == everywhere else names,
        )
        for (section, fact, x, y), names in seen.items()
    ]


def _of_condition(provenance: Mapping[str, Any], section: str, condition: str) -> dict[str, str]:
    content = _mapping(provenance.get(section)).get(condition)
    if section == "settings":
        return dict(_flatten(content, "")) if content else {}
    # by role, not by unit: two runs may have other numbers of nodes and clients
    roles: dict[str, set[str]] = {}
    for unit, value in _mapping(content).items():
        roles.setdefault(_role(str(unit)), set()).add(str(value))
    return {role: " and ".join(sorted(values)) for role, values in roles.items()}


def _role(unit: str) -> str:
    if unit[1:].isdigit():
        return {"n": "database", "c": "client"}.get(unit[0], unit)
    return "database" if "-n" in unit else "client" if "-c" in unit else unit


def _unequal(left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for fact in dict.fromkeys([*left, *right]):
        one, other = left.get(fact, UNKNOWN), right.get(fact, UNKNOWN)
        if one != other and not _meaningless(fact):
            yield fact, one, other


def _meaningless(fact: str) -> bool:
    last = fact.rpartition(".")[2]
    return any(part in _ALWAYS for part in fact.split(".")) or last.endswith(_PLACES)


def _flatten(content: Any, name: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(content, Mapping) and content and depth < DEPTH:
        for key, value in content.items():
            yield from _flatten(value, f"{name}.{key}" if name else str(key), depth + 1)
    elif isinstance(content, list) and any(isinstance(item, Mapping) for item in content):
        for number, item in enumerate(content, start=1):
            place = name if len(content) == 1 else f"{name}.{number}"
            yield from _flatten(item, place, depth + 1)
    elif isinstance(content, list):
        yield name, ", ".join(str(item) for item in content) or "none"
    else:
        yield name, "none" if content is None else str(content)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
