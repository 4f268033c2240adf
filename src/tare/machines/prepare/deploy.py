"""pyinfra's deploy: what a host needs for Tare. Run by pyinfra on each host, never imported.

Every step asks first, so that a host that has all it needs is not changed. What will be changed is
written, one JSON line for each host, before anything is.
"""

import json
import os
from pathlib import Path
from typing import Any

from pyinfra import host
from pyinfra.facts.server import Command, Which
from pyinfra.operations import apk, apt, dnf, files, server, yum, zypper

STEPS = set(host.data.tare_steps)
MANAGERS: tuple[tuple[str, Any, dict[str, bool]], ...] = (
    ("apt-get", apt.packages, {"update": True, "no_recommends": True}),
    ("dnf", dnf.packages, {}),
    ("yum", yum.packages, {}),
    ("zypper", zypper.packages, {}),
    ("apk", apk.packages, {"update": True}),
)
PACKAGES = {
    "tar": {"": "tar"},
    "find": {"": "findutils"},
    "sha256sum": {"": "coreutils"},
    "setsid": {"": "util-linux"},
    "getconf": {"apt-get": "libc-bin", "apk": "musl-utils", "": "glibc-common"},
    "chrony": {"": "chrony"},
    "docker": {"apt-get": "docker.io", "dnf": "moby-engine", "": "docker"},
    "java": {
        "apt-get": "default-jre-headless",
        "apk": "openjdk17-jre-headless",
        "": "java-17-openjdk-headless",
    },
}
DAEMONS = (
    "for file in /proc/[0-9]*/comm; do name=; { read -r name <$file; } 2>/dev/null; case $name in "
    "chronyd|ntpd|ntpsec|openntpd|systemd-timesyn|ptp4l|phc2sys) echo $name; break;; esac; done"
)
ENGINE = "timeout 5 docker version --format '{{.Server.Version}}' 2>/dev/null; true"
changes: list[str] = []
notes: list[str] = []


def there(program: str) -> bool:
    """Whether the host has a program."""
    return bool(host.get_fact(Which, command=program))


def install(*needs: str) -> bool:
    """Packages for these needs, by the package manager that the host has."""
    if not needs:
        return True
    for manager, operation, settings in MANAGERS:
        if there(manager):
            names = [PACKAGES[need].get(manager, PACKAGES[need][""]) for need in needs]
            operation(name=f"install {', '.join(names)}", packages=names, **settings)
            changes.append(f"install {', '.join(names)} by {manager}")
            return True
    notes.append(f"no package manager that is known here: install {', '.join(needs)} by hand")
    return False


def serve(*names: str) -> None:
    """A service that runs, now and after the next start of the host; the first name that fits."""
    if (
        there("systemctl")
        and host.get_fact(Command, command="test -d /run/systemd/system; echo $?") == "0"
    ):
        unit = names[0] if there("apt-get") else names[-1]
        server.service(name=f"start {unit}", service=unit, running=True, enabled=True)
        changes.append(f"start {unit}, now and at boot")
    else:
        notes.append(f"no systemd: start {names[0]} by hand")


def directory() -> None:
    """Tare's own directory, for its owner alone."""
    made = files.directory(name="directory", path=host.data.tare_directory, mode="700")
    if made.will_change:
        changes.append(f"make {host.data.tare_directory}, for its owner alone")


if "directory" in STEPS:
    directory()
if "programs" in STEPS:
    install(*(one for one in ("tar", "find", "sha256sum", "setsid", "getconf") if not there(one)))
if "clock" in STEPS and not host.get_fact(Command, command=DAEMONS) and install("chrony"):
    serve("chrony", "chronyd")
if "java" in STEPS and not there("java"):
    install("java")
engine = "docker" not in STEPS or host.get_fact(Command, command=ENGINE)
if not engine and (there("docker") or install("docker")):
    serve("docker")

with Path(os.environ["TARE_PREPARE_TOLD"]).open("a", encoding="utf-8") as told:
    told.write(json.dumps({"host": host.name, "changes": changes, "notes": notes}) + "\n")
