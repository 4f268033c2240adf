"""An archive is kept whole or not at all; the JVM that makes it is a script here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tare.artifacts import class_archive
from tare.artifacts.tree import Tree
from tare.errors import ArtifactError

_MAKES = """\
#!/bin/sh
for word; do case $word in
    -XX:SharedArchiveFile=*) file=${word#*=} ;;
    -XX:SharedClassListFile=*) list=${word#*=} ;;
esac; done
{ cat "$list" jvm.args && ls lib/; } > "$file"
"""
_FAILS = "#!/bin/sh\necho 'Error: non-empty directory'\nexit 1\n"


def tree(root: Path, script: str) -> Tree:
    lib, java = root / "lib", root / "java"
    lib.mkdir()
    (lib / "a.jar").write_text("a")
    java.write_text(script)
    java.chmod(0o755)
    return Tree(root, lib, java, "digest", "5.0.9", True, "here")


def make(root: Path, script: str = _MAKES) -> class_archive.ClassArchive:
    classes = root / "classes.txt"
    classes.write_text("java/lang/Object\n")
    return class_archive.make(root / "cache", "key", tree(root, script), "-Xmx1g\n", classes)


def test_it_is_made_of_the_listed_classes_in_the_jars_by_the_node_s_own_arguments(
    tmp_path: Path,
) -> None:
    made = make(tmp_path)
    assert made.file.read_text() == "java/lang/Object\n-Xmx1g\na.jar\n"
    assert class_archive.find(tmp_path / "cache", "key") == made
    assert not list((tmp_path / "cache").glob(".*"))


def test_one_that_cannot_be_made_leaves_nothing_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError) as raised:
        make(tmp_path, _FAILS)
    assert "non-empty directory" in raised.value.why
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_changed_one_is_none(tmp_path: Path) -> None:
    made = make(tmp_path)
    made.file.chmod(0o644)
    made.file.write_text("other classes")
    assert class_archive.find(tmp_path / "cache", "key") is None


def test_a_link_is_none(tmp_path: Path) -> None:
    made = make(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    made.file.rename(elsewhere)
    made.file.symlink_to(elsewhere)
    assert class_archive.find(tmp_path / "cache", "key") is None


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    assert class_archive.find(tmp_path / "cache", "key") is None


def test_the_jars_get_the_time_that_an_image_has(tmp_path: Path) -> None:
    of = tree(tmp_path, _MAKES)
    assert class_archive.clear_jar_times(of) == ""
    assert (of.lib / "a.jar").stat().st_mtime == 0


def test_jars_of_another_user_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "utime", refuse)
    assert "Operation not permitted" in class_archive.clear_jar_times(tree(tmp_path, _MAKES))
