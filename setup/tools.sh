#!/usr/bin/env bash
# Installs the ordinary tools that Tare is built with, or (run) that it fetches and measures with,
# where they are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

missing=()
case ${1:-build} in
  build)
    setup/python.sh --check || missing+=(python3 python3-venv)
    command -v cc >/dev/null || missing+=(gcc libc6-dev)
    why="Tare is built with Python 3.11 or newer, its venv and a C linker"
    ;;
  run)
    command -v mvn >/dev/null || missing+=(maven)
    command -v ip >/dev/null || missing+=(iproute2)
    why="Cassandra is fetched with Maven, and addresses are set with ip"
    ;;
esac

if [ ${#missing[@]} -gt 0 ]; then
  install "$why" "${missing[@]}" || stop "the set-up cannot go on without them"
fi
[ "${1:-build}" = build ] || exit 0
setup/python.sh --check || stop "no Python 3.11 or newer with venv was found"
command -v cargo >/dev/null ||
  stop "Rust 1.89 or newer is missing (Debian's own is too old for the load generator)" "https://rustup.rs"
