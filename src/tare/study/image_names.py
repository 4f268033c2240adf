"""Valid names of container images, as registries and engines read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tare.study.problems import Problem, later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.origins import Origins
    from tare.study.schema import Setup

_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*(?::[0-9]{{1,5}})?"
_REFERENCE = re.compile(
    rf"((?:{_HOST}/)?{_PART}(?:/{_PART})*)"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
    r"(?:@[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,128})?"
)
"""Source: distribution/reference, the grammar of Docker's and OCI's references."""
_LONGEST = 255


def is_image_name(text: str) -> bool:
    """Whether an engine could take the text for an image, e.g. `mongo:7` or `host:5000/a/b@sha`."""
    found = _REFERENCE.fullmatch(text) if len(text) < 4 * _LONGEST else None
    return found is not None and len(found[1]) <= _LONGEST


def image_name_problems(setup: Setup, origins: Origins) -> Iterator[Problem]:
    """A `database.image` that no engine would accept."""
    image = setup.database.image
    if image is None or is_image_name(image):
        return
    shown = repr(image) if len(image) <= 60 else f"{image[:57]!r}..."
    yield Problem(
        later(origins, ("database", "image"), ("database",)),
        f"database.image: {shown} is no name of an image",
        "it is [HOST[:PORT]/]NAME[:TAG][@DIGEST], its NAME in lower case",
        'write it like "mongo:7" or "registry.example:5000/team/cassandra:5.0.9"',
    )
