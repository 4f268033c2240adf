#!/usr/bin/env bash
# Installs the ordinary tools that Tare is built and fed with, where they are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

missing=()
setup/python.sh --check || missing+=(python3 python3-venv)
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v mvn >/dev/null || missing+=(maven)
command -v ip >/dev/null || missing+=(iproute2)

if [ ${#missing[@]} -gt 0 ]; then
  install "Tare needs Python 3.11 with venv, a C linker, Maven and ip" "${missing[@]}" ||
    stop "the set-up cannot go on without them"
fi
setup/python.sh --check || stop "no Python 3.11 or newer with venv was found"
command -v cargo >/dev/null ||
  stop "Rust 1.89 or newer is missing (Debian's own is too old for the load generator)" "https://rustup.rs"
