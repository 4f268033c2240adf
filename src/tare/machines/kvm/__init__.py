"""Virtual machines that Tare makes on this machine for a run: image, domains, their network."""
