#!/usr/bin/env bash
# Sees to it that the tests of the report's page find a Chromium; only `make test` needs one.
# Exit status: 0 there is one; 3 there is none and why was said (those tests are then skipped).
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" >/dev/null; then exit 0; fi
done
[ -z "${TARE_BROWSER:-}" ] || exit 0
install "the tests of the report's page open it in a browser" chromium fonts-dejavu-core || exit 3
