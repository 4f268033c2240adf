# What the set-up scripts share: saying things, and becoming root. Sourced, never run.
# shellcheck shell=bash

say() { printf 'tare: %s\n' "$*" >&2; }

# Set-up stops here: what is wrong, then the command that helps.
stop() {
  say "$1"
  [ $# -lt 2 ] || printf '  try: %s\n' "$2" >&2
  exit 1
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
    printf '  try: sudo apt-get install -y --no-install-recommends %s\n' "$*" >&2
    return 1
  fi
  say "installing them now"
  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get -q update && as_root apt-get -q install -y --no-install-recommends "$@"
}
