#!/usr/bin/env bash
# The whole set-up; a second call finds everything in place and takes a second or two.
#   dev        also what checks and tests need
#   --alone    neither Docker engine nor Cassandra
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

extras= alone=false
for word; do
  case $word in
    dev) extras=dev ;;
    --alone) alone=true ;;
  esac
done

# No engine is no reason to stop: what can be done without one is done.
engine() { setup/engine.sh || [ $? -eq 3 ]; }

run_with() {
  if $alone; then return; fi
  step tools "Debian packages to run with" setup/tools.sh run
  step engine "Docker engine" engine
  step cassandra "Cassandra and Java, locked files" .venv/bin/python -m tare.artifacts.fetch
}

packages() {
  step packages "Python packages" setup/python.sh packages $extras
  PYTHONPATH=src run_with
}

began=$SECONDS
step build-tools "Debian packages to build with" setup/tools.sh build
if setup/python.sh --current $extras; then
  run_with
  exit
fi

say "setting up: some minutes the first time; details in $LOGS"
# Compiling takes longest: all else is fetched beside it. A process group of its own, so that what
# it has started ends with an interrupted set-up.
set -m
packages &
beside=$!
set +m
trap 'kill -- "-$beside" 2>/dev/null; exit 130' INT TERM
failed=0
step programs "Rust programs, compiled" cargo build --profile "$PROFILE" --locked || failed=1
wait "$beside" || failed=1
[ "$failed" -eq 0 ] || exit 1
trap - INT TERM
step tare "Tare" setup/python.sh tare $extras
say "set up in $((SECONDS - began)) s, steps beside each other"
