# Images of one static program each, for the rig's own pods; no engine or registry is needed.
# Sourced, never run.
# shellcheck shell=bash

make_images() {
  mkdir -p "$RIG_STATE/images"
  make_image pause
  make_image coredns
}

# make_image PROGRAM: an archive as `docker save` writes it, of docker.io/tare-rig/PROGRAM:1.
make_image() {
  local program=$1 aside digest
  aside=$(mktemp -d "$RIG_STATE/images/.$program.XXXXXX")
  mkdir "$aside/root"
  cp "$RIG_PROGRAMS/$program" "$aside/root/$program"
  tar -C "$aside/root" --owner=0 --group=0 --mtime=@0 -cf "$aside/layer.tar" "$program"
  digest=$(sha256sum "$aside/layer.tar")
  printf '{"architecture": "%s", "os": "linux", "config": {"Entrypoint": ["/%s"]}, "rootfs": {"type": "layers", "diff_ids": ["sha256:%s"]}}\n' \
    "$(machine_name)" "$program" "${digest%% *}" >"$aside/config.json"
  printf '[{"Config": "config.json", "RepoTags": ["docker.io/tare-rig/%s:1"], "Layers": ["layer.tar"]}]\n' \
    "$program" >"$aside/manifest.json"
  tar -C "$aside" -cf "$RIG_STATE/images/$program.tar" manifest.json config.json layer.tar
  rm -r "$aside"
}

machine_name() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
  esac
}

# load_images SOCKET
load_images() {
  local archive
  for archive in "$RIG_STATE"/images/*.tar; do
    ctr -a "$1" -n k8s.io images import "$archive" >/dev/null
  done
}
