#!/usr/bin/env bash
# Makes .venv with Tare, its pinned dependencies and its Rust programs; nothing if all is as it was.
# --check: only whether there is a Python that can do it.
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

usable() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
  local name
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if usable "$name"; then
      command -v "$name"
      return
    fi
  done
  return 1
}

python=$(find_python) || exit 1
if [ "${1:-}" = --check ]; then exit 0; fi

# All that the installed thing is made of, and where it is: a moved .venv does not work.
fingerprint() {
  printf '%s\n' "$PWD" "$("$python" --version)"
  find crates pyproject.toml constraints.txt Cargo.toml Cargo.lock -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum
}

stamp=.venv/tare-setup.sha256
now=$(fingerprint | sha256sum)
if [ -x .venv/bin/tare ] && [ -x .venv/bin/tare-load ] && [ -x .venv/bin/tare-probe ] &&
  [ -x .venv/bin/tare-pod ] && [ -x .venv/bin/tare-stub ] && [ -x .venv/bin/tare-micro ] &&
  [ -f "$stamp" ] && [ "$now" = "$(cat "$stamp")" ]; then
  exit 0
fi

rm -f "$stamp"
say "building the load generator, the probe and the pods' program (some minutes the first time)"
cargo build --release --locked
say "installing Tare and the Python packages of constraints.txt into .venv"
.venv/bin/python -c 'import pip' 2>/dev/null || "$python" -m venv --clear .venv
# It finds the programs built (they share target/) and puts them beside Python.
.venv/bin/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
for program in tare-load tare-probe tare-pod tare-stub tare-micro; do
  [ -x ".venv/bin/$program" ] || stop "the build left no .venv/bin/$program"
done
printf '%s\n' "$now" >"$stamp"
