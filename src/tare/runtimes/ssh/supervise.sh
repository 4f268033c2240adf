# Runs one unit and keeps what became of it, also when the connection to this host goes.
# supervise.sh HOME -|log ENVIRONMENT... COMMAND...
# -: its output goes to the connection, with which it then ends; log: beside its standard error.
. "${0%/*}/process.sh"
home=$1 out=$2
shift 2
cd "$home/conf" || exit 70
trap : TERM HUP INT PIPE # for itself only: a trap that does something is not inherited
if [ "$out" = - ]; then
  setsid env -i "$@" </dev/null 2>stderr.log &
else
  exec >/dev/null 2>&1
  setsid env -i "$@" </dev/null >stderr.log 2>&1 &
fi
child=$!
born "$child" >"$home/born"
# Until it leads a session of its own, in its groups and with its mark, no signal for its group
# reaches it, and nobody who looks for the mark finds it.
tries=1000
while [ ! -f "$home/joined" ] && kill -0 "$child" 2>/dev/null && [ "$tries" -gt 0 ]; do
  sleep 0.01
  tries=$((tries - 1))
done
printf '%s\n' "$child" >"$home/pid.new" && mv "$home/pid.new" "$home/pid"
while
  wait "$child"
  status=$?
  [ "$status" -gt 128 ] && kill -0 "$child" 2>/dev/null
do :; done
printf '%s\n' "$status" >"$home/status.new" && mv "$home/status.new" "$home/status"
