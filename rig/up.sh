#!/usr/bin/env bash
# Starts a Kubernetes cluster on this machine alone: each node in a network of its own on a bridge.
# Usage: rig/up.sh [--nodes 1|3] [--plugin bridge|flannel-vxlan|flannel-host-gw]
#                  [--proxy iptables|nftables]
set -Eeuo pipefail
cd "$(dirname "$0")"
. ./common.sh
. ./secrets.sh
. ./control_plane.sh
. ./node.sh
. ./images.sh

nodes=3 plugin=flannel-vxlan proxy=iptables
while [ $# -gt 0 ]; do
  case $1 in
    --nodes) nodes=$2 ;;
    --plugin) plugin=$2 ;;
    --proxy) proxy=$2 ;;
    *) stop "unknown option $1" "rig/up.sh --nodes 3 --plugin flannel-vxlan" ;;
  esac
  shift 2
done
case $nodes in 1 | 3) ;; *) stop "the rig has one node or three, not $nodes" ;; esac
case $plugin in
  flannel-vxlan | flannel-host-gw) ;;
  bridge) [ "$nodes" -eq 1 ] || stop "the bridge plugin joins pods of one node only" "make rig NODES=1 PLUGIN=bridge" ;;
  *) stop "unknown plugin $plugin" "PLUGIN=flannel-vxlan, flannel-host-gw or bridge" ;;
esac

need_root
trap 'stop "the rig could not be started" "look into $RIG_STATE/logs, then: make rig-down"' ERR
[ ! -e "$RIG_STATE/admin.kubeconfig" ] || stop "a rig is up" "make rig-down, then again"
need ip iproute2
need etcd etcd-server
need containerd containerd runc
need iptables iptables
need openssl openssl
[ "$proxy" = iptables ] || need nft nftables
[ -x /usr/lib/cni/host-local ] || install "the rig joins pods with them" containernetworking-plugins
./build.sh

say "starting Kubernetes $KUBERNETES_VERSION: $nodes node(s), $plugin, kube-proxy with $proxy"
mkdir -p "$RIG_STATE"
chmod 700 "$RIG_STATE"
keep_kernel_settings
keep_directories
make_bridge
make_secrets
start_control_plane
make_images
for ((number = 1; number <= nodes; number++)); do
  start_node "$number" "$proxy"
done
for ((number = 1; number <= nodes; number++)); do
  join_network "$number" "$plugin" "$proxy"
done
rig_kubectl apply -f manifests/coredns.yaml -f manifests/storage.yaml -f ../docs/kubernetes-rights.yaml >/dev/null
await 60 "a ready node" rig_kubectl wait --for=condition=Ready node --all --timeout=4s
await 60 "the cluster's DNS" rig_kubectl -n kube-system rollout status daemonset/coredns --timeout=4s
for ((number = 1; number <= nodes; number++)); do
  route_to_node "$number"
done
write_cluster_file "$nodes"
say "ready; for tare and kubectl:"
printf 'export KUBECONFIG=%s TARE_KUBERNETES=%s\n' \
  "$RIG_STATE/tare.kubeconfig" "$RIG_STATE/cluster.yaml"
