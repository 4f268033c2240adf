#!/usr/bin/env bash
# Sees to it that hosts of our own can be started and logged in to: OpenSSH's client and server.
# Nothing is started, and a server that the package would start is not left running.
# --check: only whether both are there.
# Exit status: 0 both are there; 3 one is missing and why was said.
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

PATH=$PATH:/usr/sbin
missing=()
command -v ssh >/dev/null || missing+=(openssh-client)
command -v sshd >/dev/null || missing+=(openssh-server)
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "${1:-}" = --check ]; then
  say "missing: ${missing[*]}"
  exit 3
fi
was_running=$(pidof sshd || true)
install "studies on hosts over SSH are tested on hosts of our own" "${missing[@]}" || exit 3
if [ -z "$was_running" ] && [ -d /run/systemd/system ]; then
  as_root systemctl disable --now ssh.service ssh.socket 2>/dev/null || true
fi
command -v sshd >/dev/null || exit 3
