# etcd, API server, controllers and scheduler, on the bridge's address of this machine. Sourced.
# shellcheck shell=bash

readonly RIG_ETCD=127.0.0.1:12379

start_control_plane() {
  local secrets=$RIG_STATE/secrets
  # A cluster that is thrown away need not outlive a power cut.
  begin etcd etcd --name rig --data-dir "$RIG_STATE/etcd" --unsafe-no-fsync \
    --listen-client-urls "http://$RIG_ETCD" --advertise-client-urls "http://$RIG_ETCD" \
    --listen-peer-urls http://127.0.0.1:12380 --initial-advertise-peer-urls http://127.0.0.1:12380 \
    --initial-cluster rig=http://127.0.0.1:12380
  begin kube-apiserver "$RIG_PROGRAMS/kube-apiserver" \
    --advertise-address="$RIG_HOST" --bind-address="$RIG_HOST" --secure-port=6443 \
    --etcd-servers="http://$RIG_ETCD" --service-cluster-ip-range="$RIG_SERVICES" \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$secrets/accounts.pub" \
    --service-account-signing-key-file="$secrets/accounts.key" \
    --tls-cert-file="$secrets/apiserver.crt" --tls-private-key-file="$secrets/apiserver.key" \
    --client-ca-file="$secrets/ca.crt" --token-auth-file="$secrets/tokens.csv" \
    --kubelet-client-certificate="$secrets/kubelet-client.crt" \
    --kubelet-client-key="$secrets/kubelet-client.key" \
    --kubelet-preferred-address-types=InternalIP --authorization-mode=Node,RBAC \
    --allow-privileged=true --profiling=false
  await 60 "the Kubernetes API" rig_kubectl get --raw /readyz
  begin kube-controller-manager "$RIG_PROGRAMS/kube-controller-manager" \
    --kubeconfig="$(kubeconfig_of system:kube-controller-manager)" --leader-elect=false \
    --bind-address=127.0.0.1 --use-service-account-credentials=true \
    --service-account-private-key-file="$secrets/accounts.key" --root-ca-file="$secrets/ca.crt" \
    --allocate-node-cidrs=true --cluster-cidr="$RIG_PODS" --node-cidr-mask-size=24 \
    --service-cluster-ip-range="$RIG_SERVICES" --enable-hostpath-provisioner=true --profiling=false \
    --node-monitor-grace-period="$RIG_NODE_GRACE" --node-monitor-period=2s
  begin kube-scheduler "$RIG_PROGRAMS/kube-scheduler" \
    --kubeconfig="$(kubeconfig_of system:kube-scheduler)" --leader-elect=false \
    --bind-address=127.0.0.1 --profiling=false
  rig_kubectl apply -f manifests/flannel.yaml >/dev/null
}

# Directories that no option moves elsewhere: those that the rig is the first to need go with it.
keep_directories() {
  local directory
  for directory in /var/lib/kubelet /var/lib/cni /var/log/containers /run/containerd/runc; do
    [ -e "$directory" ] || echo "$directory"
  done >"$RIG_STATE/new-directories"
}

# kubelet changes these for the whole machine; rig-down puts them back.
keep_kernel_settings() {
  local setting
  for setting in kernel.panic kernel.panic_on_oops vm.overcommit_memory vm.panic_on_oom \
    kernel.keys.root_maxkeys kernel.keys.root_maxbytes; do
    printf '%s=%s\n' "$setting" "$(sysctl -n "$setting" 2>/dev/null)"
  done | grep -v '=$' >"$RIG_STATE/kernel-settings"
}
