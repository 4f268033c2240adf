"""The fixtures for studies as text, shared with tests/study."""

from tests.study.conftest import read, refuse

__all__ = ["read", "refuse"]
