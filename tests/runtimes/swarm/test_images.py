"""Nodes with named engines are given the images; for the others, the user is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError, ImageNotFound

from tare.errors import RuntimeUnavailableError
from tare.runtimes.swarm.images import provide

IMAGE, NAME = "sha256:1234", "tare/cassandra:5.0.9-aaaa"


class Engine:
    """An engine that keeps images, or, if full, refuses them."""

    def __init__(self, name: str, *images: str, full: bool = False) -> None:
        self.images, self.api = self, self
        self.own, self.held, self.full = name, list(images), full

    def info(self) -> dict[str, str]:
        return {"Name": self.own}

    def get(self, image: str) -> Any:
        if image not in self.held and image != NAME:
            raise ImageNotFound("no such image")
        return SimpleNamespace(tags=[NAME], save=lambda named: iter([IMAGE.encode()]))

    def load_image(self, pieces: Any) -> None:
        if self.full:
            raise APIError("no space left on device")
        self.held.append(b"".join(pieces).decode())


def test_every_named_node_but_the_managers_own_is_given_it_once() -> None:
    manager, other, has = Engine("n1", IMAGE), Engine("n2"), Engine("n3", IMAGE)
    engines, said = {"e2": other, "e3": has}, list[str]()
    named = {"n2": "e2", "n3": "e3"}
    provide(manager, IMAGE, ["n1", "n2", "n3"], named, said.append, engines.__getitem__)  # type: ignore[arg-type]
    assert other.held == [IMAGE]
    assert has.held == [IMAGE]
    assert said == [f"giving the image {NAME} to n2"]


def test_a_node_whose_engine_is_not_named_is_told_of() -> None:
    said: list[str] = []
    provide(Engine("n1", IMAGE), IMAGE, ["n2"], {}, said.append)  # type: ignore[arg-type]
    assert "node n2 is given no image" in said[0]
    assert NAME in said[0]


def test_an_engine_that_does_not_take_it_is_told_with_its_node() -> None:
    full = Engine("n2", full=True)
    with pytest.raises(RuntimeUnavailableError, match="could not be brought") as caught:
        provide(Engine("n1", IMAGE), IMAGE, ["n2"], {"n2": "e"}, print, lambda _: full)  # type: ignore[arg-type,return-value]
    assert caught.value.where == "n2"
    assert "no space left" in caught.value.why
