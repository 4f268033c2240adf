# What the rig's scripts share: its names and addresses, starting and waiting. Sourced, never run.
# shellcheck shell=bash
. "${BASH_SOURCE[0]%/*}/../setup/common.sh"

readonly KUBERNETES_VERSION=1.33.13
readonly RIG_PROGRAMS=${TARE_CACHE:-$HOME/.cache/tare}/rig/kubernetes-$KUBERNETES_VERSION
# Two rigs may stand side by side, Kubernetes and Swarm: each has its own name, bridge and addresses.
readonly RIG_NAME=${RIG_NAME:-tare-rig}
readonly RIG_STATE=/var/lib/$RIG_NAME
readonly RIG_BRIDGE=$RIG_NAME
readonly RIG_PREFIX=${RIG_PREFIX:-10.213}
readonly RIG_HOST=$RIG_PREFIX.0.1 # this machine, on the bridge
readonly RIG_NETWORK=$RIG_PREFIX.0.0/16
readonly RIG_PODS=10.214.0.0/16
readonly RIG_SERVICES=10.215.0.0/16
readonly RIG_FIRST_SERVICE=10.215.0.1
readonly RIG_DNS=10.215.0.10
# A node that is silent for so long is not ready; its kubelet speaks up four times as often.
readonly RIG_NODE_GRACE=${RIG_NODE_GRACE:-48s}
readonly RIG_API=https://$RIG_HOST:6443

need_root() {
  is_root || stop "the rig makes network namespaces and control groups, which needs root" "sudo make rig"
}

# need COMMAND PACKAGE...: installs the packages where the command is missing.
need() {
  local command=$1
  shift
  command -v "$command" >/dev/null || install "the rig needs $command" "$@" ||
    stop "$command is missing"
}

# await SECONDS WHAT COMMAND...: until the command succeeds; stops the set-up where it never does.
await() {
  local until=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= until)); then
      tail -n 3 "$RIG_STATE"/logs/*.log >&2 || true # rig-down removes them
      stop "$what did not come in time" "look at $RIG_STATE/logs, then: make rig-down"
    fi
    sleep 0.2
  done
}

# begin NAME COMMAND...: starts a program that outlives this script, with a log of its own. The
# variable TARE_RIG is how it, and all that it starts, is found again.
begin() {
  local name=$1
  shift
  mkdir -p "$RIG_STATE/logs"
  (
    close_inherited
    TARE_RIG=$RIG_STATE exec setsid "$@" >"$RIG_STATE/logs/$name.log" 2>&1 </dev/null
  ) &
}

# Closes what the caller had open, a lock that it holds (flock) among it: a program that stays would
# hold it too.
close_inherited() {
  local descriptor
  for descriptor in "/proc/$BASHPID/fd"/*; do
    descriptor=${descriptor##*/}
    [ "$descriptor" -le 2 ] || eval "exec $descriptor>&-"
  done
}

# inside NODE COMMAND...: in the node's network. (`ip netns exec` would hide the control groups.)
inside() {
  local node=$1
  shift
  nsenter "--net=/run/netns/$RIG_NAME-$node" "$@"
}

# Joins a network namespace of its own to the bridge: make_network NODE ADDRESS.
make_network() {
  local node=$1 address=$2
  ip netns add "$RIG_NAME-$node"
  ip link add "tr-$node" type veth peer name eth0 netns "$RIG_NAME-$node"
  ip link set "tr-$node" master "$RIG_BRIDGE" up
  inside "$node" ip link set lo up
  inside "$node" ip addr add "$address/16" dev eth0
  inside "$node" ip link set eth0 up
  inside "$node" ip route add default via "$RIG_HOST"
  inside "$node" sysctl -qw net.ipv4.ip_forward=1
}

make_bridge() {
  if ip link show "$RIG_BRIDGE" >/dev/null 2>&1; then return 0; fi
  ip link add "$RIG_BRIDGE" type bridge
  ip addr add "$RIG_HOST/16" dev "$RIG_BRIDGE"
  ip link set "$RIG_BRIDGE" up
  # A Docker engine drops what is forwarded, bridged packets among it.
  iptables -w -I FORWARD -i "$RIG_BRIDGE" -o "$RIG_BRIDGE" -j ACCEPT
}

rig_kubectl() {
  local program
  program=$(command -v kubectl || echo "$RIG_PROGRAMS/kubectl")
  "$program" --kubeconfig "$RIG_STATE/admin.kubeconfig" --request-timeout=5s "$@"
}
