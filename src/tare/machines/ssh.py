"""A machine over SSH: one standing connection, commands on it, programs that stream, forwards.

The system's own OpenSSH client makes it, as the user's `ssh` would: the user's configuration,
agent, jump hosts and hardware keys apply, and a fault can be tried by hand with the same command.
One process keeps the connection. Its session is a shell that answers short commands, a round trip
each. Commands that stream or take long have their own channel on the same connection
(ControlMaster). When this process dies, however it dies, the shell's input ends and with it the
connection.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tare import scratch
from tare.errors import RuntimeUnavailableError
from tare.machines.shell_output import Done, Streams

if TYPE_CHECKING:
    from tare.machines.inventory.host import Host

CONNECT_S = 10
"""longest wait for a connection and its login, seconds"""
MADE_CONNECT_S = 60
"""the same for a virtual machine of Tare's, which may be emulated, and whose engine starts"""
ALIVE_S, ALIVE_MOST = 2, 3
"""a host that leaves this many queries, this many seconds apart, unanswered is gone"""
ANSWER_S = 20.0
"""longest wait for the answer to a short command, seconds"""
AGAIN_S = 5.0
"""a lost host is not tried again sooner, so that the removal of a cluster does not hang"""


class HostError(RuntimeUnavailableError):
    """A command on a host failed."""


class HostGoneError(HostError):
    """A host cannot be reached, or no longer."""


def options(host: Host) -> list[str]:
    """Arguments of every connection to a host: never a question, never an unknown host key."""
    given = {
        "BatchMode": "yes",
        "StrictHostKeyChecking": "yes",
        "ConnectTimeout": str(CONNECT_S),
        "ServerAliveInterval": str(ALIVE_S),
        "ServerAliveCountMax": str(ALIVE_MOST),
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "ClearAllForwardings": "yes",
        "PermitLocalCommand": "no",
        "EscapeChar": "none",
        "LogLevel": "INFO",  # which is where it says that a server does not answer
    }
    if host.known_hosts is not None:
        given["UserKnownHostsFile"] = str(host.known_hosts)
    if host.key is not None:
        given |= {"IdentityFile": str(host.key), "IdentitiesOnly": "yes"}
    if host.made:
        given |= {"ServerAliveInterval": "0", "ConnectTimeout": str(MADE_CONNECT_S)}
    words = ["-T", "-p", str(host.port)]
    words += [word for name, value in given.items() for word in ("-o", f"{name}={value}")]
    return [*words, *(("-l", host.user) if host.user else ())]


