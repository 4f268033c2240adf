"""An image needs the host's libraries that ldd names, and those opened by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.artifacts.host_libraries import libraries_of, parse_ldd
from tare.errors import RuntimeUnavailableError

LDD = """/opt/jre/bin/java:
\tlinux-vdso.so.1 (0x00007ff6a8146000)
\tlibjli.so => /opt/jre/bin/../lib/libjli.so (0x00007ff6a8100000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007ff6a7f00000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007ff6a8148000)
/opt/jre/lib/libmusl.so:
\tlibc.musl-x86_64.so.1 => not found
/opt/static:
\tstatically linked
"""


def test_paths_are_taken_and_what_is_not_a_file_is_not() -> None:
    assert parse_ldd(LDD) == {
        Path("/opt/jre/bin/../lib/libjli.so"),
        Path("/lib/x86_64-linux-gnu/libc.so.6"),
        Path("/lib64/ld-linux-x86-64.so.2"),
    }


def test_a_real_program_needs_the_c_library_the_loader_and_name_lookup() -> None:
    libraries = libraries_of([Path("/bin/sh")])

    names = {Path(name).name for name in libraries}
    assert "libc.so.6" in names
    assert any(name.startswith("ld-linux") for name in names)
    assert "libnss_files.so.2" in names
    assert all(path.is_file() and not path.is_symlink() for path in libraries.values())


def test_a_file_that_is_no_program_needs_nothing(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")

    assert libraries_of([tmp_path / "text"]) == {}


def test_without_ldd_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RuntimeUnavailableError, match="apt-get install libc-bin"):
        libraries_of([Path("/bin/sh")])
