# Makes a unit's control group, version 1 or 2, and sets its limits. Its directories are told, and
# noted in HOME/groups before anything can fail: what is noted is removed with the unit.
# group.sh HOME NAME CPU_QUOTA_US CPUSET MEMORY_BYTES   ("-": no limit); the CPU period is 100 ms
root=/sys/fs/cgroup home=$1 name=$2 quota=$3 cpuset=$4 memory=$5
: >"$home/groups" || exit 1
if [ -f "$root/cgroup.controllers" ]; then
  at=$root/$name
  echo "unified $at" >"$home/groups"
  above=$root
  IFS=/
  for part in $name; do
    for one in cpu cpuset memory pids io; do echo "+$one" >"$above/cgroup.subtree_control"; done 2>/dev/null
    above=$above/$part
    mkdir -p "$above" || exit 1
  done
  [ "$quota" = - ] || echo "$quota 100000" >"$at/cpu.max" || exit 1
  [ "$cpuset" = - ] || echo "$cpuset" >"$at/cpuset.cpus" || exit 1
  [ "$memory" = - ] || echo "$memory" >"$at/memory.max" || exit 1
  cat "$home/groups"
  exit 0
fi
[ -d "$root/cpuacct" ] || exit 1
for one in cpu cpuacct cpuset memory freezer pids; do
  [ -d "$root/$one" ] || continue
  at=$root/$one
  echo "$one $at/$name" >>"$home/groups"
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
done
[ "$quota" = - ] || { echo 100000 >"$root/cpu/$name/cpu.cfs_period_us" &&
  echo "$quota" >"$root/cpu/$name/cpu.cfs_quota_us"; } || exit 1
[ "$cpuset" = - ] || echo "$cpuset" >"$root/cpuset/$name/cpuset.cpus" || exit 1
[ "$memory" = - ] || echo "$memory" >"$root/memory/$name/memory.limit_in_bytes" || exit 1
cat "$home/groups"
