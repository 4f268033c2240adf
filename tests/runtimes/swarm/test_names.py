"""Names are short enough for a Swarm and its DNS, and stay distinct."""

from __future__ import annotations

from tare.runtimes.swarm.names import config_of, labels_of, network_of, own_name, service_of

LONG = "a-very-long-name-of-a-run-" * 4


def test_names_fit_whatever_the_run_is_called() -> None:
    service = service_of(LONG, "d1-docker-host-1-k1-n1")
    assert len(own_name(service)) <= 63  # the limit for host names
    assert len(config_of(service, "cassandra.yaml")) <= 64
    assert len(network_of(LONG, "d1-k1")) <= 63


def test_units_that_differ_at_the_end_of_long_names_stay_apart() -> None:
    assert service_of(LONG, "n1") != service_of(LONG, "n2")
    assert config_of("s", "a.yaml") != config_of("s", "a-yaml")


def test_labels_say_whose_it_is() -> None:
    assert set(labels_of("run")) == {"tare.run", "tare.host"}
    assert labels_of("run", "n1")["tare.unit"] == "n1"
