"""MongoDB: a replica set of mongod, or FerretDB as its functional stand-in."""
