"""LXC: application containers of this machine, on a bridge of their own or on its network."""
