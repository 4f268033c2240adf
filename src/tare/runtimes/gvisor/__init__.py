"""gVisor: Docker's containers with a kernel of their own in user space, which runsc starts."""
