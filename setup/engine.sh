#!/usr/bin/env bash
# Sees to it that a Docker engine answers: installs and starts one where none does.
# --check: only whether one answers.
# Exit status: 0 it answers; 3 there is none and why was said (native conditions still run).
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

answers() {
  .venv/bin/python -c 'import docker; docker.from_env(timeout=5).ping()' 2>/dev/null
}

wait_until_it_answers() {
  local tries
  for ((tries = 0; tries < 60; tries++)); do
    if answers; then return 0; fi
    sleep 1
  done
  return 1
}

# A dockerd that was killed leaves its containerd, which a new one cannot take over.
stop_orphan() {
  local pidfile=/var/run/docker/containerd/containerd.pid pid tries
  pid=$(cat "$pidfile" 2>/dev/null) || return 0
  if pidof dockerd >/dev/null || [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != containerd ]; then
    return 0
  fi
  say "stopping containerd (process $pid), left by a Docker engine that was killed"
  as_root kill "$pid" || return 0
  for ((tries = 0; tries < 10; tries++)); do
    if [ ! -d "/proc/$pid" ]; then return 0; fi
    sleep 1
  done
}

without() {
  say "no Docker engine: $1"
  [ $# -lt 2 ] || remedy "$2"
  exit 3
}

if answers; then exit 0; fi
[ "${1:-}" != --check ] || exit 3
[ -z "${DOCKER_HOST:-}" ] || without "DOCKER_HOST=$DOCKER_HOST does not answer" "unset DOCKER_HOST"
may_be_root || without "none answers to $(id -un), and only root may start one" \
  "run as root, or: sudo usermod -aG docker $(id -un), and log in again"

missing=()
command -v dockerd >/dev/null || missing+=(docker.io)
command -v iptables >/dev/null || missing+=(iptables)
command -v ip >/dev/null || missing+=(iproute2)
if [ ${#missing[@]} -gt 0 ]; then
  install "the Docker runtime needs an engine" "${missing[@]}" || without "it could not be installed"
  if answers; then exit 0; fi # the package may have started it
fi

if [ -d /run/systemd/system ]; then
  say "starting the Docker engine: systemctl start docker"
  as_root systemctl start docker || without "systemd could not start it" "journalctl -u docker"
  log="journalctl -u docker"
else
  logs=${TARE_CACHE:-$HOME/.cache/tare}
  log=$logs/dockerd.log
  mkdir -p "$logs"
  stop_orphan
  say "starting the Docker engine in the background: dockerd, log in $log"
  as_root setsid dockerd >>"$log" 2>&1 </dev/null 9>&- & # 9: where `step` has scripts speak
fi

wait_until_it_answers && exit 0
if [ -f "$log" ]; then tail -n 5 "$log" >&2; fi
without "it was started but does not answer to $(id -un)" "look at $log"
