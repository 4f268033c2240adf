"""Terminal output: others' texts are shown, and their escape sequences never obeyed."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import tare.cli
from tare.cli.console import Terminal, say, say_document, say_json
from tare.cli.live import LiveView
from tare.lab.progress import Progress
from tests.cli import in_process

MARKUP = "[bold red]x[/nope]"
CONTROLS = "\x1b[2J\x1b]0;mine\x07 \x9b31m \x85 \u202egpj.exe\u2066 \x7f \ud800 \u200b"
HOSTILE = st.one_of(
    st.sampled_from([MARKUP, CONTROLS, "[/]", "[link=file:///etc]", "\\[/a]", ":smile:", "\r\n"]),
    st.text(st.sampled_from("\x00\x07\x1b\x7f\x85\x9b\u200b\u202e\u2066\ud800"), max_size=9),
    st.text(st.sampled_from("[]/\\'\"ab{}%; \x1b"), max_size=20),
    st.text(max_size=20),
)  # fmt: skip
PLACES: tuple[tuple[str, ...], ...] = (
    ("?",), ("study",), ("question",), ("baseline", "platform"), ("factors", "?"),
    ("factors", "platform", "?"), ("factors", "platform", "docker", "?"), ("scale",),
    ("database", "version"), ("database", "home"), ("database", "image"), ("database", "jvm"),
    ("database", "heap"), ("database", "settings", "?"), ("database", "settings", "cas"),
    ("database", "compaction", "options", "?"), ("database", "compaction", "options", "enabled"),
    ("platform", "placement", "storage_class"), ("platform", "placement", "node_selector", "?"),
    ("platform", "placement", "node_selector", "disk"), ("platform", "limits", "cpuset"),
    ("client", "tool"), ("load", "workload"), ("load", "measure"), ("margins", "?"),
    ("analysis", "primary"), ("files", "template"), ("files", "values", "platform", "?"),
    ("files", "values", "platform", "bare"), ("show", "?"), ("design", "order"),
)  # fmt: skip
"""Places of texts in a study; ? is a key."""


def obeyed(output: str) -> set[str]:
    """Characters that a terminal would obey, or that hide what a text says."""
    kinds = {"Cc", "Cf", "Cs", "Cn"}
    return {one for one in output if unicodedata.category(one) in kinds and one != "\n"}


def tare_here(*arguments: str | Path) -> tuple[int, str]:
    """The command's status and its whole output."""
    done = in_process.tare(*arguments)
    return done.returncode, done.stdout + done.stderr


def study_with(text: str, place: tuple[str, ...]) -> str:
    """A study as JSON, which is YAML, with the text at the place."""
    platforms: dict[str, Any] = {"native": {}, "docker": {"platform": {"runtime": "docker"}}}
    study: dict[str, Any] = {
        "study": "hostile",
        "question": "What does it cost?",
        "factors": {"platform": platforms},
        "baseline": {"platform": "native"},
        "load": {"threads": 4},
    }
    inside = study
    for key in place[:-1]:
        inside = inside.setdefault(key, {})
    if place[-1] == "?":
        inside[text] = "value"
    else:
        inside[place[-1]] = [text] if place[-1] in ("jvm", "primary") else text
    return json.dumps(study)


