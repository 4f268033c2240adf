"""The digest of a tree is the SHA-256 of a listing that sha256sum itself can check."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tare.artifacts.digest import (
    LISTING,
    combined,
    file_digest,
    listing,
    parse_listing,
    tree_digests,
)

if TYPE_CHECKING:
    from pathlib import Path

digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
names = st.lists(st.sampled_from(["lib", "a b", "x.jar", "-"]), min_size=1).map("/".join)


def test_the_digest_of_a_file_is_the_published_one_for_abc(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")

    # FIPS 180-2, appendix B.1
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert file_digest(tmp_path / "abc") == expected


def test_sha256sum_accepts_the_listing(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "one").write_text("1")
    (tmp_path / "two").write_text("2")
    (tmp_path / LISTING).write_text(listing(tree_digests(tmp_path)))

    done = subprocess.run(
        ["sha256sum", "--check", "--strict", LISTING],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines() == ["a b/one: OK", "two: OK"]


def test_content_and_name_count_but_not_the_listing_itself(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("1")
    first = combined(tree_digests(tmp_path))

    (tmp_path / LISTING).write_text("anything")
    assert combined(tree_digests(tmp_path)) == first

    file.write_text("2")
    second = combined(tree_digests(tmp_path))
    file.rename(tmp_path / "other")
    third = combined(tree_digests(tmp_path))
    assert len({first, second, third}) == 3


@given(st.dictionaries(names, digests))
def test_a_listing_reads_back(files: dict[str, str]) -> None:
    assert parse_listing(listing(files)) == files


@given(st.dictionaries(names, digests, min_size=2))
def test_the_order_of_discovery_does_not_matter(files: dict[str, str]) -> None:
    assert combined(dict(reversed(files.items()))) == combined(files)
