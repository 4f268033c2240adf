#!/usr/bin/env bash
# Builds FerretDB with Go and prints where it lies: it stands in for MongoDB in the tests and where a
# study is tried out, and is no target of a benchmark. A second call finds it in place.
# Exit status: 0 it is there; 3 it cannot be had and why was said (its tests are then skipped).
set -euo pipefail
cd "$(dirname "$0")/.."
. setup/common.sh

module=github.com/FerretDB/FerretDB
version=v1.24.0
sum=h1:7WJmezL48Bj9bYWnhT/bEJgX5gjT5s7LFdHTqkN25rA=
# Another place than that of builds without PostgreSQL.
place=${TARE_CACHE:-$HOME/.cache/tare}/ferretdb/$version-postgresql

without() {
  say "no FerretDB: $1"
  [ $# -lt 2 ] || remedy "$2"
  exit 3
}

if [ ! -x "$place/ferretdb" ]; then
  export PATH=$PATH:/usr/local/go/bin GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
  command -v go >/dev/null || without "it is built with Go, which is missing" "https://go.dev/dl/"
  told=$(go mod download -json "$module@$version") || without "$module@$version cannot be fetched"
  field() { sed -n "s/^\t\"$1\": \"\(.*\)\",\?\$/\1/p" <<<"$told"; }
  [ "$(field Sum)" = "$sum" ] || stop "$module@$version is not the locked one" "go clean -modcache"
  aside=$(mktemp -d)
  trap 'chmod -R u+w "$aside" && rm -rf "$aside"' EXIT
  cp -r "$(field Dir)/." "$aside"
  chmod -R u+w "$aside"
  # What its own build writes; without it the program does not start.
  printf %s "$version" >"$aside/build/version/version.txt"
  say "building FerretDB $version: a minute or two"
  mkdir -p "$place"
  (cd "$aside" && go build -trimpath -o "$aside/ferretdb.new" ./cmd/ferretdb) ||
    without "it does not build with $(go version)"
  mv "$aside/ferretdb.new" "$place/ferretdb"
fi
echo "$place/ferretdb"
