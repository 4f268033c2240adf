# Removes a container, which may be gone already, and its volume, where they carry the run's mark.
# container.sh CONTAINER VOLUME|"" MARK
told=$(docker container inspect --format '{{index .Config.Labels "tare.host-run"}}' "$1" 2>&1) || case $told in
  *[Nn]"o such container"*) told= ;;
  *)
    echo "$told" >&2
    exit 1
    ;;
esac
if [ "$told" = "$3" ]; then
  told=$(docker rm -f -v "$1" 2>&1) || case $told in
    *[Nn]"o such container"*) ;;
    *)
      echo "$told" >&2
      exit 1
      ;;
  esac
fi
if [ -n "$2" ]; then
  told=$(docker volume inspect --format '{{index .Labels "tare.host-run"}}' "$2" 2>/dev/null)
  [ "$told" != "$3" ] || docker volume rm -f "$2" >/dev/null
fi
