"""Finds declarations of Tare's own modules and of other packages.

Another package names its declaration as an entry point of a group. The name that counts is the
declaration's, not the entry point's. The caller lists Tare's own modules, so that they are found
without an installation too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Generic, TypeVar

from tare.errors import RuntimeUnavailableError

T = TypeVar("T")


@dataclass(frozen=True)
class SelfDeclared(Generic[T]):
    """One kind of things, each described by a declaration with a `name`.

    Attributes:
        noun: the word for one thing.
        group: entry point group, for packages that bring one.
        of: the class of the declarations.
        own: Tare's own modules, in the order of listings.
        name: pattern of a whole name.
        rule: the pattern in words, after "small letters, digits and single hyphens".
        taken: names that mean something else already.
    """

    noun: str
    group: str
    of: type[T]
    own: Sequence[str]
    name: re.Pattern[str]
    rule: str
    taken: Collection[str] = ()

    def registered(self) -> Mapping[str, T]:
        """All declarations by name, Tare's own first.

        Raises:
            RuntimeUnavailableError: another package's declaration cannot be used.
        """
        return self._registered

    def names(self) -> tuple[str, ...]:
        """The declarations' names, in the order of listings."""
        return tuple(self.registered())

    def declared(self, name: str) -> T:
        """The declaration with this name.

        Raises:
            RuntimeUnavailableError: no declaration has this name.
        """
        known = self.registered()
        if name in known:
            return known[name]
        raise RuntimeUnavailableError(
            f"there is no {self.noun} {name} here",
            why=f"there are {', '.join(known)}",
            remedy="install the package that brings it, or name one of these",
        )

    def having(self, fits: Callable[[T], bool]) -> tuple[str, ...]:
        """The names of the declarations that `fits` accepts."""
        return tuple(name for name, one in self.registered().items() if fits(one))

    @cached_property
    def _registered(self) -> Mapping[str, T]:
        return self.found()

    def found(self) -> Mapping[str, T]:
        """All declarations by name, searched anew.

        Raises:
            RuntimeUnavailableError: another package's declaration cannot be used.
        """
        from importlib.metadata import entry_points  # slower to import than all else here

        found = {one.name: one for own in self.own for one in _each(import_module(own).DECLARED)}
        for point in sorted(entry_points(group=self.group), key=lambda each: each.name):
            for name, brought in self._brought(point):
                if name in found:
                    raise self._unusable(point, f"there is a {self.noun} {name} already")
                found[name] = brought
        return found

    def _brought(self, point: Any) -> list[tuple[str, T]]:
        try:
            declared = _each(point.load())
        except Exception as error:  # another package's code may raise anything
            raise self._unusable(point, f"{type(error).__name__}: {error}") from error
        if not all(isinstance(one, self.of) for one in declared):
            raise self._unusable(point, f"it is no {self.of.__module__}.{self.of.__name__}")
        return [(self._named(point, one), one) for one in declared]

    def _named(self, point: Any, one: T) -> str:
        name = getattr(one, "name", None)
        if isinstance(name, str) and self.name.fullmatch(name) and name not in self.taken:
            return name
        raise self._unusable(
            point,
            f"its name is {name!r}: a name has small letters, digits and single hyphens, "
            f"{self.rule}",
        )

    def _unusable(self, point: Any, why: str) -> RuntimeUnavailableError:
        package = point.dist.name if point.dist else ""
        return RuntimeUnavailableError(
            f"the {self.noun} that the entry point {point.name} brings cannot be used",
            where=point.value,
            why=why,
            remedy=f"pip uninstall {package}, or repair it" if package else "repair its package",
        )


def _each(declared: Any) -> tuple[Any, ...]:
    """The declarations of one module, which may hold one or several."""
    return declared if isinstance(declared, tuple) else (declared,)
