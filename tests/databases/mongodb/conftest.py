"""Studies as text, as the tests of studies read and refuse them."""

from tests.study.conftest import read, refuse

__all__ = ["read", "refuse"]
