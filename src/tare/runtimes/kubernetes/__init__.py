"""The Kubernetes runtime: a database cluster as a StatefulSet, its endpoints proven, swept away."""
