"""What is true of the pods of the Kubernetes cluster that is named here."""

from __future__ import annotations

from tare.runtimes.declaration import Declaration


class Kubernetes(Declaration):
    """A pod, and the services that lead to it."""

    name = "kubernetes"
    orchestrator = True
    networks = ("host", "host-port", "node-port", "service-ip", "container-dns")
    endpoints = ("", "host-port", "node-port", "service-ip", "container-dns")
    storages = ("host-path", "pvc", "emptydir", "layer")
    plugins = ("", "flannel-vxlan", "flannel-host-gw", "bridge", "weave")
    several_on = "container-dns"
    proposed = ("service-ip", "emptydir")
    unit_s = 4.0  # with its services, and its part of proving the path
    local_images = True
    title = "Kubernetes cluster"
    unpaused_elsewhere = (
        "pods on other machines than this one cannot be paused while others are measured"
    )


DECLARED = Kubernetes()
