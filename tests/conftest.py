"""Settings for every test: signals as in a terminal, and no deadline for property tests."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.mutated import LONG, examples

settings.register_profile(
    "tare",
    deadline=None,  # property tests are judged by what they find, never by how long they take
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ and not LONG,  # new counterexamples are for developers to find
)
settings.load_profile("tare")

HANDLERS = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGQUIT: signal.SIG_DFL,
    signal.SIGTERM: signal.SIG_DFL,
}
"""What a shell's background job or a CI may have ignored. Whatever a test starts inherits that, and
then neither Ctrl-C ends a run nor SIGTERM a database."""

for number, handler in HANDLERS.items():
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with real engines come last, so that other failures are known in minutes."""
    items.sort(key=lambda item: item.get_closest_marker("engine") is not None)


@pytest.fixture(autouse=True)
def signals_stay() -> Iterator[None]:
    """A test that changes a signal's handler here changes it for programs of later tests."""
    before = {number: signal.getsignal(number) for number in HANDLERS}
    yield
    changed = [number.name for number, was in before.items() if signal.getsignal(number) != was]
    for number, was in before.items():
        signal.signal(number, was)
    assert not changed, f"this test changed the handling of {', '.join(changed)}"
