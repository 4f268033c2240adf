#!/usr/bin/env bash
# Takes the rig down, whatever state it is in, and leaves nothing of it but the built programs.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh

# Everything that carries the rig's variable (shims of containers inherit it), and what runs in
# its control groups.
processes() {
  local group
  { grep -lzxF "TARE_RIG=$RIG_STATE" /proc/[0-9]*/environ 2>/dev/null || true; } |
    sed 's|^/proc/||; s|/environ$||'
  for group in $(groups); do
    cat "$group/cgroup.procs" 2>/dev/null || true
  done
}

# Its control groups, innermost first.
groups() {
  find "/sys/fs/cgroup/$RIG_NAME" /sys/fs/cgroup/*/"$RIG_NAME" -depth -type d 2>/dev/null || true
}

alive() {
  local pid state
  for pid in $(processes | sort -un); do
    [ "$pid" -ne $$ ] || continue
    state=$(sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat" 2>/dev/null) || continue
    [ "$state" = Z ] || echo "$pid" # nobody may have asked for a dead one's status yet
  done
}

end_processes() {
  local signal pids tries
  for signal in TERM KILL KILL; do
    pids=$(alive)
    [ -n "$pids" ] || return 0
    # shellcheck disable=SC2086
    kill -"$signal" $pids 2>/dev/null || true
    for ((tries = 0; tries < 25; tries++)); do
      [ -n "$(alive)" ] || return 0
      sleep 0.2
    done
  done
  say "these processes do not end: $(alive | tr '\n' ' ')"
}

# A frozen process cannot die.
thaw() {
  local group
  for group in $(groups); do
    if [ -f "$group/freezer.state" ]; then echo THAWED >"$group/freezer.state"; fi
    if [ -f "$group/cgroup.freeze" ]; then echo 0 >"$group/cgroup.freeze"; fi
  done 2>/dev/null
}

# A group goes once the kernel has forgotten its last process, a moment after that ended.
remove_groups() {
  local group tries
  for ((tries = 0; tries < 25; tries++)); do
    groups | while read -r group; do rmdir "$group" 2>/dev/null || true; done
    [ -n "$(groups)" ] || return 0
    sleep 0.2
  done
  say "control groups are left: $(groups | tr '\n' ' ')"
}

unmount() {
  local target
  awk -v below="$RIG_STATE/" 'index($2, below) == 1 {print $2}' /proc/self/mounts | sort -r |
    while read -r target; do umount -l "$target" || true; done
}

remove_networks() {
  local name
  for name in $(ip netns list 2>/dev/null | awk -v own="$RIG_NAME-" 'index($1, own) == 1 {print $1}'); do
    ip netns del "$name"
  done
  # The kernel ends a network namespace some time later; its cable's name would be taken until then.
  for name in $(ip -o link show master "$RIG_BRIDGE" 2>/dev/null | awk -F '[ :@]+' '{print $2}'); do
    ip link del "$name" 2>/dev/null || true # or it went with its namespace just now
  done
  if ip link show "$RIG_BRIDGE" >/dev/null 2>&1; then
    ip link del "$RIG_BRIDGE" # its routes go with it
  fi
  while iptables -w -D FORWARD -i "$RIG_BRIDGE" -o "$RIG_BRIDGE" -j ACCEPT 2>/dev/null; do :; done
}

restore_kernel_settings() {
  local line
  [ -f "$RIG_STATE/kernel-settings" ] || return 0
  while read -r line; do
    sysctl -qw "$line" || say "could not put back $line"
  done <"$RIG_STATE/kernel-settings"
}

# kubelet and the CNI library leave links and notes outside of the rig's directory.
remove_traces() {
  local link note directory
  for link in /var/log/containers/*; do
    case $(readlink "$link") in "$RIG_STATE"/*) rm -f "$link" ;; esac
  done
  for note in /var/lib/cni/results/*; do
    if grep -qsF "$RIG_STATE/" "$note"; then rm -f "$note"; fi
  done
  find /tmp/hostpath_pv -maxdepth 0 -empty -delete 2>/dev/null || true
  [ -f "$RIG_STATE/new-directories" ] || return 0
  while read -r directory; do
    # an abandoned socket of a kubelet; one that is in use belongs to a kubelet that runs
    pidof kubelet >/dev/null || rm -f "$directory/device-plugins/kubelet.sock"
    find "$directory" -depth -type d -empty -delete 2>/dev/null || true
  done <"$RIG_STATE/new-directories"
}

need_root
thaw
end_processes
unmount
remove_networks
restore_kernel_settings
remove_groups
remove_traces
rm -rf --one-file-system "$RIG_STATE"
say "the rig is down"
