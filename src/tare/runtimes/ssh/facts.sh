# What this host is, a line NAME=VALUE each. $1: directory of Tare's on it, which need not be there yet.
echo "kernel=$(uname -r)"
echo "hostname=$(uname -n)"
echo "architecture=$(uname -m)"
echo "boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
echo "user=$(id -u)"
echo "cpus=$(getconf _NPROCESSORS_ONLN)"
echo "ticks=$(getconf CLK_TCK)"
echo "memory=$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)"
echo "clock source=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)"
echo "transparent huge pages=$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null)"
echo "open files=$(ulimit -Hn)"
echo "locked memory=$(ulimit -Sl) $(ulimit -Hl)"
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then echo cgroups=2
elif [ -d /sys/fs/cgroup/cpuacct ]; then echo cgroups=1
else echo cgroups=0; fi
echo "CPU model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sed 1q)"
# of x86 the kernel tells whether there is a hypervisor; who made the machine, its firmware
if grep -q '^flags.* hypervisor' /proc/cpuinfo; then
  read -r vendor 2>/dev/null </sys/class/dmi/id/sys_vendor
  echo "hypervisor=${vendor:-a hypervisor}"
elif grep -q '^flags' /proc/cpuinfo; then echo "hypervisor=none"
fi
place=$1
while [ ! -d "$place" ] && [ "$place" != / ]; do place=$(dirname "$place"); done
device=$(df -Pk "$place" 2>/dev/null | { read -r _; read -r device _; printf '%s' "$device"; })
name=$(basename "$(readlink -f "$device" 2>/dev/null)")
at=$(readlink -f "/sys/class/block/$name" 2>/dev/null)
if [ -f "$at/partition" ]; then at=$(dirname "$at"); fi
if [ -n "$name" ] && [ -f "$at/size" ]; then
  read -r model 2>/dev/null <"$at/device/model"
  name=$(basename "$at" | sed 's/[-0-9].*//')
  read -r sectors <"$at/size"
  read -r rotates 2>/dev/null <"$at/queue/rotational"
  kind=
  case $rotates in 0) kind=', not rotating' ;; 1) kind=', rotating' ;; esac
  echo "disk=${model:-$name} of $((sectors / 2097152)) GiB$kind"
else echo "disk=$device"
fi
