"""Do prices add up: does a published port cost as much as a bridge plus a translated port?

    python -m bench.prices_add_up                  weighings of 100 s with 1 and with 32 in flight

A published port is a bridge plus a firewall rule that translates the address of each packet (DNAT).
Docker offers the bridge alone. This command makes the rule alone: clients call a native server at a
port that exists only in the rule, which has the form of Docker's own rules. All three are weighed
in turn over native. Needs root, iptables and a Docker engine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from tare.analysis.price_doubts import doubts
from tare.analysis.prices import prices
from tare.machines.facts import local_facts
from tare.records.kept_measurements import MeasuredMachine
from tare.runtimes import registry
from tare.runtimes.declaration import Declaration
from tare.runtimes.native import NativeRuntime

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Unpack

    from tare.machines.addresses import AddressPool
    from tare.records.prices import Interval
    from tare.runtimes.unit import Runtime, Site, SiteOptions

_NAME = "translated"
_ASKED = 19_042
_RULE = "-p tcp -m addrtype --dst-type LOCAL -d {address} --dport {asked} -j DNAT"


class _TranslatedRuntime(NativeRuntime):
    """Native processes, whose clients name a port that a firewall rule translates."""

    name = _NAME
    _rules: tuple[tuple[str, ...], ...] = ()

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        from tare.lab.quiet_servers import PORT

        site = super().site(name, **wanted)
        if not site.endpoint_host:
            return site
        words = _RULE.format(address=site.endpoint_host, asked=_ASKED).split()
        rule = (*words, "--to-destination", f"{site.endpoint_host}:{PORT}")
        _iptables("-A", rule)
        self._rules = (*self._rules, rule)
        return replace(site, reached={PORT: _ASKED}, here=(site.endpoint_host, PORT))

    def close(self) -> None:
        for rule in self._rules:
            _iptables("-D", rule)
        self._rules = ()
        super().close()


class _Translated(Declaration):
    name = _NAME
    noun = "a native process behind a rule that translates its port"
    in_place = True

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        return _TranslatedRuntime(run, work, pool, routable=routable)


def _iptables(action: str, rule: tuple[str, ...]) -> None:
    subprocess.run(["iptables", "-w", "-t", "nat", action, "OUTPUT", *rule], check=True)


def _register() -> None:
    known = cast("dict[str, Declaration]", registry.registered())
    known[_NAME] = _Translated()  # for this process alone


def add_up(in_flight: int, seconds: float, rounds: int) -> dict[str, object]:
    """The three ways' cost over native, microseconds per operation, and whether they agree."""
    from tare.lab.weighing import weigh  # lists the runtimes when it is imported

    weighed = weigh(
        [registry.BARE, registry.CONTAINER, _NAME], seconds, rounds, in_flight=[in_flight]
    )
    found = prices(weighed, MeasuredMachine.of(local_facts()))
    added = {one.way: one.added for one in found.prices if one.added is not None}
    bridge, rule, both = (
        added[name] for name in ("docker.bridge", f"{_NAME}.host", "docker.published")
    )
    low, high = bridge.low + rule.low, bridge.high + rule.high
    return {
        "in_flight": in_flight,
        "bridge": _rounded(bridge),
        "rule": _rounded(rule),
        "sum": [round(value, 3) for value in (bridge.value + rule.value, low, high)],
        "published": _rounded(both),
        "add up": low <= both.high and both.low <= high,
        "doubts": doubts(found),
    }


def _rounded(one: Interval) -> list[float]:
    return [round(value, 3) for value in (one.value, one.low, one.high)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--in-flight", type=int, action="append", help="repeatable (default: 1 and 32)"
    )
    parser.add_argument("--seconds", type=float, default=100.0, help="length of a weighing")
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    _register()
    for number in given.in_flight or [1, 32]:
        print(json.dumps(add_up(number, given.seconds, given.rounds)), flush=True)


if __name__ == "__main__":
    main()
