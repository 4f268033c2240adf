# Ends one unit and removes what was made for it. stop.sh HOME GRACE_S
. "${0%/*}/process.sh"
home=$1 grace=$2
[ -d "$home" ] || exit 0
thaw() {
  while read -r _ at; do
    if [ -f "$at/freezer.state" ]; then echo THAWED >"$at/freezer.state"; fi
    if [ -f "$at/cgroup.freeze" ]; then echo 0 >"$at/cgroup.freeze"; fi
  done <"$home/groups"
}
if [ -f "$home/groups" ]; then thaw; fi
if [ ! -f "$home/status" ] && own_process "$home"; then
  kill -CONT "-$pid" 2>/dev/null
  tries=$((grace * 10))
  if [ "$tries" -gt 0 ]; then kill -TERM "-$pid" 2>/dev/null; fi
  while [ "$tries" -gt 0 ] && [ ! -f "$home/status" ]; do
    sleep 0.1
    tries=$((tries - 1))
  done
  kill -KILL "-$pid" 2>/dev/null
  tries=100
  while [ "$tries" -gt 0 ] && [ ! -f "$home/status" ] && own_process "$home"; do
    sleep 0.05
    tries=$((tries - 1))
  done
fi
tries=100
while [ "$tries" -gt 0 ] && rest=$(rest_of "$home") && [ -n "$rest" ]; do
  kill -KILL $rest 2>/dev/null
  sleep 0.05
  tries=$((tries - 1))
done
if [ -f "$home/groups" ]; then
  while read -r _ at; do
    tries=50
    while [ -d "$at" ] && ! rmdir "$at" 2>/dev/null && [ "$tries" -gt 0 ]; do
      kill -KILL $(grep -sx '[1-9][0-9]*' "$at/cgroup.procs") 2>/dev/null # also of other sessions
      sleep 0.02
      tries=$((tries - 1))
    done
    rmdir "${at%/*}" 2>/dev/null # its run's, once it is empty
  done <"$home/groups"
fi
rm -rf "$home"
rmdir "${home%/*}" 2>/dev/null
exit 0
