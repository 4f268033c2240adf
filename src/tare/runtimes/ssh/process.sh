# Which process is a unit's first one. Numbers of processes are given out again, after a restart of
# the host soonest: what lies on its disk must not lead to another's process.
born() { # life of the kernel, and the tick of it in which a process began
  echo "$(cat /proc/sys/kernel/random/boot_id)" "$(sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20)"
}
own_process() { # sets $pid to that of the unit in a directory; fails unless that very one is there
  pid=$(cat "$1/pid") && [ -d "/proc/$pid" ] && [ "$(born "$pid")" = "$(cat "$1/born")" ]
} 2>/dev/null
rest_of() { # numbers of those of a unit's session that outlive its first process, by its run's mark
  session=$(cat "$1/pid") mark=${1%/*}
  [ ! -d "/proc/$session" ] || return 0 # the number is another's by now
  for one in $(sed -n "s/^\([0-9]*\) (.*) [A-Za-z] [0-9]* [0-9]* $session .*/\1/p" /proc/[0-9]*/stat); do
    if grep -qszxF "TARE_HOST_RUN=${mark##*/}" "/proc/$one/environ"; then echo "$one"; fi
  done
} 2>/dev/null