@settings(max_examples=60, deadline=None)
@given(text=HOSTILE, place=st.sampled_from(PLACES))
@example(text=MARKUP, place=("question",))
@example(text=CONTROLS, place=("question",))
@example(text=CONTROLS, place=("database", "home"))
def test_no_text_of_a_study_is_obeyed(text: str, place: tuple[str, ...]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "study.yaml"
        file.write_text(study_with(text, place), encoding="utf-8")
        for options in ((), ("--json",)):
            status, output = tare_here("plan", file, *options)
            assert status in (0, 2), output
            assert not obeyed(output)
            if status:  # a refusal names the line, and what to do
                assert re.search(r"tare: \S+study\.yaml:[0-9]+: ", output), output
                assert "\n  try: " in output


def test_markup_of_a_question_is_shown_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(study_with(MARKUP, ("question",)), encoding="utf-8")
    status, output = tare_here("plan", file)
    assert status == 0
    assert f"hostile  {MARKUP}" in output


@settings(max_examples=50, deadline=None)
@given(text=HOSTILE, place=st.sampled_from(["name", "address", "user", "key", "note", "group"]))
@example(text=CONTROLS, place="note")
def test_no_text_of_an_inventory_is_obeyed(text: str, place: str) -> None:
    host: dict[str, Any] = {"ansible_host": "192.0.2.1"}
    keys = {"address": "ansible_host", "user": "ansible_user", "key": "ansible_private_key_file"}
    if place in keys:
        host[keys[place]] = text
    elif place == "note":
        host[text] = "value"
    name = text if place == "name" else "db1"
    group = text if place == "group" else "servers"
    inventory = {"all": {"children": {group: {"hosts": {name: host}}}}}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "hosts.yaml"
        file.write_text(json.dumps(inventory).replace('{"all"', '\n"all"').removesuffix("}"))
        with patch.dict("os.environ", {"TARE_INVENTORY": str(file)}):
            status, output = tare_here("machines", "list")
            assert status in (0, 2), output
            assert not obeyed(output)
            assert not obeyed(tare_here("machines", "list", "--json")[1])


@settings(max_examples=40, deadline=None)
@given(
    name=HOSTILE.filter(lambda t: t not in ("", ".", "..") and not re.search("[/\0\ud800]", t)),
    cell=HOSTILE.filter(lambda text: "\ud800" not in text),
)
@example(name="\x1b[2J\x9b31m\u202e[/nope]", cell=CONTROLS.replace("\ud800", ""))
def test_no_text_of_an_import_is_obeyed(name: str, cell: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        study = Path(directory) / "study.yaml"
        study.write_text(study_with("{platform}.csv", ("files", "template")), encoding="utf-8")
        files = Path(directory) / "files"
        files.mkdir()
        quoted = cell.replace('"', '""')
        (files / "native.csv").write_text(
            f'throughput,"x {quoted}","{quoted}.p99"\n100,"{quoted}",7\n', encoding="utf-8"
        )
        with contextlib.suppress(OSError, ValueError):
            (files / name).write_text(cell, encoding="utf-8")
        for more in (("--no-report",), ("--no-report", "--json")):
            out = Path(directory) / "-".join(("run", *more))
            status, output = tare_here(
                "import", "csv", files, "--study", study, "--out", out, *more
            )
            assert status in (0, 1, 2, 3), output
            assert not obeyed(output)


@given(name=HOSTILE, found=HOSTILE)
def test_no_name_of_a_run_is_obeyed_while_it_is_measured(name: str, found: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), LiveView(Terminal()) as view:
        view.update(Progress("preparing", subject=name))
        view.say(found)
    assert not obeyed(out.getvalue())


@settings(deadline=None)
@given(text=HOSTILE)
def test_no_way_to_print_obeys_a_text(text: str) -> None:
    """Whatever a text is put into: a table, a panel, a live line, a styled text, an error."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        console = Terminal(width=80)
        table = Table(text, title=text, caption=text)
        table.add_row(text)
        panel = Panel(text, title=Text(text))
        for one in (text, table, Panel(Text(text, "bold")), panel, SimpleNamespace(a=text)):
            console.print(one)
        with Live(Text(text), console=console):
            pass
        say(text)
        say_document(text)
    assert not obeyed(out.getvalue())


@given(text=st.text())
@example(text=CONTROLS)
def test_json_means_the_same_and_holds_nothing_that_is_obeyed(text: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        say_json(json.dumps({"text": text}, ensure_ascii=False, indent=1))
    assert json.loads(out.getvalue()) == {"text": text}
    assert not obeyed(out.getvalue())


@pytest.mark.parametrize(
    "way", ["typer.echo(", "click.echo(", "Console(", "print(", "rich.console"]
)
def test_commands_write_to_the_terminal_by_the_one_module(way: str) -> None:
    """A new command with its own output would show a file's text unescaped."""
    pattern = re.compile(rf"(?<![\w.]){re.escape(way)}")
    found = [
        f"{file.name}:{number}"
        for file in Path(tare.cli.__path__[0]).glob("*.py")
        if file.name != "console.py"
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line) and "tare.__version__" not in line and "def " not in line
    ]
    assert not found
