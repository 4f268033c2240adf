"""Property tests are judged by what they find, never by how long they take."""

import os

from hypothesis import HealthCheck, settings

from tests.mutated import LONG, examples

settings.register_profile(
    "tare",
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ and not LONG,  # new counterexamples are for developers to find
)
settings.load_profile("tare")
