# One node: a network, a containerd, a kubelet, a kube-proxy, and its place in the pods' network.
# Sourced, never run.
# shellcheck shell=bash

node_address() { printf '10.213.0.%d' "$((10 + $1))"; }
node_directory() { printf '%s/n%d' "$RIG_STATE" "$1"; }

# start_node NUMBER PROXY
start_node() {
  local number=$1 node=n$1 home address
  home=$(node_directory "$number")
  address=$(node_address "$number")
  mkdir -p "$home/cni" "$home/kubelet" "$home/pods"
  make_network "$node" "$address"
  inside "$node" sysctl -qw net.bridge.bridge-nf-call-iptables=1
  make_groups "$node"
  write_containerd_settings "$home"
  write_kubelet_settings "$home" "$node" "$address"
  write_proxy_settings "$home" "$number" "$2"
  begin "containerd-$node" nsenter "--net=/run/netns/tare-rig-$node" \
    containerd --config "$home/containerd.toml"
  await 30 "containerd of $node" ctr -a "$home/containerd.sock" version
  load_images "$home/containerd.sock"
  begin "kubelet-$node" nsenter "--net=/run/netns/tare-rig-$node" "$RIG_PROGRAMS/kubelet" \
    --config="$home/kubelet.yaml" --kubeconfig="$(kubeconfig_of "system:node:rig-$number")" \
    --hostname-override="rig-$number" --node-ip="$address" --root-dir="$home/kubelet" \
    --cert-dir="$home/kubelet/pki" --containerd="$home/containerd.sock" --containerd-namespace=k8s.io
  begin "kube-proxy-$node" nsenter "--net=/run/netns/tare-rig-$node" "$RIG_PROGRAMS/kube-proxy" \
    --config="$home/proxy.yaml"
}

# Control groups of the node, in every hierarchy; version 1 wants a cpuset filled first.
make_groups() {
  local node=$1 controller group
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    mkdir -p "/sys/fs/cgroup/tare-rig/$node"
    return
  fi
  for controller in /sys/fs/cgroup/*/; do
    [ -w "$controller/cgroup.procs" ] || continue
    mkdir -p "$controller/tare-rig/$node"
    [ -f "$controller/cpuset.cpus" ] || continue
    for group in tare-rig "tare-rig/$node"; do
      cat "$controller/cpuset.cpus" >"$controller/$group/cpuset.cpus"
      cat "$controller/cpuset.mems" >"$controller/$group/cpuset.mems"
    done
  done
}

write_containerd_settings() {
  local home=$1
  cat >"$home/containerd.toml" <<END
version = 2
root = "$home/containerd"
state = "$home/containerd-state"
[grpc]
  address = "$home/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$home/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/tare-rig/pause:1"
  restrict_oom_score_adj = true # nobody here may lower it
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$home/cni"
END
}

write_kubelet_settings() {
  local home=$1 node=$2 address=$3
  : >"$home/resolv.conf" # pods ask the cluster's DNS and nobody else
  cat >"$home/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $address
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $RIG_STATE/secrets/ca.crt}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: /tare-rig/$node
enforceNodeAllocatable: [pods]
failSwapOn: false
oomScoreAdj: 0
clusterDNS: [$RIG_DNS]
clusterDomain: cluster.local
resolvConf: $home/resolv.conf
containerRuntimeEndpoint: unix://$home/containerd.sock
podLogsDir: $home/pods
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
nodeLeaseDurationSeconds: ${RIG_NODE_GRACE%s}
END
}

write_proxy_settings() {
  local home=$1 number=$2 mode=$3
  cat >"$home/proxy.yaml" <<END
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: "$(kubeconfig_of system:kube-proxy)"}
clusterCIDR: $RIG_PODS
hostnameOverride: rig-$number
mode: $mode
oomScoreAdj: 0
# zero leaves the kernel's own limits, which a network namespace may not change
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
END
}

# join_network NUMBER PLUGIN PROXY: the node's pods get addresses and reach those of other nodes.
join_network() {
  local number=$1 plugin=$2 proxy=$3 node=n$1 home range mtu
  home=$(node_directory "$number")
  await 30 "node rig-$number" has_range "$number"
  range=$(range_of "$number")
  mtu=1500
  if [ "$plugin" != bridge ]; then
    write_flannel_settings "$home" "${plugin#flannel-}"
    # It ends where the API server does not answer yet; a cluster starts it again, so does the rig.
    NODE_NAME=rig-$number begin "flanneld-$node" nsenter "--net=/run/netns/tare-rig-$node" \
      sh -c 'until "$@"; do sleep 1; done' flanneld \
      "$RIG_PROGRAMS/flanneld" -kubeconfig "$(kubeconfig_of flannel)" \
      -network "$home/flannel.json" -subnet-file "$home/subnet.env"
    await 120 "flannel of rig-$number" test -s "$home/subnet.env"
    mtu=$(sed -n 's/^FLANNEL_MTU=//p' "$home/subnet.env")
  fi
  rig_kubectl annotate --overwrite node "rig-$number" "tare/network-plugin=$plugin" \
    "tare/proxy-mode=$proxy" >/dev/null
  write_pod_network "$home" "$range" "$mtu" "$plugin"
}

range_of() { rig_kubectl get node "rig-$1" -o 'jsonpath={.spec.podCIDR}'; }
has_range() { [ -n "$(range_of "$1")" ]; }

write_flannel_settings() {
  printf '{"Network": "%s", "Backend": {"Type": "%s"}}\n' "$RIG_PODS" "$2" >"$1/flannel.json"
}

# A bridge of the node for its pods; flannel, or nothing, is what joins the bridges. Flannel
# translates addresses of what leaves the cluster; where it is not, the bridge plugin does.
write_pod_network() {
  local home=$1 range=$2 mtu=$3 masquerade=false
  [ "$4" != bridge ] || masquerade=true
  cat >"$home/cni/10-rig.conflist.part" <<END
{"cniVersion": "0.4.0", "name": "rig", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true, "mtu": $mtu,
   "ipMasq": $masquerade,
   "ipam": {"type": "host-local", "dataDir": "$home/addresses",
            "ranges": [[{"subnet": "$range"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}
]}
END
  mv "$home/cni/10-rig.conflist.part" "$home/cni/10-rig.conflist"
}

# This machine reaches the node's pods through it, and all services through the first node.
route_to_node() {
  local number=$1
  ip route replace "$(range_of "$number")" via "$(node_address "$number")" dev "$RIG_BRIDGE"
  if [ "$number" -eq 1 ]; then
    ip route replace "$RIG_SERVICES" via "$(node_address 1)" dev "$RIG_BRIDGE"
  fi
}

# What Tare is told of this cluster: how an image gets into the nodes.
write_cluster_file() {
  local number
  {
    printf 'kubeconfig: %s\n' "$RIG_STATE/tare.kubeconfig"
    printf 'images:\n  import:\n'
    for ((number = 1; number <= $1; number++)); do
      printf '    - [ctr, -a, %s/containerd.sock, -n, k8s.io, images, import, "-"]\n' \
        "$(node_directory "$number")"
    done
  } >"$RIG_STATE/cluster.yaml"
}
