"""The documentation matches the code: its studies load, and its links have targets."""

from __future__ import annotations

import functools
import io
import itertools
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tare.analysis.model import Effect
from tare.cli.commands import COMMANDS as CLI_COMMANDS
from tare.cli.commands import load
from tare.cli.console import Terminal
from tare.cli.plan_text import show
from tare.errors import StudyError
from tare.study.plan import make_plan
from tare.study.read import load_study

CHECKOUT = Path(__file__).parents[2]
PAGES = [
    CHECKOUT / "README.md",
    CHECKOUT / "CHANGELOG.md",
    *sorted((CHECKOUT / "docs").rglob("*.md")),
]
STUDIES = sorted((CHECKOUT / "studies").glob("*.yaml"))
MARKDOWN = MarkdownIt("commonmark").enable("table")


@functools.cache
def parsed(page: Path) -> list[Token]:
    return MARKDOWN.parse(page.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Block:
    """A fenced code block of a page."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def fenced(page: Path) -> list[Block]:
    """The page's fenced blocks, each with the number of its first line."""
    return [
        Block(
            str(page.relative_to(CHECKOUT)),
            (token.map or [0])[0] + 2,
            token.info.strip(),
            token.content,
        )
        for token in parsed(page)
        if token.type == "fence"
    ]


BLOCKS = [block for page in PAGES for block in fenced(page)]
EXAMPLES = [b for b in BLOCKS if b.language == "yaml" and b.text.startswith("study:")]
COMMANDS = [
    (block, line)
    for block in BLOCKS
    if block.language == "sh"
    for line in block.text.replace("\\\n", " ").splitlines()
    if line.strip() and line.split()[0].endswith("tare")
]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_every_study_in_the_documentation_can_be_planned(example: Block, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(example.text, encoding="utf-8")
    plan = make_plan(load_study(file))
    assert len(plan.conditions) > 1, "an example compares something"
    assert plan.trials


def test_the_first_study_shows_the_order_that_its_plan_has(tmp_path: Path) -> None:
    page = CHECKOUT / "docs" / "first-study.md"
    first = next(b for b in EXAMPLES if b.page == "docs/first-study.md")
    excerpt = next(b for b in fenced(page) if b.language == "text" and "deploy:" in b.text)
    file = tmp_path / "study.yaml"
    file.write_text(first.text, encoding="utf-8")
    shown = io.StringIO()
    show(make_plan(load_study(file)), Terminal(file=shown, width=200))
    assert excerpt.text in shown.getvalue()
    compared = next(
        b for b in BLOCKS if b.page == "docs/first-study.md" and b.text.startswith("compared")
    )
    assert compared.text in shown.getvalue()


def test_the_readme_is_short_and_shows_what_the_plan_prints() -> None:
    readme = CHECKOUT / "README.md"
    assert len(readme.read_text(encoding="utf-8").split()) <= 600
    block = next(b for b in fenced(readme) if b.text.startswith("$ tare plan"))
    shown = io.StringIO()
    command, *lines = block.text.splitlines()
    show(make_plan(load_study(CHECKOUT / command.split()[-1])), Terminal(file=shown, width=200))
    printed = [line.rstrip() for line in shown.getvalue().splitlines()]
    assert [line for line in lines if line != "..." and line not in printed] == []


WRITTEN = [
    block for block in BLOCKS if block.page == "docs/write-a-study.md" and block.language == "yaml"
]
"""The pieces of the page's study, in the order in which the page adds them."""


def written(pieces: int, directory: Path) -> Path:
    """The reader's study file after the first `pieces` pieces."""
    file = directory / "large-rows.yaml"
    file.write_text("".join(block.text for block in WRITTEN[:pieces]), encoding="utf-8")
    return file


@pytest.mark.parametrize("piece", range(len(WRITTEN)), ids=[str(b) for b in WRITTEN])
def test_every_piece_of_a_study_that_is_written_step_by_step_can_be_planned(
    piece: int, tmp_path: Path
) -> None:
    file = written(piece + 1, tmp_path)
    if WRITTEN[piece].text.startswith("factors:"):  # the next piece adds the baseline
        with pytest.raises(StudyError) as refused:
            load_study(file)
        said = next(b for b in BLOCKS if b.page == "docs/write-a-study.md" and "try:" in b.text)
        assert said.text == f"tare: {refused.value}\n".replace(f"{tmp_path}/", "")
    else:
        assert make_plan(load_study(file)).trials


def test_the_study_that_is_written_step_by_step_has_the_sizes_that_the_page_tells(
    tmp_path: Path,
) -> None:
    without_exclusions = next(i for i, b in enumerate(WRITTEN) if b.text.startswith("exclude"))
    assert len(make_plan(load_study(written(without_exclusions, tmp_path))).conditions) == 12
    file = written(len(WRITTEN), tmp_path)
    shown = io.StringIO()
    show(make_plan(load_study(file)), Terminal(file=shown, width=200))
    excerpt = next(
        b for b in BLOCKS if b.page == "docs/write-a-study.md" and "trials, fresh" in b.text
    )
    assert excerpt.text in shown.getvalue()
    pilot = make_plan(load_study(file, scale="pilot"))
    assert len(pilot.conditions) == 10
    assert len(pilot.trials) == 40
    few = make_plan(load_study(file, only=["network=native,docker-published", "row=usual"]))
    assert [one.name for one in few.conditions] == ["native.usual", "docker-published.usual"]


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.stem)
def test_every_study_that_comes_with_tare_says_what_it_is_for(study: Path) -> None:
    first = study.read_text(encoding="utf-8").splitlines()[0]
    assert re.fullmatch(r"# .{20,}\.", first), "a study begins with a sentence in a comment"
    assert load_study(study).question


@pytest.mark.parametrize(("block", "line"), COMMANDS, ids=[line for _, line in COMMANDS])
def test_every_command_in_the_documentation_exists(block: Block, line: str) -> None:
    _, name, *arguments = shlex.split(line.partition(">")[0])
    assert name in CLI_COMMANDS, f"{block}: tare {name}"
    called = load(name)
    inner = getattr(called, "commands", {})  # such as findings show and findings add
    command = inner.get(arguments[0], called) if arguments else called
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in arguments if word.startswith("--")} <= known, str(block)


