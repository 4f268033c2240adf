"""Three inventory formats give the same hosts; errors name the line that cannot be used."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tare.errors import InventoryError
from tare.machines.inventory.host import Host, Inventory
from tare.machines.inventory.read import named_inventory, parse_inventory, read_inventory

HERE = Path("/inventories")

OWN = """\
defaults: {user: tare, key: keys/id, sudo: true}
hosts:
  db1: {address: 192.0.2.11}
  db2: {address: 192.0.2.12, port: 2222, directory: /data/tare}
  load1: {address: load.example.com, user: other, sudo: false, service: 198.51.100.1}
groups:
  nodes: [db1, db2]
  clients: [load1]
"""
YAML = """\
all:
  vars:
    ansible_user: tare
    ansible_ssh_private_key_file: keys/id
    ansible_become: yes
  children:
    nodes:
      hosts:
        db1: {ansible_host: 192.0.2.11}
        db2:
          ansible_host: 192.0.2.12
          ansible_port: 2222
          tare_directory: /data/tare
    clients:
      hosts:
        load1:
          ansible_host: load.example.com
          ansible_user: other
          ansible_become: false
          tare_service: 198.51.100.1
          http_port: "{{ not_ours }}"
"""
INI = """\
# ours
[nodes]
db1 ansible_host=192.0.2.11
db2 ansible_host=192.0.2.12 ansible_port=2222 tare_directory="/data/tare"

[clients]
load1 ansible_host=load.example.com ansible_user=other ansible_become=no tare_service=198.51.100.1

