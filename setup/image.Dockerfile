# Tare in a container, for machines with a Docker engine and nothing else: see docs/install.md.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
# As setup/tools.sh; iptables, so that who is on the machine's network reaches no container.
RUN apt-get -q update \
 && apt-get -q install -y --no-install-recommends python3 python3-venv maven iproute2 iptables \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir -p /run/lock
COPY constraints.txt tare_bench-*.whl /wheel/
RUN python3 -m venv /opt/tare \
 && /opt/tare/bin/pip install --no-cache-dir --no-compile --constraint /wheel/constraints.txt /wheel/*.whl \
 && rm -r /wheel
# TARE_IN_IMAGE: it takes no lock that only the container sees (src/tare/lab/run_lock.py).
ENV PATH=/opt/tare/bin:$PATH TARE_IN_IMAGE=yes
ENTRYPOINT ["tare"]
