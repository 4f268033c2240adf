# Stops or continues one unit, and returns when the kernel has done so. freeze.sh HOME 1|0
. "${0%/*}/process.sh"
home=$1 frozen=$2
group=
if [ -f "$home/groups" ]; then
  while read -r kind at; do
    case $kind in freezer | unified) group=$at ;; esac
  done <"$home/groups"
fi
if [ -z "$group" ]; then
  if ! own_process "$home"; then
    echo "its process is gone" >&2
    exit 1
  fi
  if [ "$frozen" = 0 ]; then
    kill -CONT "-$pid"
    exit
  fi
  kill -STOP "-$pid" || exit 1
  tries=250
  while [ "$tries" -gt 0 ]; do
    case $(sed 's/.*) //' "/proc/$pid/stat") in T*) exit 0 ;; esac
    sleep 0.02
    tries=$((tries - 1))
  done
  echo "its process did not stop within 5 s" >&2
  exit 1
fi
if [ -f "$group/cgroup.freeze" ]; then
  file=$group/cgroup.events sign="frozen $frozen"
  echo "$frozen" >"$group/cgroup.freeze" || exit 1
else
  file=$group/freezer.state sign=THAWED
  if [ "$frozen" = 1 ]; then sign=FROZEN; fi
  echo "$sign" >"$file" || exit 1
fi
tries=250
while [ "$tries" -gt 0 ]; do
  if grep -q "$sign" "$file"; then exit 0; fi
  sleep 0.02
  tries=$((tries - 1))
done
echo "its control group did not change within 5 s" >&2
exit 1
