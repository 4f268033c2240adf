"""The settings that load generators print."""

from __future__ import annotations

from tare.imports.properties import MOST, of_command_line, of_quoted, of_settings
from tests.imports.conftest import DATA


def lines(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()


def test_ycsb_tells_of_its_command_line() -> None:
    found = of_command_line(lines("ycsb-cassandra-a-t.stderr.txt"))
    assert found["property recordcount"] == "10000"
    assert found["property hosts"] == "127.0.0.1,127.0.0.2,127.0.0.3"
    assert found["property workload file"] == "workloada"
    assert not any("consistency" in name for name in found), "these have names of their own"


def test_go_ycsb_tells_of_its_properties_in_any_order() -> None:
    found = of_quoted(lines("go-ycsb-cassandra-a-run.txt"))
    assert found["property requestdistribution"] == "zipfian"
    assert found == of_quoted(reversed(lines("go-ycsb-cassandra-a-run.txt")))
    assert "property threadcount" not in found


def test_cassandra_stress_tells_of_its_settings() -> None:
    found = of_settings(lines("stress-3.11.2-mixed-j17.txt"))
    assert found["property Population: Distribution"] == "Uniform:  min=1,max=50000"
    assert found["property Command: Duration"] == "15 SECONDS"
    assert not any("Password" in name or "Username" in name for name in found)


def test_secrets_are_not_kept_and_nothing_is_endless() -> None:
    line = (
        "Command line: -p mongodb.url=mongodb://me:secret@db:27017/ycsb -p jdbc.passwd=x "
        "-p db.user=me -p long=" + "y" * 5000 + " -target 500"
    )
    found = of_command_line([line])
    assert found["property mongodb.url"] == "mongodb://db:27017/ycsb"
    assert found["property target"] == "500"
    assert len(found["property long"]) == 200
    assert "secret" not in str(found)
    assert set(found) == {"property mongodb.url", "property long", "property target"}
    many = "Command line: " + " ".join(f"-p k{n}=1" for n in range(500))
    assert len(of_command_line([many])) == MOST
    assert of_command_line(["[OVERALL], RunTime(ms), 20401"]) == {}
