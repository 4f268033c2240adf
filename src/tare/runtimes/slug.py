"""Names that every orchestrator accepts, whatever a study calls its levels."""

from __future__ import annotations

import hashlib
import re

_LONGEST = 40
"""characters; a StatefulSet's name may have 52, for it ends up in a label with a hash"""
_DIGEST = 6


def slug(text: str, longest: int = _LONGEST) -> str:
    """A name that Kubernetes and Swarms accept: a DNS label that begins with a letter.

    A text that had to be changed gets a digest, so that different texts stay different.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if not plain or not plain[0].isalpha():
        plain = f"t-{plain}".rstrip("-")
    if plain == text and len(plain) <= longest:
        return plain
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
    return f"{plain[: longest - _DIGEST - 1].rstrip('-')}-{digest}"
