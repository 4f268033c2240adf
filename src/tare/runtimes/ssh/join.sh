# Becomes the unit once it has joined its groups, so that nothing of it is accounted elsewhere.
# join.sh OPEN_FILES GROUP_FILE... -- COMMAND...
ulimit -n "$1" || exit 71
shift
while [ "$1" != -- ]; do
  echo $$ >"$1" || exit 72
  shift
done
shift
exec "$@"
