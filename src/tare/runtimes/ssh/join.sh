# Becomes the unit once it has joined its groups, so that nothing of it is accounted elsewhere.
# join.sh HOME OPEN_FILES GROUP_FILE... -- COMMAND...
home=$1
ulimit -n "$2" || exit 71
shift 2
while [ "$1" != -- ]; do
  echo $$ >"$1" || exit 72
  shift
done
shift
: >"$home/joined" || exit 73
exec "$@"
