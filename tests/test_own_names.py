"""A database, a kind of machines and a runtime are named by their own modules alone.

Everything else asks their registry. Run with `-s`, it prints how many files name one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tare.databases import registry as databases
from tare.machines import registry as machines
from tare.runtimes import registry as runtimes
from tests.source_names import named, texts, trees


@dataclass(frozen=True)
class Sort:
    """One sort of things that have a registry.

    Attributes:
        package: from which a module of one may be imported by its name alone.
        own: files of one, which may name it, and the registry, which says what a study has by
            default; NAMES stands for any name here and below.
        modules: which modules are one's own, in full.
        another_thing: files in which the same word names something else, or which are about one of
            them alone; none decides anything by it.
        not_one: a module that is none's own, where it is imported by `asking`.
    """

    noun: str
    registry: Any
    package: str
    own: str
    modules: str
    another_thing: Mapping[str, str]
    not_one: str = ""
    asking: str = "(?!)"

    def pattern(self, text: str) -> re.Pattern[str]:
        return re.compile(text.replace("NAMES", f"({'|'.join(self.registry.names())})"))

    def named(self, tree: ast.Module) -> list[str]:
        """Literals that are one's name, and modules of one that are imported."""
        modules = self.pattern(self.modules)
        return sorted(named(tree, self.registry.names(), self.package, modules))

    def naming(self) -> dict[str, list[str]]:
        """What names one in each file that is none's own and does."""
        own = self.pattern(self.own)
        found = {name: self.named(tree) for name, tree in trees() if not own.search(name)}
        for name in filter(re.compile(self.asking).search, found):
            found[name] = [one for one in found[name] if one != self.not_one]
        return {name: words for name, words in found.items() if words}


DATABASES = Sort(
    "database",
    databases,
    "tare.databases",
    r"databases/NAMES/|databases/registry\.py|cli/doctor_NAMES\.py",
    r"tare\.databases\.NAMES(\.|$)",
    {
        "analysis/stated_database.py": "the database that cassandra-stress loads",
        "artifacts/tree.py": "a directory of the locked files, which are Cassandra's",
        "cli/doctor.py": "the question that is MongoDB's alone",
        "imports/ycsb.py": "what YCSB's bindings load",
        "knowledge/proposal.py": "the database of the studies that advice proposes",
        "lab/class_archives.py": "archives of the classes of a JVM, which are Cassandra's",
        "lab/quiet_servers.py": "a protocol of that name",
        "load/specification.py": "a field of what tare-load is told, which has a protocol's name",
    },
)
MACHINES = Sort(
    "kind of machines",
    machines,
    "tare.machines",
    r"(machines|runtimes)/NAMES([/_.])|machines/registry\.py",  # with the runtimes on its hosts
    r"tare\.machines\.NAMES(\.|_|$)",
    {
        "databases/mongodb/metrics.py": "MongoDB's own database of that name",
        "machines/addresses.py": "a field of `ip -json`",
        "machines/inventory/ansible.py": "Ansible's word for how it connects",
        "runtimes/gvisor/declaration.py": "a platform of gVisor's sandbox",
        "runtimes/replies.py": "the near end of a connection, as tare-pod tells it",
    },
    not_one="tare.machines.ssh",  # a connection, through which these ask machines
    asking=r"runtimes/ssh/|machines/(clocks|checkup|survey|prepare/.*)\.py",
)
RUNTIMES = Sort(
    "runtime",
    runtimes,
    "tare.runtimes",
    r"runtimes/(ssh/)?NAMES(/|[_.])|runtimes/registry\.py",
    r"tare\.runtimes\.(ssh\.)?NAMES([._]|$)",
    {
        "artifacts/host_libraries.py": "a directory of libraries in native code",
        "load/tools/cassandra_stress.py": "cassandra-stress's own word for a protocol of Cassandra",
        "machines/checkup.py": "the program docker of a host, which it has or not",
        "machines/prepare/deploy.py": "the package docker, which a host is given",
        "machines/prepare/run.py": "the step that gives it",
        "machines/survey.py": "the program docker of a host, as its answer has it",
    },
)


@pytest.mark.parametrize("of", [DATABASES, MACHINES, RUNTIMES], ids=lambda of: of.noun)
def test_no_file_names_one_that_is_not_its_own(of: Sort) -> None:
    naming = of.naming()
    print(f"{len(naming.keys() - of.another_thing.keys())} files name a {of.noun} of others")
    assert {name: words for name, words in naming.items() if name not in of.another_thing} == {}
    assert of.another_thing.keys() - naming.keys() == set(), "take these off the list"


@pytest.mark.parametrize(
    ("of", "word", "except_in", "most"),
    [
        # remedies and examples
        (MACHINES, r"(machines:? (to )?)NAMES(?![\w/-])", MACHINES.own, 5),
        # the program docker, examples, and native as the name of what others are compared with
        (RUNTIMES, r"(?<![\w./-])NAMES(?![\w/-])", r"^runtimes/", 23),
    ],
    ids=lambda of: getattr(of, "noun", None),
)
def test_texts_for_people_do_not_name_more_of_them(
    of: Sort, word: str, except_in: str, most: int
) -> None:
    own, name = of.pattern(except_in), of.pattern(word)
    naming = [
        file
        for file, tree in trees()
        if not own.search(file) and any(name.search(text) for text in texts(tree))
    ]
    print(f"{len(naming)} files have the name of a {of.noun} in a text")
    assert len(naming) <= most


@pytest.mark.parametrize(
    ("of", "code", "found"),
    [
        (
            DATABASES,
            "from tare.databases.cassandra.cluster import CassandraCluster\n"
            "from tare.databases import mongodb\n"
            "def usual():\n"
            "    '''cassandra'''\n"
            "    return 'cassandra'\n",
            ["cassandra", "tare.databases.cassandra.cluster", "tare.databases.mongodb"],
        ),
        (
            MACHINES,
            "from tare.machines.kvm.kinds import TCG\n"
            "from tare.machines import vmware_declaration\n"
            "def usual():\n"
            "    '''ssh'''\n"
            "    return 'local'\n",
            ["local", "tare.machines.kvm.kinds", "tare.machines.vmware_declaration"],
        ),
        (
            RUNTIMES,
            "from tare.runtimes.swarm.facts import NO_IP_VS\n"
            "from tare.runtimes import docker_engine\n"
            "import tare.runtimes.native\n"
            "def usual():\n"
            "    '''kubernetes'''\n"
            "    return 'kubernetes'\n",
            [
                "kubernetes", "tare.runtimes.docker_engine", "tare.runtimes.native",
                "tare.runtimes.swarm.facts",
            ],
        ),
    ],
    ids=lambda of: getattr(of, "noun", None),
)  # fmt: skip
def test_what_names_one_is_found(of: Sort, code: str, found: list[str]) -> None:
    assert of.named(ast.parse(code)) == found
