"""A package adds the kind in docs/add-a-kind-of-machines.md to Tare without changing Tare."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tare.machines import registry
from tests.brought import install, told


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The directory where the page's package is installed."""
    page, level = "add-a-kind-of-machines.md", "namespace: {platform: {machines: netns}}"
    return install(page, "tare.machines", "netns", level, tmp_path, design="{slice: off}")


def test_a_study_names_it_and_editors_offer_it(installed: Path) -> None:
    found = told(
        installed,
        "from tare.study.json_schema import schema\n"
        "from tare.study.read import load_study\n"
        "from tare.study.plan import make_plan\n"
        "from tare.cli.taken_hosts import made_domains\n"
        "plan = make_plan(load_study(Path('study.yaml')))\n"
        "fields = schema()['$defs']\n"
        "offered = fields['Platform']['properties']['machines']['enum']\n"
        "clients = fields['Client']['properties']['machines']['enum']\n"
        "names = [one.name for one in plan.conditions]\n"
        "print(json.dumps([offered, clients, names, made_domains(plan)]))",
    )
    assert found[:3] == [
        [*registry.names(), "netns"], ["local", "ssh"], ["native", "namespace"],
    ]  # fmt: skip
    assert found[3][0] == "network namespaces, made for the run"
    assert found[3][1].startswith("  netns: 1 domain, ")


def test_what_is_missing_for_it_leaves_its_conditions_out(installed: Path) -> None:
    why = told(
        installed,
        "from functools import partial\n"
        "from tare.machines.declaration import Missing\n"
        "from tare.runtimes.availability import obstacle\n"
        "from tare.study.read import load_study\n"
        "from tare.study.plan import make_plan\n"
        "gone = lambda name: Missing(f'no {name}', 'get it')\n"
        "plan = make_plan(load_study(Path('study.yaml')), partial(obstacle, missing=gone))\n"
        "print(json.dumps([[one.condition.name, one.why] for one in plan.left_out]))",
    )
    assert why == [["namespace", "no netns"]]


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin"),
    reason="only root makes namespaces, with openssh-server: setup/ssh.sh, sudo make test",
)
def test_one_is_made_reached_and_gone(installed: Path) -> None:
    inside, outside, left = told(
        installed,
        "import os\n"
        "from tare.machines.made import made_for\n"
        "from tare.machines.ssh import Connection\n"
        "from tare.study.domains import domains_of\n"
        "from tare.study.read import load_study\n"
        "from tare.study.plan import make_plan\n"
        "plan = make_plan(load_study(Path('study.yaml')))\n"
        "made = made_for('run', domains_of(plan.conditions, plan.study.design, 2), print)\n"
        "try:\n"
        "    made.start(print)\n"
        "    (machine,) = made.machines.values()\n"
        "    connection = Connection(machine.host)\n"
        "    try: own = connection.check('readlink', '/proc/self/ns/net')\n"
        "    finally: connection.close()\n"
        "finally: made.close()\n"
        "print(json.dumps([own, os.readlink('/proc/self/ns/net'), made.directory.exists()]))",
    )
    assert inside.startswith("net:")
    assert inside != outside
    assert left is False
