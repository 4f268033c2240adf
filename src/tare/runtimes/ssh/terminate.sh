# Asks a unit to end. terminate.sh HOME
. "${0%/*}/process.sh"
if own_process "$1"; then kill -TERM "-$pid"; fi
exit 0
