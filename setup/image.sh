#!/usr/bin/env bash
# Builds the image tare-bench: the wheel of dist/ (made first, if there is none) on a Debian.
# TARE_IMAGE_BASE names another base, with apt-get and Python 3.11 or later.
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

context=target/image

command -v docker >/dev/null || stop "there is no docker command to build an image with" \
  "apt-get install docker.io"
docker version >/dev/null 2>&1 || stop "no Docker engine answers" "setup/engine.sh, after make setup"
wheels=(dist/tare_bench-*.whl)
[ -e "${wheels[0]}" ] || setup/wheel.sh

build() {
  rm -rf "$context"
  mkdir -p "$context"
  cp constraints.txt dist/tare_bench-*.whl "$context"
  docker build --file setup/image.Dockerfile --tag tare-bench \
    --build-arg "BASE=${TARE_IMAGE_BASE:-debian:bookworm-slim}" "$context"
}

step image "the image tare-bench" build
say "made the image tare-bench; docs/install.md says how it measures"
