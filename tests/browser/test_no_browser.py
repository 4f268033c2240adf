"""Without a browser, tests are skipped with the reason; in CI, they fail."""

from __future__ import annotations

import pytest

from tests.browser.conftest import without_browser


def test_without_a_browser_the_tests_fail_in_ci() -> None:
    with pytest.raises(pytest.fail.Exception, match="NOT TESTED"):
        without_browser(ci=True)


def test_without_a_browser_the_tests_are_skipped_with_the_way_to_get_one() -> None:
    with pytest.raises(pytest.skip.Exception, match=r"setup/browser\.sh"):
        without_browser(ci=False)
