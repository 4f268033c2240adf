"""A real Chromium opens reports from disk, as a reader does."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tare.report.write import write_report
from tests.browser.sample import hostile_analysis, traced_analysis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """The program in TARE_BROWSER, else the first usual browser on the path."""
    return os.environ.get("TARE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


def without_browser(*, ci: bool) -> NoReturn:
    """Skip with a loud message that nothing was tested; in CI, fail."""
    reason = (
        "THE PAGE WAS NOT TESTED: no Chromium here; setup/browser.sh installs one, "
        "then pytest tests/browser"
    )
    if ci:
        pytest.fail(reason)
    pytest.skip(reason)


# not session scope: Playwright's running event loop prevents other tests from running their own
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        without_browser(ci=os.environ.get("CI") == "true")
    with sync_playwright() as playwright:
        # Chromium does not start its sandbox as root
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=program, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's report; its trials name their files."""
    return write_report(tmp_path_factory.mktemp("run"), traced_analysis())


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(tmp_path_factory.mktemp("hostile"), hostile_analysis())


@dataclass
class Opened:
    """A page, with its errors and its requests."""

    page: Page
    wrong: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def tip(self) -> str:
        """The text of the tooltip at the pointer or focus; empty if it is hidden."""
        shown: str = self.page.locator("#tip").evaluate("e => e.hidden ? '' : e.innerText")
        return shown


class Pages:
    """A pool of browser pages by their settings.

    A test has its page to itself and loads its report anew; tests share only the windows.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Opened]] = {}

    def take(self, settings: dict[str, object]) -> Opened:
        """A free page, reset to be as new."""
        free = self._free.setdefault(repr(settings), [])
        if not free:
            return self._new(settings)
        one = free.pop()
        one.page.goto("about:blank")
        one.page.emulate_media(media="null")
        one.wrong.clear()
        one.requests.clear()
        return one

    def give_back(self, one: Opened, settings: dict[str, object]) -> None:
        self._free.setdefault(repr(settings), []).append(one)

    def _new(self, settings: dict[str, object]) -> Opened:
        page = self._browser.new_page(**settings)  # type: ignore[arg-type]  # playwright's own
        page.set_default_timeout(10_000)
        one = Opened(page)
        page.on("console", lambda m: one.wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: one.wrong.append(str(error)))
        page.on("dialog", lambda dialog: (one.wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: one.requests.append(request.url))
        return one


@pytest.fixture(scope="package")
def pages(browser: Browser) -> Pages:
    return Pages(browser)


@pytest.fixture
def opened(pages: Pages) -> Iterator[Callable[..., Opened]]:
    """A function that opens a report; the test fails at its end if any opened page had an error."""
    taken: list[tuple[Opened, dict[str, object]]] = []

    def open_report(path: Path, fragment: str = "", **settings: object) -> Opened:
        view: dict[str, object] = {"viewport": {"width": 1280, "height": 900}}
        view |= {"reduced_motion": "reduce"} | settings
        one = pages.take(view)
        taken.append((one, view))
        one.page.goto(path.as_uri() + fragment, wait_until="domcontentloaded")
        return one

    yield open_report
    wrong = [text for one, _ in taken for text in one.wrong]
    for one, view in taken:
        pages.give_back(one, view)
    assert wrong == []
