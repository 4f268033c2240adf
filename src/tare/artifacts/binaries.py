"""Where Tare's own Rust programs are: installed beside Python, or built in the checkout."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Literal

from tare.errors import RuntimeUnavailableError

Binary = Literal["tare-load", "tare-probe", "tare-pod", "tare-stub", "tare-micro"]


def find(name: Binary) -> Path:
    """The absolute path of one of Tare's programs.

    If $TARE_BIN_DIR is set, only that directory counts. Otherwise the search takes the directory of
    the running Python, target/release of this module's checkout, and PATH.

    Raises:
        RuntimeUnavailableError: the program is in none of them.
    """
    named = os.environ.get("TARE_BIN_DIR")
    checkout = Path(__file__).parents[3]
    # sys.executable is not resolved: in a virtual environment it is a link to elsewhere.
    directories = [Path(named)] if named else [Path(sys.executable).parent]
    if not named and (checkout / "Cargo.toml").is_file():
        directories.append(checkout / "target" / "release")
    for directory in directories:
        file = directory / name
        if file.is_file() and os.access(file, os.X_OK):
            return file.absolute()
    on_path = None if named else shutil.which(name)
    if on_path is None:
        looked = ", ".join(str(directory) for directory in directories)
        raise RuntimeUnavailableError(
            f"the program {name} is missing",
            why=f"looked in {looked}" + ("" if named else " and on PATH"),
            remedy="make setup, or cargo build --release in the checkout",
        )
    return Path(on_path).absolute()
