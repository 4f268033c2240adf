# Removes a container, which may be gone already, and its volume. container.sh CONTAINER VOLUME|""
told=$(docker rm -f -v "$1" 2>&1) || case $told in
  *[Nn]"o such container"*) ;;
  *)
    echo "$told" >&2
    exit 1
    ;;
esac
[ -z "$2" ] || docker volume rm -f "$2" >/dev/null
