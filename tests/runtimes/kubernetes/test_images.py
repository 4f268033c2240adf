"""How images get to nodes; the Docker engine is scripted, the import commands are real."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.kubernetes.images import provide
from tare.runtimes.kubernetes.settings import Images

NAME = "tare/cassandra:5.0.9-abc"
ARCHIVE = [b"an ", b"archive"]


class Engine:
    """An engine with one image; records tags and pushes."""

    def __init__(self, *, tags: list[str] | None = None, push: list[dict[str, str]] | None = None):
        self.tagged: list[tuple[str, str]] = []
        self.removed: list[str] = []
        self._tags = [NAME] if tags is None else tags
        self._push = push or [{"status": "Pushed"}]
        self.images = self

    def get(self, name: str) -> Any:
        return SimpleNamespace(
            tags=self._tags,
            save=lambda named: iter(ARCHIVE),
            tag=lambda repository, tag: self.tagged.append((repository, tag)),
        )

    def remove(self, name: str) -> None:
        self.removed.append(name)

    def push(self, repository: str, **options: Any) -> Iterator[dict[str, str]]:
        yield from self._push


def give(
    images: Images, engine: Engine | None = None, known: list[frozenset[str]] | None = None
) -> tuple[str, bool]:
    made: Any = engine or Engine()
    return provide(images, made, "sha256:1", known or [], lambda line: None)


def importing(*commands: list[str]) -> Images:
    return Images.model_validate({"import": list(commands)})


def test_every_command_is_fed_the_whole_archive(tmp_path: Path) -> None:
    files = [tmp_path / "n1", tmp_path / "n2"]
    given = give(importing(*(["tee", str(file)] for file in files)))
    assert given == (NAME, False)
    assert [file.read_bytes() for file in files] == [b"an archive"] * 2


def test_a_command_is_no_shells(tmp_path: Path) -> None:
    nasty = f"{tmp_path}/$(touch x); `id`"
    give(importing(["tee", nasty.replace("/$", "/_$")]))
    assert [file.name for file in tmp_path.iterdir()] == ["_$(touch x); `id`"]


def test_nodes_that_have_it_are_given_nothing() -> None:
    has = frozenset({f"docker.io/{NAME}"})
    assert give(importing(["false"]), known=[has, has]) == (NAME, False)
    with pytest.raises(RuntimeUnavailableError):  # one node lacks the image
        give(importing(["false"]), known=[has, frozenset()])


def test_a_command_that_fails_is_told_with_its_own_words() -> None:
    with pytest.raises(RuntimeUnavailableError) as caught:
        give(importing(["ls", "/nonexistent"]))
    assert "ls /nonexistent: exit status 2" in caught.value.why
    assert "No such file" in caught.value.why


def test_one_that_is_not_there_is_told() -> None:
    with pytest.raises(RuntimeUnavailableError) as caught:
        give(importing(["/nonexistent/ctr"]))
    assert "/nonexistent/ctr" in caught.value.why


def test_without_any_way_it_is_said_what_to_set() -> None:
    with pytest.raises(RuntimeUnavailableError) as caught:
        give(Images())
    assert "images.import" in caught.value.why
    assert "TARE_KUBERNETES" in caught.value.remedy


def test_through_a_registry_nodes_may_pull_it() -> None:
    engine = Engine()
    images = Images(registry="registry.example.org/tare/")
    assert give(images, engine) == ("registry.example.org/tare/cassandra:5.0.9-abc", True)
    assert engine.tagged == [("registry.example.org/tare/cassandra", "5.0.9-abc")]
    assert engine.removed == ["registry.example.org/tare/cassandra:5.0.9-abc"]


def test_an_image_that_has_the_registrys_name_already_keeps_it() -> None:
    engine = Engine()
    assert give(Images(registry="tare"), engine) == (NAME, True)
    assert engine.removed == []


def test_a_registry_that_refuses_is_told_in_its_words() -> None:
    engine = Engine(push=[{"status": "Preparing"}, {"error": "denied: no basic auth credentials"}])
    with pytest.raises(RuntimeUnavailableError) as caught:
        give(Images(registry="registry.example.org/tare"), engine)
    assert "no basic auth credentials" in caught.value.why


def test_an_image_without_a_name_cannot_be_referred_to() -> None:
    with pytest.raises(RuntimeUnavailableError) as caught:
        give(importing(["tee"]), Engine(tags=[]))
    assert "no name" in caught.value.why
