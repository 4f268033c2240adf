# What Tare left on this host: a line each, "process PID MARK", "unit DIRECTORY", "container ID NAME",
# "volume NAME", "network NAME".
# find.sh DIRECTORY OWNER
directory=$1 owner=$2
for file in $(grep -slz "^TARE_HOST_RUN=$owner\." /proc/[0-9]*/environ); do
  pid=${file#/proc/}
  mark=$(tr '\0' '\n' <"$file" 2>/dev/null | sed -n 's/^TARE_HOST_RUN=//p')
  if [ -n "$mark" ]; then echo "process ${pid%/environ} $mark"; fi
done
for unit in "$directory/runs/$owner."*/*; do
  if [ -d "$unit" ]; then echo "unit $unit"; fi
done
for part in "$directory/files/."*".$owner.partial"; do
  if [ -d "$part" ]; then echo "part $part"; fi
done
if command -v docker >/dev/null 2>&1; then
  docker ps -a --no-trunc --filter label=tare.host-run --format '{{.ID}} {{.Names}} {{.Label "tare.host-run"}}' 2>/dev/null |
    while read -r id name mark; do
      case $mark in "$owner".*) echo "container $id $name" ;; esac
    done
  docker volume ls --filter label=tare.host-run --format '{{.Name}} {{.Label "tare.host-run"}}' 2>/dev/null |
    while read -r name mark; do
      case $mark in "$owner".*) echo "volume $name" ;; esac
    done
  docker network ls --filter label=tare.host-run --format '{{.Name}} {{.Label "tare.host-run"}}' 2>/dev/null |
    while read -r name mark; do
      case $mark in "$owner".*) echo "network $name" ;; esac
    done
fi
exit 0
