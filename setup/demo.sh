#!/usr/bin/env bash
# The demo: runs studies/quickstart.yaml; without a Docker engine its native conditions only.
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

study=studies/quickstart.yaml
if setup/engine.sh --check; then
  exec .venv/bin/tare run "$study"
fi

say "without a Docker engine the container's conditions are planned only; measured is native"
say "against native, which shows the noise of this machine"
.venv/bin/tare plan "$study" ||
  say "(that refusal is of the container's conditions alone)"
exec .venv/bin/tare run "$study" --set study=quickstart-native --set "exclude=[{platform: docker}]" \
  --set "only={endpoint: loopback}"
