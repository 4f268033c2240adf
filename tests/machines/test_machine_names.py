"""A kind of machines is named by its own modules alone: everything else asks the registry.

Run with `-s`, it prints how many files name one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tare.machines import registry
from tests.source_names import named, texts, trees

NAMES = "|".join(registry.names())
OWN = re.compile(rf"(machines|runtimes)/({NAMES})([/_.])|machines/registry\.py")
"""Files of a kind, which may name it, with the runtimes on its hosts; the registry says which one a
study has by default."""
MODULES = re.compile(rf"tare\.machines\.({NAMES})(\.|_|$)")
CONNECTION = re.compile(r"runtimes/ssh/|machines/(clocks|checkup|survey|prepare/.*)\.py")
"""What asks machines through a connection, `tare.machines.ssh`, which is no kind of its own."""
ANOTHER_THING = {
    "databases/mongodb/metrics.py": "MongoDB's own database of that name",
    "machines/addresses.py": "a field of `ip -json`",
    "machines/inventory/ansible.py": "Ansible's word for how it connects",
    "runtimes/gvisor/declaration.py": "a platform of gVisor's sandbox",
    "runtimes/replies.py": "the near end of a connection, as tare-pod tells it",
}
"""Files in which the same word names something else; none decides anything by a kind."""
MOST_IN_TEXTS = 5
"""Files whose texts for people name a kind that its registry has: remedies and examples."""


def test_no_file_names_a_kind_of_machines_that_is_not_its_own() -> None:
    found = {name: list(of_machines(tree)) for name, tree in trees() if not OWN.search(name)}
    for name in filter(CONNECTION.search, found):
        found[name] = [one for one in found[name] if one != "tare.machines.ssh"]
    naming = {name: words for name, words in found.items() if words}
    print(f"{len(naming.keys() - ANOTHER_THING.keys())} files name a kind outside its module")
    assert {name: words for name, words in naming.items() if name not in ANOTHER_THING} == {}
    assert ANOTHER_THING.keys() - naming.keys() == set(), "take these off the list"


def test_texts_do_not_name_more_of_them() -> None:
    word = re.compile(rf"(machines:? (to )?)({NAMES})(?![\w/-])")
    naming = [
        name
        for name, tree in trees()
        if not OWN.search(name) and any(word.search(text) for text in texts(tree))
    ]
    print(f"{len(naming)} files have the name of a kind of machines in a text")
    assert len(naming) <= MOST_IN_TEXTS


def test_what_names_a_kind_is_found() -> None:
    code = (
        "from tare.machines.kvm.kinds import TCG\n"
        "from tare.machines import vmware_declaration\n"
        "def usual():\n"
        "    '''ssh'''\n"
        "    return 'local'\n"
    )
    assert sorted(of_machines(ast.parse(code))) == [
        "local", "tare.machines.kvm.kinds", "tare.machines.vmware_declaration",
    ]  # fmt: skip


def of_machines(tree: ast.Module) -> Iterator[str]:
    """Literals that are a kind's name, and modules of a kind that are imported."""
    return named(tree, registry.names(), "tare.machines", MODULES)
