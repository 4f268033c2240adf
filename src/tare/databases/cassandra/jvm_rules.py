"""Arguments with which the server's JVM would not start Cassandra, or not Tare's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.study.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.study.origins import Origins
    from tare.study.schema import Setup

_HEAP = ("-Xms", "-Xmx", "-XX:InitialHeapSize=", "-XX:MaxHeapSize=", "-XX:MinHeapSize=")
_FILES = ("-XX:Flags=", "-XX:VMOptionsFile=", "-XX:VMOptionsFile", "--source-path", "-XX:Flags")
_INSTEAD = (
    "-jar", "-m", "--module", "-version", "--version", "-help", "--help", "-?", "-h", "-X",
    "--help-extra", "--list-modules", "--describe-module", "-d", "--validate-modules",
    "--dry-run", "-fullversion", "--full-version", "--source", "-XshowSettings",
    "-Xinternalversion", "-Xshare:dump", "-XX:+DumpSharedSpaces", "-Xlog:help",
    "-XX:+PrintFlagsInitial",
)  # fmt: skip
"""Options that run something else, or end the JVM. Source: the manual page of java 17; for
HotSpot's options that are not in it, java 17."""
_WITH_VALUE = (
    "--add-modules", "--limit-modules", "--add-exports", "--add-opens", "--add-reads",
    "--patch-module", "--enable-native-access",
)  # fmt: skip
"""Options whose value java takes from the next word, if their own word has none."""
_OWN_PATHS = ("-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path")
_OWN_PROPERTIES = (
    "cassandra.config", "cassandra.storagedir", "cassandra.logdir", "logback.configurationFile",
    "cassandra-foreground", "java.io.tmpdir", "java.class.path", "cassandra.jmx.local.port",
    "cassandra.jmx.remote.port", "cassandra.start_native_transport",
    "cassandra.native_transport_port", "cassandra.storage_port", "cassandra.ssl_storage_port",
)  # fmt: skip


def jvm_problems(setup: Setup, origins: Origins) -> Iterator[Problem]:
    """Parts of `database.jvm` that cannot work, or would run another program than the server."""
    for index, argument in enumerate(setup.database.jvm):
        fault = _fault(argument)
        if fault is not None:
            what, why, remedy = fault
            where = origins.of(("database", "jvm", index))
            yield Problem(where, f"database.jvm.{index}: {what}", why, remedy)


def _fault(argument: str) -> tuple[str, str, str] | None:
    """What is wrong with the argument, why, and what to do; None: nothing."""
    shown = repr(argument) if len(argument) <= 60 else f"{argument[:57]!r}..."
    name = argument.partition("=")[0]
    if not argument.strip():
        return "an empty argument", "java would take it for the class to run", "remove it"
    if not argument.isprintable():
        why = "it holds a line's end, a zero byte or another control character"
        return f"{shown} is no argument", why, "write one argument per entry of the list"
    if argument != argument.strip():
        return f"{shown} has blanks at its ends", "java would not know it", "remove the blanks"
    if argument.startswith("@"):
        why = "java would read further arguments there, which no record of the run would have"
        return f"{shown} is a file of arguments", why, "write what it holds into database.jvm"
    if not argument.startswith("-") or argument.strip("-") == "":
        why = "java takes the first word that is no option for the class to run"
        return f"{shown} is no option", why, "remove it, or join it to its option: --add-opens=..."
    if argument.startswith(_HEAP):
        why = "the heap has a field of its own, which the estimate and the report know"
        return f"{argument} sets the heap", why, "remove it, and set database.heap"
    if name in _FILES or argument.startswith(_FILES):
        why = "it names a file of options, which no record of the run would have"
        return f"{shown} reads options from a file", why, "write the options into database.jvm"
    if name in _INSTEAD or argument.startswith("-XshowSettings"):
        return f"{shown} runs no Cassandra", "the JVM would do that, and end", "remove it"
    if name in _WITH_VALUE and not argument.partition("=")[2]:
        why = "java would take the next word for its value, which is another option"
        return f"{shown} has no value", why, f"write both as one entry: {name}=VALUE"
    if name in _OWN_PATHS:
        why = "Tare names every jar of the class path, so that all platforms run the same"
        return f"{shown} is Tare's to set", why, "remove it, and set database.home to other files"
    if name.startswith("-D") and name[2:] in _OWN_PROPERTIES:
        why = "Tare sets it for each node, and finds the node and its files by it"
        return f"{name} is Tare's to set", why, "remove it"
    return None
