"""Whose the bridge of virtual machines is: made, mended and left for real, in a network namespace
of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tare.machines.kvm.network import BRIDGE, device

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None,
    reason="only root makes network namespaces; `sudo make test` runs it",
)
SAYS = "from tare.machines.kvm import network; "


@pytest.fixture
def namespace() -> Iterator[list[str]]:
    """The words before a command that runs in the namespace."""
    name = f"tare-test-vm-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        yield ["ip", "netns", "exec", name]
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)


def told(namespace: list[str], what: str) -> str:
    """What a process that comes and goes says of the bridge."""
    words = [*namespace, sys.executable, "-c", SAYS + what]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


@pytest.fixture
def holder(namespace: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Another process that has made the bridge, and goes on."""
    waits = "network.make(); print('made', flush=True); input()"
    process = subprocess.Popen(
        [*namespace, sys.executable, "-c", SAYS + waits],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "made\n"
        yield process
        process.kill()


def test_the_bridge_of_a_run_that_goes_on_is_nobody_else_s_to_find_or_remove(
    namespace: list[str], holder: subprocess.Popen[str]
) -> None:
    assert told(namespace, "print(network.left())") == "[]"
    assert told(namespace, "network.remove(); print(network._there())") == "True"
    refused = told(namespace, "network.make()")
    assert "another process of Tare's has it" in refused
    assert str(holder.pid) in refused


def test_the_bridge_of_a_killed_run_is_found_and_goes(
    namespace: list[str], holder: subprocess.Popen[str]
) -> None:
    holder.kill()
    holder.wait()
    assert told(namespace, "print(network.left())") == f"['{BRIDGE}']"
    assert told(namespace, "network.remove(); print(network._there())") == "False"


def test_a_bridge_that_was_lost_is_made_again_with_the_domains_that_run(
    namespace: list[str],
) -> None:
    subprocess.run([*namespace, "ip", "tuntap", "add", device(0), "mode", "tap"], check=True)
    again = f"network.make(); network._ip('link', 'del', '{BRIDGE}'); network.mend(); "
    looks = f"print((network._CLASS / '{BRIDGE}' / 'brif' / '{device(0)}').exists())"
    assert told(namespace, again + looks) == "True"


def test_a_bridge_that_is_there_is_left_as_it_is(
    namespace: list[str], holder: subprocess.Popen[str]
) -> None:
    index = f"print((network._CLASS / '{BRIDGE}' / 'ifindex').read_text())"
    before = told(namespace, index)
    assert before.isdigit()
    assert told(namespace, f"network.mend(); {index}") == before
    assert holder.poll() is None
