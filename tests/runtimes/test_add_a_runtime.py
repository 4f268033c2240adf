"""A package adds the runtime in docs/add-a-runtime.md to Tare without changing Tare."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tare.runtimes import registry
from tests.brought import install, told


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The directory where the page's package is installed."""
    level = "unshared: {platform: {runtime: unshared}}"
    return install("add-a-runtime.md", "tare.runtimes", "unshared", level, tmp_path)


def test_its_module_has_some_fifty_lines(installed: Path) -> None:
    assert len((installed / "tare_unshared.py").read_text().splitlines()) <= 50


def test_a_study_names_it_and_editors_offer_it(installed: Path) -> None:
    found = told(
        installed,
        "from tare.study.json_schema import schema\n"
        "from tare.study.read import load_study\n"
        "from tare.study.plan import make_plan\n"
        "from tare.runtimes.availability import obstacle\n"
        "plan = make_plan(load_study(Path('study.yaml')), obstacle)\n"
        "offered = schema()['$defs']['Platform']['properties']['runtime']['enum']\n"
        "print(json.dumps([offered, [one.name for one in plan.conditions]]))",
    )
    assert found == [[*registry.names(), "unshared"], ["native", "unshared"]]


def test_what_it_has_not_is_refused_in_its_own_words(installed: Path) -> None:
    why = told(
        installed,
        "from tare.errors import StudyError\n"
        "from tare.study.read import load_study\n"
        "own = 'factors.platform.unshared.platform.network=bridge'\n"
        "try: load_study(Path('study.yaml'), [own])\n"
        "except StudyError as error: print(json.dumps(error.why))",
    )
    assert "a process in namespaces of its own has no bridge network; it is for docker" in why


def test_doctor_weighing_and_advice_know_it(installed: Path) -> None:
    seen, weighed, asked = told(
        installed,
        "from tare.cli.doctor_checks import _runtimes\n"
        "from tare.knowledge.proposed_sides import sides_of, why_not\n"
        "from tare.knowledge.query import Query\n"
        "from tare.lab.weighed_servers import RUNTIMES, ways\n"
        "asked = Query(platform='unshared')\n"
        "print(json.dumps([[one.what for one in _runtimes()],\n"
        "    [one.name for one in ways(['unshared'], [1])], [why_not(asked), sides_of(asked)]]))",
    )
    assert seen[-1] == "unshared runtime"
    assert weighed == ["native", "native again", "unshared.host"]
    assert asked[0] == ""
    assert asked[1]["patch"] == (
        "{platform: {runtime: unshared, network: host, storage: directory}}"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces: sudo make test")
def test_a_unit_runs_in_namespaces_of_its_own(installed: Path) -> None:
    inside, outside = told(
        installed,
        "from tare.machines.addresses import AddressPool\n"
        "from tare.runtimes.registry import declared\n"
        "from tare.runtimes.unit import Bits, Unit\n"
        "from tare.study.platform import Limits\n"
        "import os\n"
        "runtime = declared('unshared').make('namespaces', Path('work'), AddressPool())\n"
        "site = runtime.site('c1', role='client', network='host', storage='directory', group='g')\n"
        "unit = Unit(site, 'client', ['readlink', '/proc/self/ns/ipc'], {}, Limits(), Bits(''))\n"
        "running = runtime.launch(unit)\n"
        "lines = list(running.lines())\n"
        "running.stop()\n"
        "runtime.close()\n"
        "print(json.dumps([lines[0].strip(), os.readlink('/proc/self/ns/ipc')]))",
    )
    assert inside.startswith("ipc:")
    assert inside != outside
