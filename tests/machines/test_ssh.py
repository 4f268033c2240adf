"""Many commands over one connection: quoting, exit status, loss and recovery, with a fake ssh."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.machines import ssh
from tare.machines.inventory.host import Host
from tare.machines.ssh import AGAIN_S, Connection, HostError, HostGoneError, options
from tests.machines.fake_ssh import FakeHost, a_fake_host

fake = pytest.fixture(a_fake_host)


def test_words_arrive_as_they_are(fake: FakeHost) -> None:
    words = ["a b", "$HOME", "it's", '"', "*", "", "new\nline", "\\", "ü"]
    done = fake.connection.run("printf", "%s|", *words)
    assert done.out.decode() == "|".join(words) + "|"


def test_outputs_and_status_are_kept_apart(fake: FakeHost) -> None:
    done = fake.connection.script("echo out; echo err >&2; exit 3")
    assert (done.status, done.out, done.err) == (3, b"out\n", b"err\n")
    assert fake.connection.script("printf none").out == b"none"


def test_a_script_that_ends_or_breaks_its_shell_leaves_the_connection_standing(
    fake: FakeHost,
) -> None:
    assert fake.connection.script("exit 7").status == 7
    assert fake.connection.script("if (").status != 0
    assert fake.connection.script('echo "$2"', "a", "b").text == "b"
    assert len(fake.lines) == 1  # one connection for all of it


def test_what_fails_says_host_word_and_reason(fake: FakeHost) -> None:
    with pytest.raises(HostError, match="cat failed") as caught:
        fake.connection.check("cat", "/no/such/file")
    assert "h1" in caught.value.where
    assert "No such file" in caught.value.why


def test_a_host_that_refuses_is_told_in_ssh_s_own_words_and_with_a_command_to_try(
    fake: FakeHost,
) -> None:
    fake.unplug("Permission denied (publickey).")
    with pytest.raises(HostGoneError) as caught:
        fake.connection.run("true")
    assert caught.value.why == "Permission denied (publickey)."
    assert "192.0.2.1" in caught.value.remedy


def test_a_lost_host_is_not_tried_at_every_command_but_again_later(fake: FakeHost) -> None:
    now = [0.0]
    connection = fake.connection = fake.connect(lambda: now[0])
    assert connection.run("true").status == 0
    fake.unplug()
    for _ in range(3):
        with pytest.raises(HostGoneError):
            connection.run("true")
    tried = len(fake.lines)
    now[0] += AGAIN_S
    fake.plug()
    assert connection.run("true").status == 0
    assert len(fake.lines) == tried + 1


def test_a_host_that_says_nothing_in_time_is_lost(fake: FakeHost) -> None:
    with pytest.raises(HostGoneError, match="not reached"):
        fake.connection.run("sleep", "30", within_s=0.2)
    assert not fake.connection.alive()


def test_long_commands_have_a_channel_of_their_own(fake: FakeHost) -> None:
    done = fake.connection.long("sh", "-c", "echo out; echo err >&2; exit 4")
    assert (done.status, done.out, done.err) == (4, b"out\n", b"err\n")
    assert "ControlMaster=no" in fake.lines[-1]


def test_a_host_that_does_not_say_whether_it_forwards_is_told_as_that(
    fake: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.connection.run("true")
    fake.program.write_text("#!/bin/sh\nexec sleep 30\n", encoding="ascii")
    monkeypatch.setattr(ssh, "ANSWER_S", 0.2)
    with pytest.raises(HostError, match="did not forward a port") as caught:
        fake.connection.forward("/run/docker.sock")
    assert "h1" in caught.value.where


def test_a_key_that_is_no_file_is_told_as_that(tmp_path: Path) -> None:
    connection = Connection(Host("n", "10.0.0.1", key=tmp_path / "none"))
    with pytest.raises(HostError) as caught:
        connection.run("true")
    assert caught.value.why == f"its key {tmp_path / 'none'} is no file here"


def test_no_question_no_unknown_key_and_no_forwarding_of_the_user_s_own() -> None:
    host = Host("n", "10.0.0.1", port=2222, user="me", key=Path("/k"), known_hosts=Path("/h"))
    words = " ".join(options(host))
    for part in (
        "BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "IdentityFile=/k",
        "UserKnownHostsFile=/h", "-p 2222", "-l me",
    ):  # fmt: skip
        assert part in words


def test_sudo_is_asked_without_a_password(tmp_path: Path) -> None:
    host = Host("n", "10.0.0.1", sudo=True)
    assert Connection(host)._wrapped(("/bin/sh",)) == "exec sudo -n -- /bin/sh"
