# Tare in a container, for machines with a Docker engine and nothing else: see docs/install.md.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
# As setup/tools.sh: Cassandra is fetched with Maven, and addresses are set with ip.
RUN apt-get -q update \
 && apt-get -q install -y --no-install-recommends python3 python3-venv maven iproute2 \
 && rm -rf /var/lib/apt/lists/*
COPY constraints.txt tare_bench-*.whl /wheel/
RUN python3 -m venv /opt/tare \
 && /opt/tare/bin/pip install --no-cache-dir --no-compile --constraint /wheel/constraints.txt /wheel/*.whl \
 && rm -r /wheel
ENV PATH=/opt/tare/bin:$PATH
ENTRYPOINT ["tare"]
