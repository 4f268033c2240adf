"""A field's invalid value: the reason, and the edit to make."""

from __future__ import annotations


def shortened(text: str) -> str:
    """A value as quoted in a message."""
    return text if len(text) <= 60 else text[:57] + "..."


class WrongValueError(ValueError):
    """A validator's error; its two parts stay apart, whatever texts they quote."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy
