"""Templates that were compiled before, kept in Tare's cache: compiling takes a fifteenth of a
report's time."""

from __future__ import annotations

import contextlib
import io
from hashlib import sha256
from typing import TYPE_CHECKING

import jinja2
from jinja2 import BytecodeCache

from tare.artifacts.tree import default_cache
from tare.whole_file import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from jinja2.bccache import Bucket

_DIGEST = sha256().digest_size


class CompiledTemplates(BytecodeCache):
    """One file per template: the digest of the rest, then Jinja's output.

    A file that cannot be read or written costs only time. Jinja treats a file of another text, or
    of another Python, as absent.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError):
            kept = _file(bucket).read_bytes()
            if sha256(kept[_DIGEST:]).digest() == kept[:_DIGEST]:
                bucket.load_bytecode(io.BytesIO(kept[_DIGEST:]))

    def dump_bytecode(self, bucket: Bucket) -> None:
        code = bucket.bytecode_to_string()
        with contextlib.suppress(OSError):
            replace_file(_file(bucket), sha256(code).digest() + code)


def _file(bucket: Bucket) -> Path:
    """The file of this Jinja version: another one may compile the same text to something else."""
    digest = sha256(f"{jinja2.__version__} {bucket.key} {bucket.checksum}".encode()).hexdigest()
    return default_cache() / "templates" / digest
