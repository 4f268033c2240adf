"""Does it change what a container measures that rights are taken from it? Run as root, 15 minutes.

    python -m bench.rights

Runs bench/studies/rights.yaml, and starts the databases of one of its two conditions as Docker does
by itself: as root, with its usual capabilities. The report compares the two.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.cli import app
from tare.runtimes import confinement

if TYPE_CHECKING:
    from collections.abc import Callable

    from tare.runtimes.unit import Unit

STUDY = Path(__file__).with_name("studies") / "rights.yaml"
BY_DEFAULT = "docker-default"
"""The level whose databases keep Docker's rights; it is part of their names."""


def kept(name: str, otherwise: object) -> None:
    """Have a rule of `confinement` say something else of the units that keep their rights."""
    rule: Callable[..., Any] = getattr(confinement, name)

    def either(unit: Unit, *more: Any) -> Any:
        keeps = unit.role == "database" and BY_DEFAULT in unit.site.name
        return otherwise if keeps else rule(unit, *more)

    setattr(confinement, name, either)


def main() -> None:
    for name, otherwise in (("settings", {}), ("user_of", 0), ("identity", "0:0")):
        kept(name, otherwise)
    sys.argv = ["tare", "run", str(STUDY), "--no-weigh", *sys.argv[1:]]
    app.main()


if __name__ == "__main__":
    main()
