"""Limits for foreign files: larger ones are named and not read."""

MIB = 1024 * 1024

MOST_FILES = 100_000
"""Files of one import, and members of one archive."""
LARGEST_FILE = 128 * MIB
"""One file, uncompressed. A day of one-second rows of cassandra-stress takes about 50 MiB."""
LARGEST_ARCHIVE = 1024 * MIB
"""All members of one archive together, uncompressed."""
RATIO = 250
"""Uncompressed over compressed size. Results of load generators compress 5 to 40 times; a file that
compresses a thousand times was made to fill memories."""
RATIO_FROM = 4 * MIB
"""Below this size, uncompressed, the ratio does not matter."""


def too_large(size: int, compressed: int) -> str | None:
    """Why a file that unpacks to this size is not read; None where it may be."""
    if size > LARGEST_FILE:
        return f"larger than {LARGEST_FILE // MIB} MiB"
    if size > RATIO_FROM and size > RATIO * max(compressed, 1):
        return f"unpacks to more than {RATIO} times its size"
    return None
