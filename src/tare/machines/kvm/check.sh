#!/bin/sh
# In the initial ramdisk: asked to, a machine that got so far says so and goes off.
[ "$1" != prereqs ] || exit 0
read -r told </proc/cmdline
case " $told " in
  *" tare.check "*)
    echo "tare: boots" >/dev/console
    echo b >/proc/sysrq-trigger
    sleep 60
    ;;
esac
