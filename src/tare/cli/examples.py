"""Examples at the end of every help: commands that can be pasted, and what they are for."""

from __future__ import annotations

from typing import Final

EXAMPLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "doctor": (
        ("tare doctor", "what can run here"),
        ("tare doctor --noise", "how narrow intervals can be on this machine; a minute"),
        ("tare doctor --machines", "the hosts of $TARE_INVENTORY"),
        ("tare doctor --database mongodb --home /opt/mongodb-7.0.14", "whether that mongod works"),
    ),
    "machines": (
        ("tare machines list", "the hosts as they were read"),
        ("tare machines prepare", "what they need; nothing is changed"),
    ),
    "machines list": (("TARE_INVENTORY=hosts.ini tare machines list", ""),),
    "machines prepare": (
        ("tare machines prepare", "say what would be changed"),
        ("tare machines prepare --with docker --yes", "change it, and install Docker"),
    ),
    "plan": (
        ("tare plan studies/quickstart.yaml", ""),
        ("tare plan studies/grambow-2018.yaml --scale day", "one of the study's scales"),
        ("tare plan study.yaml --set load.threads=64", "with another value of a field"),
    ),
    "run": (
        ("tare run studies/quickstart.yaml", "the same again after an interruption"),
        ("tare run study.yaml --only threads=10,50 --name few", "a part, as a run of its own"),
        ("tare run study.yaml --rounds 12", "more rounds for a run that left questions open"),
    ),
    "replicate": (
        ("tare replicate --list", "the studies, with their scales"),
        ("tare replicate grambow-2018 --scale laptop", "run one and judge it"),
        ("tare replicate grambow-2018 --of runs/grambow-2018", "judge a run that there is"),
    ),
    "report": (
        ("tare report runs/quickstart", "report.html, report.md, analysis.json, tables"),
        ("tare report runs/quickstart --json", "the analysis, for a program"),
    ),
    "compare": (
        ("tare compare runs/cassandra-4 runs/cassandra-5", ""),
        ("tare compare old/analysis.json runs/new --fail-on worse", "exit status 1 if so"),
    ),
    "import": (
        (
            "tare import ycsb results.zip --study grambow.yaml --out runs/theirs",
            "a study gives file names their meaning",
        ),
    ),
    "load": (
        ("tare load find-max --spec load.json", "the highest throughput"),
        ("tare load ycsb run cassandra-cql -P workloada -p hosts=10.0.0.1 -threads 16", ""),
        ("tare load stress write n=1000000 -rate threads=100 -node 10.0.0.1", ""),
    ),
    "notebook": (("tare notebook runs/quickstart", "runs/quickstart/analysis.ipynb"),),
    "findings": (
        ("tare findings --platform docker --network published", "of one platform"),
        ("tare findings show bth-kvm-2016.cpu.write.66", "everything about one"),
        ("tare findings add runs/quickstart --out mine.yaml", "your own, from a run"),
    ),
    "findings list": (
        ("tare findings list --study grambow-2018 --metric update.mean", ""),
        ("tare findings list --csv > findings.csv", ""),
    ),
    "findings prices": (
        ("tare findings prices", "what `tare weigh` found here"),
        ("tare findings prices --host db1", "on a host, by `tare weigh --hosts`"),
    ),
    "findings show": (("tare findings show bth-kvm-2016.cpu.write.66", ""),),
    "findings check": (
        ("tare findings check", "those that come with Tare"),
        ("tare findings check our-team/knowledge", "a directory of yours"),
    ),
    "findings add": (
        ("tare findings add runs/quickstart --out our-team/knowledge/quickstart.yaml", ""),
    ),
    "advise": (
        ("tare advise studies/quickstart.yaml", "on a study"),
        ("tare advise --database cassandra --platform docker --network published", ""),
        ("tare advise --check old.json new.json", "more than what the platform does?"),
    ),
    "weigh": (
        ("tare weigh", "native, and Docker by each way into a container"),
        ("tare weigh --database mongodb", "the same by MongoDB's protocol"),
        ("tare weigh --what bytes", "each further kilobyte of an answer"),
        ("tare weigh kubernetes", "a pod by each of its endpoints, beside native"),
        ("tare weigh --hosts hosts.yaml --group metal", "servers on a host over SSH"),
        ("tare weigh --what system,storage,machine", "system calls, files, CPU and memory"),
        ("tare weigh --what connection,name,start --html prices.html", "as one page, too"),
    ),
    "clean": (
        ("tare clean --dry-run", "only say what would go"),
        ("tare clean", ""),
    ),
    "schema": (
        ("tare schema > tare-study.schema.json", "for an editor"),
        ("tare schema analysis", "of analysis.json"),
    ),
}
"""Each command's examples: the command line, and its purpose where that is needed."""
_AS_IT_IS = "\b"
"""Marks a paragraph whose line breaks are kept."""
FIRST_STEPS = (
    "First: tare doctor; then tare plan quickstart, and tare run with the same word. "
    "tare COMMAND --help has examples; tare --install-completion completes words in your shell."
)


def examples(words: str) -> str:
    """The examples of a command as the end of its help; empty: it has none."""
    lines = []
    for line, purpose in EXAMPLES.get(words, ()):
        lines.append(f"  {line}" + (f"\n      {purpose}" if purpose else ""))
    return "\n".join([_AS_IT_IS, "Examples:", *lines]) if lines else ""
