# Makes a unit's control group, version 1 or 2, sets its limits, and prints its directories.
# group.sh NAME CPU_QUOTA_US CPUSET MEMORY_BYTES   ("-": no limit); the CPU period is 100 ms
root=/sys/fs/cgroup name=$1 quota=$2 cpuset=$3 memory=$4
if [ -f "$root/cgroup.controllers" ]; then
  at=$root
  IFS=/
  for part in $name; do
    for one in cpu cpuset memory pids io; do echo "+$one" >"$at/cgroup.subtree_control"; done 2>/dev/null
    at=$at/$part
    mkdir -p "$at" || exit 1
  done
  [ "$quota" = - ] || echo "$quota 100000" >"$at/cpu.max" || exit 1
  [ "$cpuset" = - ] || echo "$cpuset" >"$at/cpuset.cpus" || exit 1
  [ "$memory" = - ] || echo "$memory" >"$at/memory.max" || exit 1
  echo "unified $at"
  exit 0
fi
[ -d "$root/cpuacct" ] || exit 1
for one in cpu cpuacct cpuset memory freezer pids; do
  [ -d "$root/$one" ] || continue
  at=$root/$one
  mkdir -p "$at/$name" || exit 1
  if [ "$one" = cpuset ]; then # unusable until it names processors and memory nodes
    old=$IFS
    IFS=/
    for part in $name; do
      for key in cpuset.cpus cpuset.mems; do
        if [ -z "$(cat "$at/$part/$key")" ]; then cat "$at/$key" >"$at/$part/$key"; fi
      done
      at=$at/$part
    done
    IFS=$old
  fi
  echo "$one $root/$one/$name"
done
[ "$quota" = - ] || { echo 100000 >"$root/cpu/$name/cpu.cfs_period_us" &&
  echo "$quota" >"$root/cpu/$name/cpu.cfs_quota_us"; } || exit 1
[ "$cpuset" = - ] || echo "$cpuset" >"$root/cpuset/$name/cpuset.cpus" || exit 1
[ "$memory" = - ] || echo "$memory" >"$root/memory/$name/memory.limit_in_bytes" || exit 1
