"""Facts of a host, from one query over SSH: system, sizes, programs, rights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.machines.ssh import HostError

if TYPE_CHECKING:
    from tare.machines.ssh import Connection

_MOST = 200
"""characters that one answer of a host may have; the host may send anything"""
_ASK = r"""
say() { printf '%s=%s\n' "$1" "$(printf '%s' "$2" | tr -d '\000-\037\177' | cut -c1-200)"; }
say user "$(id -un)"
say uid "$(id -u)"
if [ "$(id -u)" = 0 ]; then say sudo yes
elif sudo -n true 2>/dev/null; then say sudo yes
else say sudo no; fi
say os "$(. /etc/os-release 2>/dev/null && printf '%s' "$PRETTY_NAME")"
say kernel "$(uname -r)"
say architecture "$(uname -m)"
say boot "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
say cpus "$(getconf _NPROCESSORS_ONLN)"
say memory "$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)"
say available "$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)"
say ticks "$(sed -n 's/^cpu  *//p' /proc/stat)"
place=$1
while [ ! -d "$place" ] && [ "$place" != / ]; do place=$(dirname "$place"); done
say disk "$(df -Pk "$place" | awk 'NR == 2 { print $4 }')"
say writes "$([ -w "$place" ] && echo yes || echo no)"
say java "$(java -version 2>&1 </dev/null | head -n 1)"
command -v java >/dev/null || say java ''
if command -v docker >/dev/null; then
  say docker "$(timeout 5 docker version --format '{{.Server.Version}}' 2>&1 | grep . | head -n 1)"
  timeout 5 docker version --format '{{.Server.Version}}' >/dev/null 2>&1 && say answers yes
fi
daemon=
for file in /proc/[0-9]*/comm; do
  name=
  { read -r name <"$file"; } 2>/dev/null
  case $name in chronyd|ntpd|ntpsec|openntpd|systemd-timesyn|ptp4l|phc2sys) daemon=$name ;; esac
done
say synchronised_by "$daemon"
for one in tar find sha256sum setsid getconf; do
  command -v "$one" >/dev/null || missing="$missing $one"
done
say missing "$missing"
"""


@dataclass(frozen=True)
class HostFacts:
    """A host's own facts; sizes in bytes, empty: it did not say."""

    user: str
    root: bool
    sudo: bool
    """whether root can be had without a password"""
    os: str
    kernel: str
    architecture: str
    boot: str
    """identifies this start of its kernel: the same for hosts that share a kernel"""
    cpus: int
    memory: int
    memory_available: int
    disk_free: int
    """where Tare's directory is or will be"""
    writable: bool
    """whether that can be made or written"""
    steal: float
    """share of its CPU time since it started that its hypervisor gave to others"""
    java: str
    docker: str
    """version of the engine; empty: none"""
    docker_fault: str
    """why an engine that is there does not answer"""
    synchronised_by: str
    """the daemon that keeps its clock; empty: none was seen"""
    missing: tuple[str, ...]
    """programs that Tare needs there"""


def survey(connection: Connection) -> HostFacts:
    """Ask a host what it is.

    Raises:
        HostError: it does not answer, or not as a Linux host would.
    """
    done = connection.script(_ASK, str(connection.host.directory))
    text = done.out.decode(errors="replace")
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    told = {name: printable(value) for name, value in pairs}
    if not told.get("kernel") or not told.get("cpus", "").isdecimal():
        raise HostError(
            "this is no host that Tare can use",
            where=str(connection.host),
            why=f"it does not answer as Linux does: {printable(done.why)}",
            remedy=connection.by_hand(),
        )
    engine, answers = told.get("docker", ""), told.get("answers") == "yes"
    return HostFacts(
        user=told.get("user", ""),
        root=told.get("uid") == "0",
        sudo=told.get("sudo") == "yes",
        os=told.get("os", ""),
        kernel=told["kernel"],
        architecture=told.get("architecture", ""),
        boot=told.get("boot", ""),
        cpus=int(told["cpus"]),
        memory=_kib(told, "memory"),
        memory_available=_kib(told, "available"),
        disk_free=_kib(told, "disk"),
        writable=told.get("writes") == "yes",
        steal=_steal(told.get("ticks", "")),
        java=told.get("java", ""),
        docker=engine if answers else "",
        docker_fault="" if answers else engine,
        synchronised_by=told.get("synchronised_by", ""),
        missing=tuple(told.get("missing", "").split()),
    )


def printable(text: str) -> str:
    """The text without what a terminal would obey, and short: a host may answer anything."""
    return "".join(one for one in text if one.isprintable())[:_MOST]


def _kib(told: dict[str, str], name: str) -> int:
    text = told.get(name, "")
    return int(text) * 1024 if text.isdecimal() and len(text) < _MOST else 0


def _steal(text: str) -> float:
    """Of the numbers of /proc/stat's first line, the eighth; guest time is in user time already."""
    words = text.split()
    if len(words) < 8 or not all(word.isdecimal() for word in words):
        return 0.0
    ticks = [int(word) for word in words[:8]]
    return ticks[7] / sum(ticks) if sum(ticks) else 0.0
