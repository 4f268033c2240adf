# The rig's certificates, tokens and kubeconfigs, made anew each time. Sourced, never run.
# shellcheck shell=bash

# Who may talk to the API: token file lines of user and groups.
readonly RIG_USERS=(
  "admin system:masters"
  "system:kube-controller-manager"
  "system:kube-scheduler"
  "system:kube-proxy"
  "flannel"
  "tare"
)

make_secrets() {
  local directory=$RIG_STATE/secrets
  mkdir -p "$directory" "$RIG_STATE/logs"
  (
    umask 077
    cd "$directory"
    openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 365 -subj /CN=tare-rig
    certify apiserver /CN=kube-apiserver \
      "subjectAltName=IP:$RIG_HOST,IP:$RIG_FIRST_SERVICE,IP:127.0.0.1,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
    certify kubelet-client "/O=system:masters/CN=kube-apiserver-kubelet-client" "extendedKeyUsage=clientAuth"
    openssl genrsa -out accounts.key 2048
    openssl rsa -in accounts.key -pubout -out accounts.pub
  ) 2>"$RIG_STATE/logs/openssl.log"
  local line user
  for line in "${RIG_USERS[@]}" "system:node:rig-1 system:nodes" \
    "system:node:rig-2 system:nodes" "system:node:rig-3 system:nodes"; do
    user=${line%% *}
    add_user "$user" "${line#"$user"}"
  done
  cp "$(kubeconfig_of admin)" "$RIG_STATE/admin.kubeconfig"
  cp "$(kubeconfig_of tare)" "$RIG_STATE/tare.kubeconfig"
}

# certify NAME SUBJECT EXTENSION: a key and a certificate of the rig's authority.
certify() {
  openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "$2"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -out "$1.crt" \
    -extfile <(printf '%s\n' "$3")
}

kubeconfig_of() { printf '%s/secrets/%s.kubeconfig' "$RIG_STATE" "${1//:/-}"; }

# add_user NAME GROUPS: a token, and a kubeconfig with it.
add_user() {
  local token
  token=$(openssl rand -hex 16)
  (
    umask 077
    printf '%s,%s,%s,"%s"\n' "$token" "$1" "$1" "${2# }" >>"$RIG_STATE/secrets/tokens.csv"
    cat >"$(kubeconfig_of "$1")" <<END
apiVersion: v1
kind: Config
clusters:
- {name: tare-rig, cluster: {server: "$RIG_API", certificate-authority: $RIG_STATE/secrets/ca.crt}}
users:
- {name: "$1", user: {token: $token}}
contexts:
- {name: tare-rig, context: {cluster: tare-rig, user: "$1"}}
current-context: tare-rig
END
  )
}
