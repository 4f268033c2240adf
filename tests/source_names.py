"""Modules of src/tare whose code names things of a kind, for tests that only few do."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "tare"


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Every module by its path below src/tare."""
    for file in sorted(SOURCE.rglob("*.py")):
        yield file.relative_to(SOURCE).as_posix(), ast.parse(file.read_text("utf-8"))


def texts(tree: ast.Module) -> Iterator[str]:
    """Literals; no docstrings, which explain."""
    explain = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    yield from (
        one.value for one in constants if isinstance(one.value, str) and id(one) not in explain
    )


def named(
    tree: ast.Module, names: Collection[str], package: str, modules: re.Pattern[str]
) -> Iterator[str]:
    """Literals that are one of the names, and modules of one that are imported.

    Args:
        package: from which a module may be imported by its name alone.
        modules: which modules are one's own, in full.
    """
    yield from (text for text in texts(tree) if text in names)
    for node in ast.walk(tree):
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == package:
            found = [f"{node.module}.{one.name}" for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [node.module or ""]
        yield from (one for one in found if modules.match(one))
