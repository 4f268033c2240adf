#!/usr/bin/env bash
# Fetches a mongod and prints where it lies: MongoDB 3.6.8 as Ubuntu 20.04 has it, of 2018 and under
# the AGPL. Later ones are on no registry. mmdebstrap knows Ubuntu's archive; every file is compared
# with its digest in setup/mongod.sha256. A second call finds it in place.
# Exit status: 0 it is there; 3 it cannot be had and why was said (its tests are then skipped).
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

place=${TARE_CACHE:-$HOME/.cache/tare}/mongod/3.6.8

without() {
  say "no mongod: $1"
  [ $# -lt 2 ] || remedy "$2"
  exit 3
}

if [ ! -x "$place/bin/mongod" ]; then
  [ "$(uname -m)" = x86_64 ] || without "Ubuntu's archive has it for x86_64 alone"
  for program in mmdebstrap patchelf; do
    # what apt-get prints is not the path that this prints
    command -v "$program" >/dev/null || install "a mongod is fetched with them" mmdebstrap patchelf >&2 ||
      without "$program is missing" "apt-get install mmdebstrap patchelf"
  done
  say "fetching MongoDB 3.6.8 of Ubuntu 20.04: a minute or two"
  aside=$(mktemp -d)
  trap 'rm -rf "$aside"' EXIT
  # Packages of the day of the release alone, so that digests hold. Debian has no keys of Ubuntu's:
  # the digests stand for them.
  timeout 300 mmdebstrap --variant=extract --components=main,universe --include=mongodb-server-core \
    --setup-hook='sed -i -e "/-updates\|-security/d" -e "s/^deb /deb [trusted=yes] /" "$1"/etc/apt/sources.list' \
    focal "$aside/root" >&2 || without "mmdebstrap focal failed"
  mkdir -p "$aside/bin" "$aside/lib"
  cp "$aside/root/usr/bin/mongod" "$aside/bin"
  while read -r _ file; do
    case $file in lib/*) cp -L "$(find "$aside/root" -name "${file#lib/}" | head -n 1)" "$aside/lib" ;; esac
  done <setup/mongod.sha256
  (cd "$aside" && sha256sum --quiet -c) <setup/mongod.sha256 >&2 || without "a file is not the locked one"
  # It finds its libraries wherever it is copied to on this machine.
  patchelf --force-rpath --set-rpath "$place/lib" "$aside/bin/mongod"
  mkdir -p "$place/bin"
  rm -rf "$place/lib"
  mv "$aside/lib" "$place/lib"
  mv "$aside/bin/mongod" "$place/bin/mongod"
fi
echo "$place/bin/mongod"
