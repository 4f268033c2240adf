# Prints what a unit came to: its exit status, "runs", or "gone". state.sh HOME
. "${0%/*}/process.sh"
tries=100 # between its end and its status its supervisor has work, on a busy host for a second
while [ ! -f "$1/status" ]; do
  if own_process "$1"; then
    echo runs
    exit
  fi
  tries=$((tries - 1))
  if [ "$tries" = 0 ]; then
    echo gone
    exit
  fi
  sleep 0.05
done
cat "$1/status"
