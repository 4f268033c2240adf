"""What a command imports before it runs, what its help says, and what a shell completes."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tare.cli.commands import COMMANDS, build, load
from tare.cli.examples import EXAMPLES
from tare.knowledge.advice import FAMILIES
from tare.knowledge.guidelines import PURPOSES

HEAVY = {
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "jinja2",
    "ruamel",
    "docker",
    "asyncssh",
    "pygments",
    "markdown_it",
}
"""Each takes from a tenth of a second to one."""
ANALYSIS = {"numpy", "scipy", "pandas", "pyarrow", "jinja2", "statsmodels"}


OWN = ("tare.analysis", "tare.records", "tare.study", "tare.lab", "tare.runtimes")


def imported(arguments: list[str], cwd: Path | None = None) -> set[str]:
    """The modules that a command has imported when it ends.

    Args:
        cwd: where it runs; None: here.
    """
    script = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('\\n' + ' '.join(sys.modules)))\n"
        f"sys.argv = {['tare', *arguments]}\n"
        "from tare.cli.app import main\n"
        "main()"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    return set(done.stdout.splitlines()[-1].split())


def test_the_list_of_commands_waits_for_no_library() -> None:
    assert not imported(["--help"]) & (HEAVY | {"pydantic"})


@pytest.mark.parametrize(
    "line",
    ["--version", "pla study.yaml", "run --helpp", "run"] + [f"{name} --help" for name in COMMANDS],
)
def test_help_and_typing_errors_wait_for_no_library(line: str) -> None:
    """If an argument is missing, typer itself imports pydantic for its message."""
    found = imported(line.split())
    assert not found & (HEAVY if line == "run" else HEAVY | {"pydantic"})
    own = OWN if line not in ("advise --help", "weigh --help") else OWN[:-1]  # they list runtimes
    assert not [name for name in found if name.startswith(own)]


def test_a_plan_waits_for_no_analysis(tmp_path: Path) -> None:
    """Where the study has run before, as by `make demo` here, a plan reads that run's intervals."""
    study = Path("studies/quickstart.yaml").absolute()
    found = imported(["plan", str(study)], tmp_path)
    assert "tare.study.plan" in found
    assert not found & ANALYSIS


def commands() -> Iterator[tuple[str, Any]]:
    for name in COMMANDS:
        command = load(name)
        yield name, command
        for inner, one in getattr(command, "commands", {}).items():
            yield f"{name} {inner}", one


def test_every_help_has_examples_that_its_command_takes() -> None:
    found = dict(commands())
    assert set(EXAMPLES) == set(found)
    for words, lines in EXAMPLES.items():
        for line, _ in lines:
            given = shlex.split(line.partition(" >")[0])
            del given[: given.index("tare") + 1]
            name = " ".join(given[: len(words.split())])
            inner = " ".join(given[:2])
            called = inner if inner in found else name
            assert called.startswith(words)
            command = found[called]
            context = typer.Context(command, info_name=called, **command.context_settings)
            command.parse_args(context, given[len(called.split()) :])


def test_no_paragraph_of_a_help_is_broken_amid_a_sentence() -> None:
    """A line of the source stays a line of the help, whatever the terminal's width."""
    for words, command in commands():
        for paragraph in (command.help or "").split("\n\n")[1:]:
            for line in paragraph.split("\n")[:-1]:
                assert len(line) < 60 or line.rstrip().endswith((".", ":")), f"{words}: {line}"


def test_no_line_of_a_list_of_commands_is_cut() -> None:
    for words in ("", "findings", "machines"):
        shown = CliRunner().invoke(build(), [*words.split(), "--help"]).output
        listed = shown.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
        assert listed
        assert not [line for line in listed if line.endswith("...")]


def test_examples_keep_their_lines_whatever_the_width() -> None:
    shown = CliRunner().invoke(build(), ["plan", "--help"]).output
    for line, purpose in EXAMPLES["plan"]:
        assert f"    {line}\n" + (f"        {purpose}\n" if purpose else "") in shown


def test_the_help_of_advise_names_every_metric_and_purpose() -> None:
    """The names are written out, because the module that knows them takes a second to import."""
    shown = " ".join(CliRunner().invoke(build(), ["advise", "--help"]).output.split())
    assert f"Only one of {', '.join(FAMILIES)}." in shown
    assert f"is for: {', '.join(PURPOSES)}." in shown.replace("- ", "-")


def test_a_flag_has_no_type_in_any_help() -> None:
    for words, command in [("", None), *commands()]:
        shown = CliRunner().invoke(build(), [*words.split(), "--help"])
        assert shown.exit_code == 0
        assert "<bool>" not in shown.output
        assert "tare" in shown.output
        if command is not None:
            assert "Examples:" in shown.output


def test_the_list_has_a_line_for_each_command_and_a_typing_error_a_suggestion() -> None:
    shown = CliRunner().invoke(build(), ["--help"]).output
    listed = shown.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == list(COMMANDS)
    wrong = CliRunner().invoke(build(), ["pln"])
    assert wrong.exit_code == 2
    assert "Did you mean 'plan'?" in wrong.output


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("tare re", ["replicate", "report"]), ("tare run --sc", ["--scale"]),
     ("tare replicate truyen-2018-m", ["truyen-2018-mongodb"]),
     ("tare plan qui", ["quickstart"]), ("tare run ./", [])],
)  # fmt: skip
def test_a_shell_completes_commands_options_and_studies(typed: str, offered: list[str]) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['tare']\n"
         "from tare.cli.app import main; main()"],
        env={**os.environ, **words, "_TARE_COMPLETE": "complete_bash"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == offered
