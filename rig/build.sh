#!/usr/bin/env bash
# Builds the rig's programs, once, into the cache: Kubernetes, flannel, CoreDNS and the pause
# program, from the Go modules that build/*/go.sum locks. With names: only these programs.
# --check: only whether all are built.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh

# Prints the directory of the module that builds a program, and its package there.
source_of() {
  case $1 in
    coredns | flanneld | pause) echo "build/$1" . ;;
    *) echo build/kubernetes "k8s.io/kubernetes/cmd/$1" ;;
  esac
}

build() {
  local program=$1 module package
  read -r module package < <(source_of "$program")
  command -v go >/dev/null ||
    stop "the rig's programs are built with Go, which is not on PATH" "see https://go.dev/doc/install"
  say "building $program (the first time takes minutes; kept in $RIG_PROGRAMS)"
  mkdir -p "$RIG_PROGRAMS"
  (
    cd "$module"
    CGO_ENABLED=0 go build -mod=readonly -trimpath \
      -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$KUBERNETES_VERSION" \
      -o "$RIG_PROGRAMS/$program.part" "$package"
  )
  mv "$RIG_PROGRAMS/$program.part" "$RIG_PROGRAMS/$program"
}

check=false
if [ "${1:-}" = --check ]; then
  check=true
  shift
fi
if [ $# -eq 0 ]; then
  set -- kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy \
    coredns flanneld pause
  command -v kubectl >/dev/null || set -- "$@" kubectl
fi
for program; do
  if [ -x "$RIG_PROGRAMS/$program" ]; then continue; fi
  if $check; then exit 3; fi
  build "$program"
done
