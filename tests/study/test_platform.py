"""A platform's description for readers and for the knowledge base."""

from __future__ import annotations

import pytest

from tare.study.platform import Platform


@pytest.mark.parametrize(
    ("endpoint", "way", "attachment"),
    [
        ("", "bridge", "bridge"),
        ("bridge", "bridge", "bridge by bridge"),
        ("published", "published", "bridge by published"),
        ("proxy", "published", "bridge by proxy"),
        ("loopback", "host", "bridge by loopback"),
    ],
)
def test_an_endpoint_is_known_by_the_network_whose_way_it_takes(
    endpoint: str, way: str, attachment: str
) -> None:
    platform = Platform.model_validate(
        {"runtime": "docker", "network": "bridge", "endpoint": endpoint}
    )
    assert (platform.way, platform.attachment) == (way, attachment)


def test_without_an_endpoint_a_platform_is_written_as_before() -> None:
    assert "endpoint" not in Platform().model_dump(mode="json")
    assert Platform(endpoint="proxy").model_dump(mode="json")["endpoint"] == "proxy"