class Connection:
    """The connection to one host; made at first use, and again after it was lost."""

    def __init__(
        self,
        host: Host,
        environment: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        program: str = "ssh",
    ) -> None:
        """Nothing is asked yet.

        Args:
            host: of an inventory.
            environment: added to the environment of ssh's processes here, such as a run's label.
            clock: monotonic seconds.
            program: the OpenSSH client.
        """
        self.host = host
        self._environment = {**os.environ, **(environment or {})}
        self._clock = clock
        self._program = program
        self._lock = threading.RLock()
        self._shell: subprocess.Popen[bytes] | None = None
        self._directory: Path | None = None
        self._lost: tuple[float, str] | None = None
        self.wake: Callable[[], None] = lambda: None
        """called before anything is asked: a host may have to be resumed first"""
        self.patience = 1.0
        """factor by which the wait for an answer is longer than usual"""
        self.lives = 0
        """how often it was made; forwards of earlier connections are gone"""

    def run(self, *command: str | os.PathLike[str], within_s: float = ANSWER_S) -> Done:
        """Run a short command there and wait for its end.

        Raises:
            HostGoneError: the host does not answer, or not within `within_s` seconds.
        """
        text = shlex.join(os.fspath(word) for word in command)
        with self._lock:
            return self._ask(self._open(), text, within_s * self.patience)

    def check(self, *command: str | os.PathLike[str], within_s: float = ANSWER_S) -> str:
        """The output of a short command.

        Raises:
            HostError: it failed.
        """
        done = self.run(*command, within_s=within_s)
        if done.status != 0:
            raise self.failed(os.fspath(command[0]), done)
        return done.text

    def script(self, text: str, *words: str, within_s: float = ANSWER_S) -> Done:
        """Run a fixed piece of POSIX shell with words as $1, $2, ... in its own shell."""
        return self.run("/bin/sh", "-c", text, "sh", *words, within_s=within_s)

    def start(
        self, *command: str, stdin: int | IO[bytes] = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """A command there on its own channel: its streams are those of the process here.

        It is told that its input has ended when the process here ends.
        """
        with self._lock:
            self._open()
            return subprocess.Popen(
                [*self._channel(), "--", self.host.address, self._wrapped(command)],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )

    def long(
        self, *command: str, stdin: int | IO[bytes] = subprocess.DEVNULL, within_s: float = 600.0
    ) -> Done:
        """Run a command that may take long, beside the short ones.

        Raises:
            HostGoneError: the connection ended meanwhile.
            HostError: it did not end in time.
        """
        process = self.start(*command, stdin=stdin)
        try:
            out, err = process.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            raise HostError(
                f"{command[0]} did not end within {within_s:.0f} s", where=str(self.host)
            ) from None
        finally:
            process.kill()
            process.wait()
        if process.returncode == 255 and not self.alive():
            raise self._gone(self._lost[1] if self._lost else "the connection ended")
        return Done(process.returncode, out, err)

    def forward(self, target: str) -> Path:
        """A socket here whose connections arrive there at `target`: host:port, or a socket's path.

        Raises:
            HostError: the server does not permit it.
        """
        with self._lock:
            self._open()
            directory = self._directory or Path()
            at = directory / f"f{secrets.token_hex(4)}"
            self._forwarded(f"{at}:{target}")
            return at

    def forward_port(self, host: str, port: int) -> int:
        """A port of the loopback here whose connections arrive at host:port there.

        Raises:
            HostError: the server does not permit it.
        """
        with self._lock:
            self._open()
            free = _free_port()
            self._forwarded(_from_loopback(free, host, port))
            return free

    def cancel_port(self, door: int, host: str, port: int) -> None:
        """Stop forwarding a port of the loopback; a lost connection has stopped already."""
        with self._lock, contextlib.suppress(subprocess.TimeoutExpired):
            if self.alive():
                self._control("cancel", _from_loopback(door, host, port))

    def _forwarded(self, what: str) -> None:
        try:
            done = self._control("forward", what)
        except subprocess.TimeoutExpired:
            raise HostError(
                f"ssh did not forward a port within {ANSWER_S:.0f} s", where=str(self.host)
            ) from None
        if done.returncode != 0:
            raise HostError(
                "ssh could not forward a port",
                where=str(self.host),
                why=done.stderr.strip(),
                remedy="allow AllowTcpForwarding and AllowStreamLocalForwarding in its sshd_config",
            )

    def _control(self, order: str, what: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._channel(), "-O", order, "-L", what, "--", self.host.address],
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_S,
            env=self._environment,
        )

    def alive(self) -> bool:
        """Whether the connection stands, as far as is known here."""
        return self._shell is not None and self._shell.poll() is None

    def failed(self, word: str, done: Done) -> HostError:
        """The error for a command that failed."""
        return HostError(
            f"{word} failed",
            where=str(self.host),
            why=done.why,
            remedy=f"{self.by_hand()} {word}",
        )

    def by_hand(self) -> str:
        """The command with which a user tries the same connection."""
        host = self.host
        words = [self._program, *(("-p", str(host.port)) if host.port != 22 else ())]
        words += ["-i", str(host.key)] if host.key else []
        if host.known_hosts is not None:
            words += ["-o", f"UserKnownHostsFile={host.known_hosts}"]
        return shlex.join([*words, f"{host.user}@{host.address}" if host.user else host.address])

    def forget(self) -> None:
        """End the connection, and allow a new try at once: the host was started anew."""
        self.close()
        self._lost = None

    def close(self) -> None:
        """End the connection; programs on its channels lose it too."""
        with self._lock:
            shell, self._shell = self._shell, None
            if shell is not None:
                _end(shell)
            if self._directory is not None:
                shutil.rmtree(self._directory, ignore_errors=True)
                self._directory = None

    def _open(self) -> subprocess.Popen[bytes]:
        self.wake()
        if self._shell is not None and self._shell.poll() is None:
            return self._shell
        if self._shell is not None:  # it has ended since it was last asked
            raise self._lose(self._last_words(self._shell))
        if self._lost is not None and self._clock() < self._lost[0] + AGAIN_S:
            raise self._gone(self._lost[1])
        if self.host.key is not None and not self.host.key.is_file():
            raise self._gone(f"its key {self.host.key} is no file here")
        self._directory = scratch.make("ssh")
        self.lives += 1
        shell = self._shell = subprocess.Popen(
            [
                *(self._program, *options(self.host)),
                *("-o", "ControlMaster=yes", "-o", "ControlPersist=no"),
                *("-o", f"ControlPath={self._directory}/c"),
                *("--", self.host.address, self._wrapped(("/bin/sh",))),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=self._environment,
            start_new_session=True,
        )
        self._ask(shell, ":", (MADE_CONNECT_S if self.host.made else CONNECT_S) + 5.0)
        self._lost = None
        return shell

    def _wrapped(self, command: Sequence[str]) -> str:
        """The one text that the login shell there is given."""
        root = ["sudo", "-n", "--"] if self.host.sudo else []
        return "exec " + shlex.join([*root, *command])

    def _channel(self) -> list[str]:
        """A client of the standing connection; it makes no other one if that is gone."""
        return [
            *(self._program, "-T", "-F", "/dev/null", "-o", "ControlMaster=no"),
            *("-o", f"ControlPath={self._directory}/c", "-o", "ProxyCommand=false"),
            *("-o", "BatchMode=yes", "-o", "LogLevel=ERROR"),
        ]

    def _ask(self, shell: subprocess.Popen[bytes], text: str, within_s: float) -> Done:
        """Let the standing shell run a text; both streams are read up to a mark after it."""
        mark = secrets.token_hex(16)
        asked = f"{text} </dev/null; printf '\\n%s %d\\n' {mark} $?; printf '\\n%s\\n' {mark} >&2\n"
        streams = Streams(shell, mark.encode())
        try:
            assert shell.stdin is not None  # noqa: S101 - it is a pipe
            shell.stdin.write(asked.encode())
            done = streams.read(within_s)
        except OSError as error:
            raise self._lose(self._last_words(shell) or str(error)) from error
        if done is None:
            why = self._last_words(shell, streams.err) if streams.ended else ""
            raise self._lose(why or f"no answer within {within_s:.0f} s")
        return done

    def _last_words(self, shell: subprocess.Popen[bytes], heard: bytes = b"") -> str:
        """What ssh said when it ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            shell.wait(2.0)
        if shell.poll() is not None and shell.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                heard += shell.stderr.read() or b""
        told = [line for line in heard.decode(errors="replace").splitlines() if line.strip()]
        return told[-1].strip() if told else "the connection ended"

    def _lose(self, why: str) -> HostGoneError:
        self.close()
        self._lost = self._clock(), why
        return self._gone(why)

    def _gone(self, why: str) -> HostGoneError:
        return HostGoneError(
            "the host is not reached over SSH",
            where=str(self.host),
            why=why,
            remedy=f"{self.by_hand()} true; then `tare clean`, which removes what is left there",
        )


def _from_loopback(door: int, host: str, port: int) -> str:
    """A port here that leads to host:port there, in ssh's words, by which it is cancelled too."""
    return f"127.0.0.1:{door}:{host}:{port}"


def _free_port() -> int:
    """A port of the loopback that nobody has at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    process.terminate()
    try:
        process.wait(3.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
