# Removes what find.sh found; its lines come as arguments, kind and words, each as one argument.
# remove.sh LINE...
for line in "$@"; do
  rest=${line#* }
  case $line in
    unit\ *)
      while read -r _ at; do # a frozen process cannot die
        if [ -f "$at/freezer.state" ]; then echo THAWED >"$at/freezer.state"; fi
        if [ -f "$at/cgroup.freeze" ]; then echo 0 >"$at/cgroup.freeze"; fi
      done 2>/dev/null <"$rest/groups"
      ;;
    process\ *) # its number may be another's by now
      pid=${rest%% *} mark=${rest#* }
      if grep -qszxF "TARE_HOST_RUN=$mark" "/proc/$pid/environ"; then kill -KILL "$pid" 2>/dev/null; fi
      ;;
    container\ *) docker rm -f -v "${rest%% *}" >/dev/null ;;
    volume\ *) docker volume rm "$rest" >/dev/null ;;
    network\ *) docker network rm "$rest" >/dev/null ;; # after its containers, which come first
  esac
done
for line in "$@"; do
  rest=${line#* }
  case $line in
    unit\ *)
      while read -r _ at; do
        tries=100
        while [ -d "$at" ] && ! rmdir "$at" 2>/dev/null && [ "$tries" -gt 0 ]; do
          sleep 0.02
          tries=$((tries - 1))
        done
        rmdir "${at%/*}" 2>/dev/null
      done 2>/dev/null <"$rest/groups"
      tries=100 # a process that is being killed may still write there
      while ! rm -rf "$rest" 2>/dev/null && [ "$tries" -gt 0 ]; do
        sleep 0.02
        tries=$((tries - 1))
      done
      rm -rf "$rest"
      rmdir "${rest%/*}" 2>/dev/null
      ;;
    part\ *) rm -rf "$rest" ;;
  esac
done
exit 0
