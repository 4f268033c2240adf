module tare/rig/flanneld

go 1.25.0

require github.com/flannel-io/flannel v0.28.4
