#!/usr/bin/env bash
# Builds dist/tare_bench-*.whl: Tare with its Rust programs, for every Linux of this processor with
# glibc 2.28 or later (TARE_GLIBC names another). Zig, a package of PyPI, links against it.
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

tools=target/wheel-tools

get_tools() {
  [ -x "$tools/bin/python" ] || "$(find_python)" -m venv "$tools"
  "$tools/bin/python" -m pip install --progress-bar off --constraint constraints.txt hatchling cargo-zigbuild
}

build() {
  rm -f dist/tare_bench-*.whl
  PATH=$PWD/$tools/bin:$PATH TARE_GLIBC=${TARE_GLIBC:-2.28} \
    "$tools/bin/python" -m hatchling build --target wheel
}

step build-tools "Debian packages to build with" setup/tools.sh build
step wheel-tools "cargo-zigbuild and Zig, in $tools" get_tools
step wheel "Rust programs, compiled, and the wheel" build
say "made $(ls dist/tare_bench-*.whl)"