[all:vars]
ansible_user=tare
ansible_ssh_private_key_file=keys/id
ansible_become=True # everywhere
"""


def hosts(text: str) -> list[Host]:
    return parse_inventory(text, "hosts", HERE)[0]


def refusal(text: str) -> InventoryError:
    with pytest.raises(InventoryError) as caught:
        parse_inventory(text, "hosts", HERE)
    return caught.value


def groups(text: str) -> dict[str, set[str]]:
    return {one.name: set(one.groups) for one in hosts(text)}


@pytest.mark.parametrize("text", [OWN, YAML, INI], ids=["own", "yaml", "ini"])
def test_three_forms_say_the_same(text: str) -> None:
    key = HERE / "keys/id"
    assert hosts(text) == [
        Host("db1", "192.0.2.11", user="tare", key=key, sudo=True, groups=frozenset({"nodes"})),
        Host(
            "db2",
            "192.0.2.12",
            port=2222,
            user="tare",
            key=key,
            sudo=True,
            directory=PurePosixPath("/data/tare"),
            groups=frozenset({"nodes"}),
        ),
        Host(
            "load1",
            "load.example.com",
            user="other",
            key=key,
            service="198.51.100.1",
            groups=frozenset({"clients"}),
        ),
    ]


def test_the_form_is_told_by_content_and_not_by_suffix(tmp_path: Path) -> None:
    for name, text in (("a.yaml", INI), ("b.ini", YAML), ("hosts", OWN)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert [one.name for one in read_inventory(tmp_path / name).hosts] == [
            "db1",
            "db2",
            "load1",
        ]


def test_hosts_and_groups_of_ansibles_own_first_example() -> None:
    ini = "mail.example.com\n\n[webservers]\nfoo.example.com\nbar.example.com\n[dbservers]\none\n"
    yaml = (
        "ungrouped:\n  hosts:\n    mail.example.com:\nwebservers:\n  hosts:\n    foo.example.com:\n"
        "    bar.example.com:\ndbservers:\n  hosts:\n    one:\n"
    )
    expected = {
        "mail.example.com": set(),
        "foo.example.com": {"webservers"},
        "bar.example.com": {"webservers"},
        "one": {"dbservers"},
    }
    assert groups(ini) == groups(yaml) == expected


def test_groups_of_groups() -> None:
    ini = (
        "[east]\none\ntwo\n[west]\nthree\n[prod:children]\neast # they work\n"
        "[everywhere:children]\nprod\nwest\n"
    )
    yaml = (
        "east: {hosts: {one: , two: }}\nwest: {hosts: three}\nprod: {children: {east: }}\n"
        "everywhere: {children: {prod: , west: }}\n"
    )
    expected = {
        "one": {"east", "prod", "everywhere"},
        "two": {"east", "prod", "everywhere"},
        "three": {"west", "everywhere"},
    }
    assert groups(ini) == groups(yaml) == expected


def test_a_child_is_defined_after_its_parent() -> None:
    assert groups("[web:children]\napache\n[apache]\nh\n") == {"h": {"web", "apache"}}


def test_ports_stand_after_names_or_in_variables() -> None:
    text = (
        "badwolf.example.com:5309\njumper ansible_port=5555 ansible_host=192.0.2.50\n"
        "[2001:db8::1]:2222\n[2001:db8::2]\nsix ansible_host=2001:db8::3\n"
    )
    assert [(one.name, one.address, one.port) for one in hosts(text)] == [
        ("badwolf.example.com", "badwolf.example.com", 5309),
        ("jumper", "192.0.2.50", 5555),
        ("2001:db8::1", "2001:db8::1", 2222),
        ("2001:db8::2", "2001:db8::2", 22),
        ("six", "2001:db8::3", 22),
    ]


def test_what_is_nearer_to_a_host_counts() -> None:
    text = (
        "[all:vars]\nansible_user=everyone\n[top:children]\nbottom\n[top:vars]\nansible_user=top\n"
        "ansible_port=2200\n[bottom]\na\nb ansible_user=own\n[bottom:vars]\nansible_user=bottom\n"
        "[lone]\nc\n"
    )
    assert {one.name: (one.user, one.port) for one in hosts(text)} == {
        "a": ("bottom", 2200),
        "b": ("own", 2200),
        "c": ("everyone", 22),
    }


def test_of_groups_equally_near_the_later_name_counts_unless_a_priority_says_otherwise() -> None:
    text = "[one]\nh\n[two]\nh\n[one:vars]\nansible_user=first\n{}[two:vars]\nansible_user=second\n"
    assert hosts(text.format(""))[0].user == "second"
    assert hosts(text.format("ansible_group_priority=10\n"))[0].user == "first"


def test_values_are_taken_as_ansible_takes_them() -> None:
    host = """h ansible_user="'o.n-e'" ansible_become=False\n"""
    text = host + "[all:vars]\nansible_port=22 # the usual\n"
    only = hosts(text)[0]
    assert (only.user, only.sudo, only.port) == ("o.n-e", False, 22)


def test_a_host_that_ssh_does_not_reach_is_left_out_with_a_note() -> None:
    found, notes = parse_inventory(
        "localhost ansible_connection=local\nh ansible_connection=ssh\n", "hosts", HERE
    )
    assert [one.name for one in found] == ["h"]
    assert notes == ["hosts:1: localhost is left out: Tare reaches hosts by SSH only"]
    assert "no host that SSH reaches" in refusal("localhost ansible_connection=local\n").what


def test_options_of_clients_are_not_used_and_it_is_said() -> None:
    text = "h\n[all:vars]\nansible_ssh_common_args='-o StrictHostKeyChecking=no'\n"
    found, notes = parse_inventory(text, "hosts", HERE)
    assert found == [Host("h", "h")]
    assert notes == [
        "hosts:3: ansible_ssh_common_args is not used; ~/.ssh/config is the place for it"
    ]


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("h ansible_host=-oProxyCommand=x\n", "hosts:1", "address"),
        ("h\n-oProxyCommand=x\n", "hosts:2", "no name of a host"),
        ("h ansible_host=root@there\n", "hosts:1", "address"),
        ("h ansible_user=-l\n", "hosts:1", "user"),
        ("h ansible_user='a b'\n", "hosts:1", "user"),
        ("h ansible_port=0\n", "hosts:1", "port"),
        ("h ansible_port=65536\n", "hosts:1", "port"),
        ("h ansible_port=ssh\n", "hosts:1", "port"),
        ("h:99999\n", "hosts:1", "port"),
        ("h ansible_password=secret\n", "hosts:1", "ansible_password"),
        ("h\n[all:vars]\nansible_host={{ lookup('pipe', 'id') }}\n", "hosts:3", "template"),
        ("h ansible_user={%x%}\n", "hosts:1", "template"),
        ("h ansible_become=maybe\n", "hosts:1", "neither true nor false"),
        ("h ansible_become=true ansible_become_method=su\n", "hosts:1", "not sudo"),
        ("h ansible_become=true ansible_become_user=cass\n", "hosts:1", "not root"),
        ("h tare_directory=/\n", "hosts:1", "directory"),
        ("h tare_directory=/data\n", "hosts:1", "directory"),
        ("h tare_directory=/data/../etc/x\n", "hosts:1", "directory"),
        ("h tare_directory=relative/one\n", "hosts:1", "directory"),
        ("h tare_serivce=192.0.2.1\n", "hosts:1", "tare_serivce"),
        ("a b\n", "hosts:1", "no variable"),
        ("a 'b\n", "hosts:1", "cannot be read"),
        ("[web]\nh\n[db:vars]\nx=1\n", "hosts:3", "[db:vars]"),
        ("[web:children]\nnothing\n", "hosts:2", "'nothing'"),
        ("[web:hosst]\n", "hosts:1", "'hosst'"),
        ("[we b]\n", "hosts:1", "no section"),
        ("[a:children]\nb\n[b:children]\na\n", "hosts:1", "circle"),
        ("[a:children]\nall\n", "hosts:2", "all"),
        ("h\n[all:vars]\nnothing\n", "hosts:3", "no variable"),
        ("h\n[g]\nh\n[g:vars]\nansible_group_priority=--5\n", "hosts:5", "whole number"),
        ("db[1:100000]\n", "hosts:1", "more than 1,000"),
        ("db[1:100][1:100]\n", "hosts:1", "more than 1,000"),
        ("db[3:1]\n", "hosts:1", "no range"),
        ("db[1:3:0]\n", "hosts:1", "no range"),
        ("db[a:3]\n", "hosts:1", "no range"),
        ("db[1-3]\n", "hosts:1", "no host pattern"),
        ("a ansible_host=192.0.2.1\nb ansible_host=192.0.2.1\n", "hosts", "is the machine"),
        ("#!/bin/sh\necho\n", "hosts:1", "script"),
        ("$ANSIBLE_VAULT;1.1;AES256\n3132\n", "hosts:1", "encrypted"),
        ("plugin: amazon.aws.aws_ec2\n", "hosts:1", "plugin"),
        ('{"_meta": {"hostvars": {}}, "web": {"hosts": ["a"]}}', "hosts:1", "script prints"),
        ("web:\n  hosts:\n    - a\n", "hosts:2", "with a colon"),
        ("web:\n  hosts:\n    a: !vault |\n      $ANSIBLE_VAULT\n", "hosts:3", "!vault"),
        ("web:\n  hosst: a\n", "hosts:2", "'hosst'"),
        ("web: [a]\n", "hosts:1", "takes hosts, children or vars"),
        ("web: &w\n  children: {b: *w}\n", "hosts:1", "contains itself"),
        ("web:\n\thosts: a\n", "hosts:2", "not valid YAML"),
        ("all:\n  children:\n    all:\n", "hosts:3", "all"),
        ("web:\n  hosts:\n    a: 5\n", "hosts:3", "variables"),
        ("web:\n  hosts:\n    a: {ansible_host: [x]}\n", "hosts:3", "one value"),
        ("hosts: {a: {adress: x}}\n", "hosts:1", "'adress'"),
        ("hosts: {a: }\ndefaults: {address: x}\n", "hosts:2", "address"),
        ("hosts: {a: }\ngroups: {nodes: [b]}\n", "hosts:2", "'b'"),
        ("hosts: {a: }\ngroups: {nodes: a}\n", "hosts:2", "list"),
        ("hosts: {a: }\ngroups: [nodes]\n", "hosts:2", "groups"),
        ("hosts: {a: }\nusers: {}\n", "hosts:2", "'users'"),
        ("hosts: [a]\n", "hosts:1", "hosts"),
        ("hosts: {a: b}\n", "hosts:1", "fields"),
        ("hosts: {a/b: }\n", "hosts:1", "no name of a host"),
        ("", "hosts", "no host"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(text: str, where: str, what: str) -> None:
    error = refusal(text)
    assert error.where == where
    assert what in str(error)


def test_no_error_holds_a_password() -> None:
    for name in ("ansible_password", "ansible_become_pass", "ansible_ssh_pass"):
        assert "hunter2" not in str(refusal(f"h {name}=hunter2\n"))


def test_a_near_name_is_offered() -> None:
    assert refusal("hosts: {a: {adress: x}}\n").remedy == "did you mean address?"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("www[01:03].example.com", ["www01", "www02", "www03"]),
        ("www[01:05:2].example.com", ["www01", "www03", "www05"]),
        ("www[9:11].example.com", ["www9", "www10", "www11"]),
        ("www[a:c].example.com", ["wwwa", "wwwb", "wwwc"]),
        ("www[:1].example.com", ["www0", "www1"]),
        ("w[1:2][a:b].example.com", ["w1a", "w1b", "w2a", "w2b"]),
    ],
)
def test_ranges(pattern: str, names: list[str]) -> None:
    expected = [f"{one}.example.com" for one in names]
    assert [one.name for one in hosts(f"[web]\n{pattern}\n")] == expected
    assert [one.name for one in hosts(f"web:\n  hosts:\n    {pattern}:\n")] == expected


@pytest.mark.parametrize(
    ("text", "nodes", "clients"),
    [
        ("[nodes]\na\n[clients]\nb\n[other]\nc\n", "a", "b"),
        ("[nodes]\na\n[other]\nb\n", "a", "b"),
        ("[clients]\nb\n[other]\na\n", "a", "b"),
        ("a\nb\n", "ab", ""),
        ("[nodes]\na\nb\n[clients]\nb\n", "ab", "b"),
        ("[nodes]\na\n", "a", ""),
    ],
)
def test_which_hosts_take_nodes_and_which_take_load(text: str, nodes: str, clients: str) -> None:
    found = Inventory(HERE / "hosts", tuple(hosts(text)))
    assert "".join(one.name for one in found.nodes) == nodes
    assert "".join(one.name for one in found.clients) == clients


def test_the_environment_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "hosts.ini"
    file.write_text("db1\n", encoding="utf-8")
    found = named_inventory({"TARE_INVENTORY": str(file)})
    assert found is not None
    assert found.host("db1") == Host("db1", "db1")
    assert named_inventory({}) is None


def test_variables_beside_the_file_are_not_read_and_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("db1\n", encoding="utf-8")
    (tmp_path / "group_vars").mkdir()
    (note,) = read_inventory(tmp_path / "hosts").notes
    assert "group_vars beside it is not read" in note


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"#" * (1024 * 1024 + 1))
    (tmp_path / "binary").write_bytes(b"h\n\xff\n")
    for name, what in (("large", "too large"), ("binary", "not text"), ("missing", "cannot read")):
        with pytest.raises(InventoryError, match=what):
            read_inventory(tmp_path / name)
    with pytest.raises(InventoryError) as caught:
        read_inventory(tmp_path)
    assert "ansible-inventory" in caught.value.remedy


@pytest.mark.parametrize(
    ("options", "file", "notes"),
    [
        ("-o UserKnownHostsFile=keys/known", "keys/known", 0),
        ("-oUserKnownHostsFile=/k", "/k", 0),
        ("-o UserKnownHostsFile=/k -o ProxyJump=bastion", "/k", 1),
        ("-o ProxyCommand=id", None, 1),
        ("-F /etc/config", None, 1),
    ],
)
def test_of_a_clients_options_the_file_of_host_keys_is_taken(
    options: str, file: str | None, notes: int
) -> None:
    text = f'h\n[all:vars]\nansible_ssh_common_args="{options}"\n'
    (found,), told = parse_inventory(text, "hosts", HERE)
    assert found.known_hosts == (HERE / file if file else None)
    assert len(told) == notes


def test_the_inventories_of_the_documentation_are_read() -> None:
    page = (Path(__file__).parents[3] / "docs" / "machines.md").read_text(encoding="utf-8")
    own = page.partition("```yaml\ndefaults:")[2].partition("```")[0]
    ini = page.partition("```ini\n")[2].partition("```")[0]
    for text, nodes in ((f"defaults:{own}", 2), (ini, 3)):
        found = Inventory(HERE / "hosts", tuple(hosts(text)))
        assert len(found.nodes) == nodes
        assert [str(one) for one in found.clients] == ["load1 (203.0.113.9)"]
        assert found.clients[0].service_address == "10.0.0.9"
        assert all(one.sudo and one.user == "tare" for one in found.hosts)


@pytest.mark.parametrize(
    "text",
    [
        "hosts:\n  db1: {address: 192.0.2.1, port: \u0662\u0662}\n",
        "[nodes]\ndb1 ansible_host=192.0.2.1 ansible_port=\u0662\u0662\n",
        "[nodes]\n192.0.2.1:\u0662\u0662\n",
        "[nodes]\ndb[\u0661:\u0663] ansible_host=192.0.2.1\n",
    ],
)
def test_digits_of_other_scripts_are_no_numbers(text: str) -> None:
    with pytest.raises(InventoryError) as caught:
        parse_inventory(text, "hosts", HERE)
    assert caught.value.where.startswith("hosts:2")
    assert caught.value.remedy