def test_every_command_is_listed_in_the_order_of_the_help() -> None:
    text = (CHECKOUT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `tare ([a-z]+)", text, re.MULTILINE) == list(CLI_COMMANDS)


def links(page: Path) -> list[str]:
    """The targets of the page's links and pictures, as written."""
    inline: list[Token] = [child for token in parsed(page) for child in token.children or []]
    found = [token.attrGet("href") or token.attrGet("src") for token in inline]
    return [str(target) for target in found if target]


def anchors(page: Path) -> set[str]:
    """The headings' anchors on common sites: lower case, dashes for spaces."""
    titles = [
        after.content
        for token, after in itertools.pairwise(parsed(page))
        if token.type == "heading_open"
    ]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_every_relative_link_leads_to_a_file_of_the_checkout(page: Path) -> None:
    broken = []
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        inside = target.is_relative_to(CHECKOUT) and target.exists()
        if not inside or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_readme_leads_to_every_page() -> None:
    pages = {f"docs/{page.name}" for page in (CHECKOUT / "docs").glob("*.md")}
    assert pages <= {link.partition("#")[0] for link in links(CHECKOUT / "README.md")}


def test_every_decision_is_in_the_index() -> None:
    folder = CHECKOUT / "docs" / "decisions"
    pages = {page.name for page in folder.glob("[0-9]*.md")}
    assert pages == set(links(folder / "README.md"))


def test_every_field_of_an_effect_is_explained() -> None:
    text = (CHECKOUT / "docs" / "reading-a-report.md").read_text(encoding="utf-8")
    table = text.partition("Each entry of `effects` has these fields:")[2].partition("\n\n|")[2]
    rows = table.partition("\n\n")[0].splitlines()[2:]
    explained = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(explained) == sorted(Effect.model_fields)


def test_every_check_is_a_row_of_the_page_on_reports() -> None:
    sources = (CHECKOUT / "src/tare/analysis/checks").glob("*.py")
    made = {
        name
        for source in sources
        for name in re.findall(r'\bcheck\(\s*"([^"]+)"', source.read_text("utf-8"))
    }
    page = (CHECKOUT / "docs/reading-a-report.md").read_text("utf-8")
    told = set(re.findall(r"^\| ([^|]+?) \|", page, re.MULTILINE))
    assert made <= told, made - told
