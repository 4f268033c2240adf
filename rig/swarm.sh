#!/usr/bin/env bash
# Starts a Docker Swarm of three on this machine alone: each node an engine of its own, in a network
# of its own on the rig's bridge.
set -Eeuo pipefail
cd "$(dirname "$0")"
. ./common.sh

swarm_address() { printf '10.213.1.%d' "$((10 + $1))"; }
swarm_home() { printf '%s/s%d' "$RIG_STATE" "$1"; }
# ask NUMBER DOCKER-ARGUMENTS...
ask() {
  local number=$1
  shift
  docker -H "unix://$(swarm_home "$number")/docker.sock" "$@"
}

start_engine() {
  local number=$1 node=s$1 home
  home=$(swarm_home "$number")
  mkdir -p "$home"
  make_network "$node" "$(swarm_address "$number")"
  # --uts: an engine names itself after its host. Its mounts are its own, as a machine's would be.
  begin "dockerd-$node" nsenter "--net=/run/netns/tare-rig-$node" unshare --mount --uts \
    sh -c 'hostname "$1"; shift; exec "$@"' sh "swarm-$number" \
    dockerd --data-root "$home/data" --exec-root "$home/exec" --pidfile "$home/docker.pid" \
    -H "unix://$home/docker.sock" \
    --cgroup-parent "/tare-rig/$node"
}

need_root
[ ! -e "$RIG_STATE/swarm.env" ] || stop "a Swarm is up" "make rig-down, then again"
need dockerd docker.io
need iptables iptables
mkdir -p "$RIG_STATE"
make_bridge
for number in 1 2 3; do
  start_engine "$number"
done
for number in 1 2 3; do
  await 60 "the engine of swarm-$number" ask "$number" info
done
ask 1 swarm init --advertise-addr "$(swarm_address 1)" --listen-addr "$(swarm_address 1):2377" >/dev/null
token=$(ask 1 swarm join-token --quiet worker)
for number in 2 3; do
  ask "$number" swarm join --token "$token" --advertise-addr "$(swarm_address "$number")" \
    --listen-addr "$(swarm_address "$number"):2377" "$(swarm_address 1):2377" >/dev/null
done
say "a Swarm of three is up; its manager answers at:"
printf 'export DOCKER_HOST=unix://%s/docker.sock\n' "$(swarm_home 1)" | tee "$RIG_STATE/swarm.env"
