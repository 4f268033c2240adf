#!/usr/bin/env bash
# Starts a Docker Swarm of three on this machine alone: each node an engine of its own, in a network
# of its own on the rig's bridge. The first is the manager.
set -Eeuo pipefail
cd "$(dirname "$0")"
RIG_NAME=tare-swarm RIG_PREFIX=10.216
. ./common.sh

swarm_address() { printf '%s.1.%d' "$RIG_PREFIX" "$((10 + $1))"; }
swarm_home() { printf '%s/s%d' "$RIG_STATE" "$1"; }
swarm_socket() { printf 'unix://%s/docker.sock' "$(swarm_home "$1")"; }
# ask NUMBER DOCKER-ARGUMENTS...
ask() {
  local number=$1
  shift
  docker -H "$(swarm_socket "$number")" "$@"
}

start_engine() {
  local number=$1 node=s$1 home
  home=$(swarm_home "$number")
  mkdir -p "$home"
  make_network "$node" "$(swarm_address "$number")"
  # --uts: an engine names itself after its host. Its mounts are its own, as a machine's would be.
  begin "dockerd-$node" nsenter "--net=/run/netns/$RIG_NAME-$node" unshare --mount --uts \
    sh -c 'hostname "$1"; shift; exec "$@"' sh "swarm-$number" \
    dockerd --data-root "$home/data" --exec-root "$home/exec" --pidfile "$home/docker.pid" \
    --host "$(swarm_socket "$number")" --cgroup-parent "/$RIG_NAME/$node"
}

# What Tare is told of this Swarm: its manager, and every node's engine.
write_swarm_file() {
  local number
  {
    printf 'manager: %s\nengines:\n' "$(swarm_socket 1)"
    for number in 1 2 3; do
      printf '  swarm-%d: %s\n' "$number" "$(swarm_socket "$number")"
    done
  } >"$RIG_STATE/swarm.yaml"
}

need_root
[ ! -e "$RIG_STATE/swarm.yaml" ] || stop "a Swarm is up" "make rig-swarm-down, then again"
trap 'stop "the Swarm could not be started" "look into $RIG_STATE/logs, then: make rig-swarm-down"' ERR
need dockerd docker.io
need iptables iptables
need ip iproute2
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
write_swarm_file
say "a Swarm of three is up; Tare finds it by:"
printf 'export TARE_SWARM=%s/swarm.yaml\n' "$RIG_STATE"
