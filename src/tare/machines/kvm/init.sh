#!/bin/sh
# First process of a virtual machine of Tare's: its network, an SSH server, and a Docker engine where
# one is asked for. Nothing else runs there: no timers, no logs, no updates.
# What it is told lies as a tar archive on its second disk: NAME, address, keys, whether Docker.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ -e /proc/stat ] || mount -t proc proc /proc
[ -e /sys/class ] || mount -t sysfs sysfs /sys
mountpoint -q /run || mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd /run/lock /dev/pts /dev/shm
mountpoint -q /dev/pts || mount -t devpts -o gid=5,mode=620 devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ulimit -n 1048576
modprobe virtio_net
modprobe virtio_rng 2>/dev/null
mkdir -m 700 /run/tare
tar -xf /dev/vdb -C /run/tare || echo "tare: nothing on the second disk" >/dev/console
hostname "$(cat /run/tare/name)"
ip link set lo up
ip addr add "$(cat /run/tare/address)" dev eth0
ip link set eth0 up
if [ -e /run/tare/docker ]; then
  modprobe overlay
  # by itself dockerd gives its containerd 15 s, which an emulated processor does not always keep
  containerd >/run/containerd.log 2>&1 </dev/null &
  at=/run/containerd/containerd.sock
  while :; do
    [ ! -S $at ] || dockerd --containerd $at --bridge none --iptables=false --ip-forward=false
    sleep 1
  done >/run/dockerd.log 2>&1 </dev/null &
fi
while :; do
  /usr/sbin/sshd -D -e -f /run/tare/sshd_config >>/run/sshd.log 2>&1 </dev/null &
  echo "tare: up" >/dev/console
  wait $!
  sleep 0.2
done
