"""A runtime is named by its own modules alone: everything else asks the registry.

Run with `-s`, it prints how many files name one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tare.runtimes import registry
from tests.source_names import named, texts, trees

NAMES = "|".join(registry.names())
OWN = re.compile(rf"runtimes/(ssh/)?({NAMES})(/|[_.])|runtimes/registry\.py")
"""Files of a runtime, which may name it; the registry says which one a study has by default."""
MODULES = re.compile(rf"tare\.runtimes\.(ssh\.)?({NAMES})([._]|$)")
ANOTHER_THING = {
    "artifacts/host_libraries.py": "a directory of libraries in native code",
    "load/tools/cassandra_stress.py": "cassandra-stress's own word for a protocol of Cassandra",
    "machines/checkup.py": "the program docker of a host, which it has or not",
    "machines/prepare/deploy.py": "the package docker, which a host is given",
    "machines/prepare/run.py": "the step that gives it",
    "machines/survey.py": "the program docker of a host, as its answer has it",
}
"""Files in which the same word names something else; none decides anything by a runtime."""
MOST_IN_TEXTS = 23
"""Files whose texts for people have such a word: the program docker, examples, and native as the
name of what others are compared with."""


def test_no_file_names_a_runtime_that_is_not_its_own() -> None:
    found = {name: list(of_runtimes(tree)) for name, tree in trees() if not OWN.search(name)}
    naming = {name: words for name, words in found.items() if words}
    print(f"{len(naming.keys() - ANOTHER_THING.keys())} files name a runtime outside its module")
    assert {name: words for name, words in naming.items() if name not in ANOTHER_THING} == {}
    assert ANOTHER_THING.keys() - naming.keys() == set(), "take these off the list"


def test_texts_do_not_name_more_of_them() -> None:
    word = re.compile(rf"(?<![\w./-])({NAMES})(?![\w/-])")
    naming = [
        name
        for name, tree in trees()
        if not name.startswith("runtimes/") and any(word.search(text) for text in texts(tree))
    ]
    print(f"{len(naming)} files have the name of a runtime in a text")
    assert len(naming) <= MOST_IN_TEXTS


def test_what_names_a_runtime_is_found() -> None:
    code = (
        "from tare.runtimes.swarm.facts import NO_IP_VS\n"
        "from tare.runtimes import docker_engine\n"
        "import tare.runtimes.native\n"
        "def usual():\n"
        "    '''kubernetes'''\n"
        "    return 'kubernetes'\n"
    )
    assert sorted(of_runtimes(ast.parse(code))) == [
        "kubernetes", "tare.runtimes.docker_engine", "tare.runtimes.native",
        "tare.runtimes.swarm.facts",
    ]  # fmt: skip


def of_runtimes(tree: ast.Module) -> Iterator[str]:
    """Literals that are a runtime's name, and modules of a runtime that are imported."""
    return named(tree, registry.names(), "tare.runtimes", MODULES)
