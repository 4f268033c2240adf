"""Which hosts there are: Tare's own YAML form, and Ansible's YAML and INI inventories."""
