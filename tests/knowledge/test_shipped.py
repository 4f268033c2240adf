"""The shipped knowledge has every printed number, and is consistent."""

from __future__ import annotations

import pytest

from tare.knowledge.consistency import cohens_d, objections
from tare.knowledge.library import knowledge_files, load_library, shipped_directory
from tare.knowledge.read import read_knowledge
from tare.knowledge.schema import Finding

FILES = knowledge_files(shipped_directory())
FINDINGS = {one.id: one for one in load_library(environment={}).findings()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_file_has_no_problem(path: object) -> None:
    assert objections(read_knowledge(path).findings) == []  # type: ignore[arg-type]  # a Path


@pytest.mark.parametrize("one", FINDINGS.values(), ids=list(FINDINGS))
def test_every_effect_follows_from_its_own_numbers(one: Finding) -> None:
    effect, values = one.effect, one.values
    if effect is None or effect.ratio is None:
        alone = one.kind == "spread"  # a variability, stored with its mean
        assert alone or values.baseline is None, "an effect with values has a ratio"
        return
    if effect.how == "two values":
        assert values.baseline is not None
        assert values.treatment is not None
        assert effect.ratio == pytest.approx(values.treatment / values.baseline, abs=6e-5)
    elif effect.how == "printed":
        assert effect.printed is not None
        assert effect.ratio == pytest.approx(1 + effect.printed / 100, abs=6e-5)
    elif effect.how == "range":
        assert (effect.low or 0) <= effect.ratio <= (effect.high or 99)
    else:
        assert effect.how == "computed"
        assert one.spread.ci is not None
        assert one.spread.ci[0] <= effect.ratio <= one.spread.ci[1]


def test_every_finding_says_where_it_is_printed() -> None:
    for one in FINDINGS.values():
        source = one.source
        assert source.where or source.table or source.figure, one.id


def ratios(prefix: str) -> dict[str, float | None]:
    found = {k: v.effect for k, v in FINDINGS.items() if k.startswith(prefix)}
    return {k.removeprefix(prefix): v.ratio for k, v in found.items() if v is not None}


def printed(name: str) -> float:
    effect = FINDINGS[name].effect
    assert effect is not None
    assert effect.printed is not None
    return effect.printed


GRAMBOW = """
t3 10 read 1.42 1.84 1.21 | t3 10 update 1.79 5.13 4.53 | t3 25 read -0.09 -0.01 0.69
t3 25 update 0.50 3.06 3.73 | t3 50 read 2.51 -0.52 -0.97 | t3 50 update 2.72 2.66 2.20
t3 avg read 1.28 0.44 0.31 | t3 avg update 1.67 3.62 3.49
t4 30 read 5.53 7.02 11.74 | t4 30 update 5.81 7.25 12.07 | t4 75 read 6.81 2.50 8.85
t4 75 update 6.73 2.43 8.70 | t4 150 read -0.63 -2.38 1.46 | t4 150 update 2.96 1.43 5.36
t4 avg read 3.90 2.38 7.35 | t4 avg update 5.17 3.70 8.71
"""


@pytest.mark.parametrize(
    "row", [r.strip() for r in GRAMBOW.replace("\n", "|").split("|") if r.strip()]
)
def test_grambow_tables_3_and_4(row: str) -> None:
    table, threads, operation, *changes = row.split()
    for setup, change in zip(("client", "server", "both"), changes, strict=True):
        name = f"grambow-2018.{table}.{threads}.{operation}.{setup}"
        assert printed(name) == float(change)
        assert (FINDINGS[name].treatment or FINDINGS[name].baseline).client == (
            "native" if setup == "server" else "docker"
        )


def test_grambow_averages_are_the_means_of_their_columns() -> None:
    averages = [one for one in FINDINGS if ".avg." in one and one.startswith("grambow-2018.t")]
    assert len(averages) == 12
    for name in averages:
        effect = FINDINGS[name].effect
        assert effect is not None
        parts = [printed(part) for part in effect.mean_of]
        assert len(parts) == 3
        assert printed(name) == pytest.approx(sum(parts) / 3, abs=0.0051)


SHIRINBAB = """
1 mix 55 1.35 46 1.2 75 1.9 | 1 read 39 0.9 32 0.9 57 1.2 | 1 write 14 0.7 12 0.6 24 0.8
2 mix 70 1.9 59 2.1 86 4.4 | 2 read 50 1.5 41 1.4 65 1.6 | 2 write 22 0.7 18 0.7 36 0.9
3 mix 74 2.2 64 2.1 84 5.45 | 3 read 54 1.9 45 1.9 68 1.6 | 3 write 26 0.8 22 0.8 41 1
"""


@pytest.mark.parametrize(
    "row", [r.strip() for r in SHIRINBAB.replace("\n", "|").split("|") if r.strip()]
)
def test_shirinbab_table_2(row: str) -> None:
    factor, load, *cells = row.split()
    docker_cpu, docker_ms, cpu, ms, vm_cpu, vm_ms = map(float, cells)
    for metric, platform, base, treated in (
        ("cpu", "docker", cpu, docker_cpu),
        ("latency", "docker", ms, docker_ms),
        ("cpu", "vmware", cpu, vm_cpu),
        ("latency", "vmware", ms, vm_ms),
    ):
        one = FINDINGS[f"shirinbab-2020.t2.rf{factor}.{load}.{metric}.{platform}"]
        assert (one.values.baseline, one.values.treatment) == (base, treated)
        assert one.side.platform == platform


@pytest.mark.parametrize(
    ("name", "percent"),
    [
        ("t2.heavy.read.kubernetes", 37),
        ("t2.heavy.read.swarm", 20),
        ("t2.heavy.update.docker", 13),
        ("t2.heavy.update.swarm", 22),
        ("t2.heavy.update.kubernetes", 28),
        ("t2.light.update.docker", -5),
        ("t2.light.update.swarm", 27),
        ("t2.light.update.kubernetes", 20),
        ("t3.heavy.update.swarm-node-port", 18),
        ("t3.light.update.swarm-node-port", 5),
        ("rq2.light.update.kubernetes-cluster-endpoints", 40),
        ("rq2.heavy.update.kubernetes-cluster-endpoints", 3),
        ("rq3.light.read.swarm-overlay", 7),
        ("rq3.update.swarm-overlay-over-kubernetes", -9),
    ],
)
def test_truyen_percentages_of_the_text(name: str, percent: float) -> None:
    assert printed(f"truyen-2018.{name}") == percent


def test_truyen_tables_hold_every_cell() -> None:
    for prefix, cells in (
        ("t2.heavy.read.", [3.7, 4.0, 4.3, 4.8, 5.5]),
        ("t2.heavy.update.", [16.5, 16.7, 18.8, 20.2, 21.1]),
        ("t2.light.update.", [15.9, 15.9, 16.8, 19.1, 20.2]),
        ("t3.heavy.read.", [4.8, 4.9, 5.5, 5.5, 5.6, 5.7, 23.6]),
        ("t3.light.read.", [6.7, 7.1, 7.5, 7.9, 7.9, 8.2, 10.6]),
        ("t3.heavy.update.", [20.2, 21.1, 21.3, 21.8, 22.2, 23.8, 43.8]),
        ("t3.light.update.", [18.9, 19.1, 20.2, 21.3, 26.1, 27.5, 37.5]),
    ):
        found = [v for k, v in FINDINGS.items() if k.startswith(f"truyen-2018.{prefix}")]
        values = {one.values.baseline for one in found} | {one.values.treatment for one in found}
        assert values == set(cells), prefix


KVM = """
cpu.mixed.100 63.4 69.42 6.02 1.58 | cpu.read.100 57.48 72.32 14.84 3.05
cpu.write.100 48.82 58.61 9.79 2.95 | cpu.mixed.66 56.98 62.05 5.07 1.78
cpu.read.66 42.26 67.36 25.1 8.66 | cpu.write.66 41.74 58.64 16.9 7.53
"""


@pytest.mark.parametrize("row", [r.strip() for r in KVM.replace("\n", "|").split("|") if r.strip()])
def test_kvm_tables_2_3_5_and_6(row: str) -> None:
    name, base, treated, points, stated = row.split()
    one = FINDINGS[f"bth-kvm-2016.{name}"]
    assert (one.values.baseline, one.values.treatment) == (float(base), float(treated))
    assert printed(one.id) == float(points)
    assert float(treated) - float(base) == pytest.approx(float(points), abs=0.0101)
    assert one.spread.cohens_d == float(stated)


def test_the_kvm_thesis_gives_two_sets_of_differences_and_both_stand() -> None:
    for name, table, text in (
        ("mixed", 5.07, 8.07),
        ("read", 25.1, 22.49),
        ("write", 16.9, 15.9),
    ):
        one = FINDINGS[f"bth-kvm-2016.cpu.{name}.66"]
        assert printed(one.id) == table
        assert text in [clash.other for clash in one.discrepancies]


def test_one_effect_size_of_the_kvm_thesis_does_not_follow_from_its_table() -> None:
    one = FINDINGS["bth-kvm-2016.cpu.write.66"]
    found = cohens_d(one)
    assert found == pytest.approx(6.00, abs=0.005)
    assert one.spread.cohens_d == 7.53
    assert any(clash.about == "cohens-d" for clash in one.discrepancies)


def test_kvm_throughput_of_writes_at_66_percent_rises_against_its_text() -> None:
    found = ratios("bth-kvm-2016.throughput.")
    assert found["write.66"] == pytest.approx(111314 / 86224, abs=1e-4)
    one = FINDINGS["bth-kvm-2016.throughput.write.66"]
    assert "all cases" in one.discrepancies[0].note


def test_docker_thesis_reads_and_writes_have_the_same_numbers_and_it_is_said() -> None:
    for load in ("66", "100"):
        write = FINDINGS[f"bth-docker-2016.latency.write.{load}"]
        read = FINDINGS[f"bth-docker-2016.latency.read.{load}"]
        assert write.values == read.values
        assert "copied" in read.discrepancies[0].note


SETUPS = {"client": "docker-native", "server": "native-docker", "both": "docker-docker"}


@pytest.mark.parametrize("operation", ["read", "update"])
@pytest.mark.parametrize("threads", ["10", "25", "50"])
@pytest.mark.parametrize("setup", SETUPS)
def test_what_tare_computes_from_the_raw_files_is_what_grambow_printed(
    operation: str, threads: str, setup: str
) -> None:
    name = f"grambow-2018.computed.{SETUPS[setup]}-{threads}-m3-medium.{operation}.mean"
    one = FINDINGS[name]
    assert one.effect is not None
    assert one.effect.ratio is not None
    table = printed(f"grambow-2018.t3.{threads}.{operation}.{setup}")
    assert (one.effect.ratio - 1) * 100 == pytest.approx(table, abs=0.0051)
    assert one.spread.ci is not None
    assert one.study == "grambow-2018", "not a second, independent study"
