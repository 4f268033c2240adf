"""Property tests are judged by what they find, never by how long they take."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "tare",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,  # new counterexamples are for developers to find
)
settings.load_profile("tare")
