"""pyinfra's inventory: the hosts of a JSON file that Tare wrote. Run by pyinfra, never imported."""

import json
import os
from pathlib import Path

hosts = [
    (one["name"], one["data"])
    for one in json.loads(Path(os.environ["TARE_PREPARE_HOSTS"]).read_text(encoding="utf-8"))
]
