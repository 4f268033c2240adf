"""Fetch and verify the locked files beforehand: ``python -m tare.artifacts.fetch [VERSION]``."""

from __future__ import annotations

import argparse
import sys

from tare.artifacts.lock import locked_versions
from tare.artifacts.tree import cassandra_tree
from tare.errors import TareError


def main() -> int:
    """Fetch the named version, else every locked one; exit status 0 done, 1 failed."""
    parser = argparse.ArgumentParser(prog="python -m tare.artifacts.fetch", description=__doc__)
    parser.add_argument("version", nargs="*", help="default: every locked version")
    try:
        for version in parser.parse_args().version or locked_versions():
            tree = cassandra_tree(version, None, say=print)
            print(f"Cassandra {version} verified: {tree.root} (SHA-256 {tree.digest[:12]}...)")
    except TareError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
