# What the set-up scripts share: saying things, becoming root, steps with a log. Sourced, never run.
# shellcheck shell=bash

LOGS=${TARE_CACHE:-$HOME/.cache/tare}/setup

# How the Rust programs are built, a profile of Cargo.toml.
PROFILE=${TARE_PROFILE:-release}

# What a script says is seen also where its output, and that of what it calls, goes to a log.
say() { printf 'tare: %s\n' "$*" >&"${TARE_SAYS_TO:-2}"; }

remedy() { printf '  try: %s\n' "$1" >&"${TARE_SAYS_TO:-2}"; }

# Set-up stops here: what is wrong, then the command that helps.
stop() {
  say "$1"
  [ $# -lt 2 ] || remedy "$2"
  exit 1
}

# step NAME WHAT COMMAND...: one line with the time it took, where that was a second or more; its
# output in NAME.log, of which the end is shown where it fails.
step() {
  local log=$LOGS/$1.log what=$2 began=$SECONDS status=0
  shift 2
  mkdir -p "$LOGS"
  TARE_SAYS_TO=9 "$@" 9>&2 >"$log" 2>&1 </dev/null || status=$?
  local took=$((SECONDS - began))
  if [ "$status" -ne 0 ]; then
    say "$what: failed after $took s; the end of $log:"
    tail -n 20 "$log" >&2
  elif [ "$took" -gt 0 ]; then
    say "$(printf '%4d s  %s' "$took" "$what")"
  fi
  return "$status"
}

is_root() { [ "$(id -u)" -eq 0 ]; }

may_be_root() { is_root || sudo -n true 2>/dev/null; }

as_root() {
  if is_root; then "$@"; else sudo -n "$@"; fi
}

# install WHY PACKAGE...: Debian packages, announced first; 1 if that is not possible here.
install() {
  local why=$1
  shift
  say "$why; Debian packages: $*"
  if ! command -v apt-get >/dev/null; then
    say "this machine has no apt-get; install the like of these packages with its own tool"
    return 1
  fi
  if ! may_be_root; then
    say "only root may install them"
    remedy "sudo apt-get install -y --no-install-recommends $*"
    return 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get -q update &&
    as_root apt-get -q install -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}

usable() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

# The first Python of PATH that is new enough and makes virtual environments; 1 if there is none.
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
