#!/usr/bin/env bash
# Makes .venv. With `dev` in the end: also what checks and tests need.
#   --check        is there a Python that can do it?
#   --current      is all as it was made from these sources?
#   packages       the pinned packages of constraints.txt that Tare uses
#   tare           Tare itself, which runs from this folder, and its Rust programs
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

python=$(find_python) || exit 1
extras=${2:-}
stamp=.venv/tare-setup.sha256

# All that the installed thing is made of, and where it is: a moved .venv does not work.
fingerprint() {
  {
    printf '%s\n' "$PWD" "$("$python" --version)" "$PROFILE"
    find crates hatch_build.py pyproject.toml constraints.txt Cargo.toml Cargo.lock -type f -print0 |
      LC_ALL=C sort -z | xargs -0 sha256sum
  } | sha256sum
}

current() {
  local program was had=
  for program in tare tare-load tare-probe tare-pod tare-stub tare-micro; do
    [ -x ".venv/bin/$program" ] || return 1
  done
  { read -r was && read -r had; } 2>/dev/null <"$stamp" || return 1
  [ "$was" = "$(fingerprint)" ] && { [ -z "$extras" ] || [ "$had" = "with $extras" ]; }
}

# Tare's dependencies and what builds it, as its own description names them.
requirements() {
  "$python" - $extras <<'END'
import sys, tomllib
with open("pyproject.toml", "rb") as file:
    told = tomllib.load(file)
wanted = told["build-system"]["requires"] + told["project"]["dependencies"]
for extra in sys.argv[1:]:
    wanted += told["project"]["optional-dependencies"][extra]
print(*wanted, sep="\n")
END
}

pip_install() { # --no-compile: what is never imported, most of it, is never compiled
  .venv/bin/python -m pip install --no-compile --progress-bar off "$@"
}

case $1 in
  --check) ;;
  --current) current ;;
  packages)
    rm -f "$stamp"
    .venv/bin/python -c 'import pip' 2>/dev/null || "$python" -m venv --clear .venv
    requirements >.venv/tare-requirements.txt
    pip_install --constraint constraints.txt --requirement .venv/tare-requirements.txt
    ;;
  tare)
    # Cargo finds the programs built; they are put beside Python.
    pip_install --no-deps --no-build-isolation --editable .
    printf '%s\n' "$(fingerprint)" "with ${extras:-nothing more}" >"$stamp"
    current || stop "the build left not all programs in .venv/bin"
    ;;
esac
