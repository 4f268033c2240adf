"""A database is named by its own modules alone: everything else asks the registry.

Run with `-s`, it prints how many files name one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tare.databases import registry
from tests.source_names import named, trees

NAMES = "|".join(registry.names())
OWN = re.compile(rf"databases/({NAMES})/|databases/registry\.py|cli/doctor_({NAMES})\.py")
"""Files of a database, which may name it; the registry says which one a study has by default."""
MODULES = re.compile(rf"tare\.databases\.({NAMES})(\.|$)")
ANOTHER_THING = {
    "analysis/stated_database.py": "the database that cassandra-stress loads",
    "artifacts/tree.py": "a directory of the locked files, which are Cassandra's",
    "cli/doctor.py": "the question that is MongoDB's alone",
    "imports/ycsb.py": "what YCSB's bindings load",
    "knowledge/proposal.py": "the database of the studies that advice proposes",
    "lab/class_archives.py": "archives of the classes of a JVM, which are Cassandra's",
    "lab/quiet_servers.py": "a protocol of that name",
    "load/specification.py": "a field of what tare-load is told, which has a protocol's name",
}
"""Files in which the same word names something else, or which are about one of them alone."""


def test_no_file_names_a_database_that_is_not_its_own() -> None:
    found = {name: list(of_databases(tree)) for name, tree in trees() if not OWN.search(name)}
    naming = {name: words for name, words in found.items() if words}
    print(f"{len(naming.keys() - ANOTHER_THING.keys())} files name a database outside its module")
    assert {name: words for name, words in naming.items() if name not in ANOTHER_THING} == {}
    assert ANOTHER_THING.keys() - naming.keys() == set(), "take these off the list"


def test_what_names_a_database_is_found() -> None:
    code = (
        "from tare.databases.cassandra.cluster import CassandraCluster\n"
        "from tare.databases import mongodb\n"
        "def usual():\n"
        "    '''cassandra'''\n"
        "    return 'cassandra'\n"
    )
    assert sorted(of_databases(ast.parse(code))) == [
        "cassandra", "tare.databases.cassandra.cluster", "tare.databases.mongodb",
    ]  # fmt: skip


def of_databases(tree: ast.Module) -> Iterator[str]:
    """Literals that are a database's name, and modules of one that are imported."""
    return named(tree, registry.names(), "tare.databases", MODULES)
