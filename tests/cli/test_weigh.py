"""What `tare weigh` refuses, and how it shows prices."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tare.analysis.price_changes import compare_prices as compare
from tare.analysis.prices import UNOWNED, UNOWNED_US, prices
from tare.cli import compare_prices, weighing
from tare.cli.prices_text import WIRE, added, csv_text, lines, not_valid, table
from tare.machines.facts import local_facts
from tare.records.kept_measurements import MeasuredMachine, keep
from tare.records.prices import Interval, ServersHost, Weighing, prices_here, prices_on
from tests.analysis.test_prices import MACHINE, WITHIN, weighed
from tests.cli.in_process import CHECKOUT, tare


def refused(*words: str, cwd: Path = CHECKOUT) -> str:
    """What the command prints where it starts nothing."""
    done = tare("weigh", *words, cwd=cwd)
    assert done.returncode == 2
    return done.stderr


def shown(console_width: int = 160) -> str:
    console = Console(width=console_width, record=True, file=None)
    with console.capture() as captured:
        console.print(table(prices(weighed(), MACHINE)))
    return captured.get()


def test_a_runtime_that_cannot_be_weighed_is_refused_before_anything_starts() -> None:
    said = refused("jail")
    assert "jail cannot be weighed" in said
    assert "tare weigh native docker" in said


def test_a_time_that_holds_no_slices_is_refused_with_the_time_that_would() -> None:
    said = refused("native", "--seconds", "10", "--rounds", "9")
    assert "is too short" in said
    assert "more --seconds, or fewer --rounds" in said


def test_each_way_is_a_row_with_what_it_adds() -> None:
    text = shown()
    assert "docker.proxy" in text
    assert "bridge and veth pair" in text
    assert added(Interval(value=1.0, low=0.9, high=1.1)) == "+1.00 [+0.90, +1.10]"
    assert added(None) == ""


@pytest.mark.parametrize("kind", ["kvm", "ssh", "vmware"])
def test_machines_are_no_runtimes_and_the_refusal_says_how_they_are_weighed(kind: str) -> None:
    said = refused("docker", kind)
    assert f"{kind} cannot be weighed by name" in said
    assert "tare weigh --hosts FILE" in said
    assert "tare compare here.json there.json" in said


def test_what_could_not_be_weighed_and_what_it_cannot_tell_are_said() -> None:
    found = prices(weighed(), MACHINE)
    told = lines(found.model_copy(update={"left_out": {"docker": "no engine (make setup)"}}))
    assert "left out: docker: no engine (make setup)" in told
    assert told[-1].startswith("A price is of a round trip on this machine")


def test_a_difference_where_there_is_none_is_said() -> None:
    alike = lines(prices(weighed(noise=0.05), MACHINE))
    apart = lines(prices(weighed(us=(8.0, 10.0, 9.0, 15.0)), MACHINE))
    assert not any("native again is not the same" in line for line in alike)
    assert any("native again is not the same" in line for line in apart)


def test_other_programs_are_said_where_they_disturb() -> None:
    found = prices(weighed(), MACHINE)
    busy = lines(found.model_copy(update={"other_cores": 1.0}))
    assert any("other programs disturbed it" in line for line in busy)


def test_a_busy_machine_and_a_native_that_is_not_itself_are_not_valid() -> None:
    found = prices(weighed(), MACHINE)
    assert not_valid(found) == []
    (busy,) = not_valid(found.model_copy(update={"other_cores": 0.5}))
    assert busy.startswith("not valid: other programs disturbed it")
    (still,) = not_valid(found.model_copy(update={"gap_s": found.slice_s / 2}))
    assert still.startswith("not valid: nothing was answered for 0.12 s")
    assert not_valid(found.model_copy(update={"gap_s": found.slice_s / 3})) == []
    (unlike,) = not_valid(prices(weighed(us=(8.0, 10.0, 9.0, 15.0)), MACHINE))
    assert unlike.startswith("not valid: native again")


def test_the_table_for_other_programs_has_every_number_with_its_interval() -> None:
    head, native, *others = csv_text(prices(weighed(), MACHINE)).splitlines()
    assert head.startswith("way,in_flight,path,demand_us,demand_us_low,demand_us_high,added_us,")
    assert native.startswith("native,1,,")
    assert ",,," in native, "nothing is added to native"
    assert len(others) == 3


def test_two_files_of_prices_are_compared(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(prices(weighed(), MACHINE).model_dump_json())
    done = tare("compare", "a", "b", cwd=tmp_path)
    assert done.returncode == 0
    assert "docker.bridge" in done.stdout
    assert "not told apart" in done.stdout


def test_two_prices_are_compared_in_microseconds_and_in_percent_of_native_s() -> None:
    slow = prices(weighed(), MACHINE)
    dearer = prices(weighed(us=(8.0, 8.0, 11.0, 15.0)), MACHINE)
    console = Console(width=200)
    with console.capture() as captured:
        console.print(compare_prices.table(compare(slow, dearer)))
    native, _, bridge, _ = captured.get().splitlines()[1:]
    assert "%" in captured.get().splitlines()[0]
    assert native.split()[:4] == ["native", "1", "in", "all"]
    assert native.endswith(" " * 20), "native has no share of itself"
    assert "+12.5" in bridge
    assert "+37.5" in bridge
    assert "+25.0 [" in bridge


def test_a_request_and_a_connection_are_not_compared(tmp_path: Path) -> None:
    for name, operation in (("a", "request"), ("b", "connection")):
        found = prices(weighed(), MACHINE).model_copy(update={"operation": operation})
        (tmp_path / name).write_text(found.model_dump_json())
    done = tare("compare", "a", "b", cwd=tmp_path)
    assert done.returncode == 2
    assert "are not compared" in done.stderr


def test_what_a_connection_costs_is_told_as_that() -> None:
    found = prices(weighed(), MACHINE).model_copy(update={"operation": "connection"})
    console = Console(width=160)
    with console.capture() as captured:
        console.print(table(found))
    assert "connection us" in captured.get()
    assert "TLS" in captured.get().splitlines()[0]
    assert "full handshake of version 1.3" in lines(found)[-1]


def test_what_a_further_kilobyte_costs_is_told_in_nanoseconds_with_both_sizes() -> None:
    sizes = {"operation": "kilobyte", "larger_row_bytes": 9000}
    found = prices(weighed(), MACHINE).model_copy(update=sizes)
    console = Console(width=170)
    with console.capture() as captured:
        console.print(table(found))
    assert added(found.prices[2].added, 3) in captured.get()
    told = lines(found)
    assert any("rows of 1,000 and 9,000 bytes" in line for line in told)
    assert told[-1].startswith("A price is of 1,000 further bytes")


def test_options_of_runs_mean_nothing_for_prices(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(prices(weighed(), MACHINE).model_dump_json())
    done = tare("compare", "a", "b", "--fail-on", "worse", cwd=tmp_path)
    assert done.returncode == 2
    assert "prices are compared as they are" in done.stderr


def test_a_database_whose_protocol_is_not_spoken_is_refused() -> None:
    said = refused("--database", "redis")
    assert "cassandra or mongodb" in said
    assert "tare weigh --database mongodb" in said


def test_what_a_way_to_a_server_that_works_is_compared_with_stands_beside_its_price() -> None:
    found = prices(replace(weighed(ways=WITHIN, us=range(300, 306)), operation="working"), MACHINE)
    headings = [str(one.header) for one in table(found).columns]
    assert "compared with" in headings
    assert "over native" not in headings
    rows = [line.split(",") for line in csv_text(found).splitlines()]
    assert {row[0]: row[-1] for row in rows[1:]} == {
        "native": "",
        "native again": "native",
        "docker.loopback": "native",
        "docker.bridge": "docker.loopback",
        "docker.proxy": "docker.loopback",
        "gvisor.bridge": "native",
    }


def test_whose_protocol_was_spoken_is_said() -> None:
    found = prices(replace(weighed(), database="mongodb"), MACHINE)
    assert any("MongoDB's OP_MSG, a connection for each" in line for line in lines(found))
    assert csv_text(found).splitlines()[1].endswith(",mongodb,")
    assert not any("OP_MSG" in line for line in lines(prices(weighed(), MACHINE)))


def test_a_time_that_is_no_number_is_refused() -> None:
    assert "no number" in refused("native", "--seconds", "inf")


def test_that_a_weighing_is_not_kept_for_bills_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighing, "weigh", lambda *_, **__: weighed())
    monkeypatch.setattr(weighing, "prices", lambda *_: prices(weighed(), MACHINE))
    told: list[str] = []
    weighing.weigh_and_keep(told.append, weighing.WeighingRequest(["kubernetes"]))
    assert told == [
        "not kept for bills of later runs, which take what was weighed of native and docker "
        "together, with the usual options"
    ]


ON_HOST = ServersHost(
    name="db1", group="metal", clients=MACHINE, one_kernel=False, clock_uncertain_s=0.0004
)


def on_host(**changes: object) -> Weighing:
    found = prices(weighed(), MACHINE.model_copy(update={"hostname": "server-1"}))
    return found.model_copy(update={"on_host": ON_HOST.model_copy(update=changes)})


def test_where_servers_and_clients_ran_is_told_with_what_is_not_counted_there() -> None:
    told = lines(on_host())
    (where,) = [line for line in told if line.startswith("servers on db1, group metal (server-1")]
    assert "clients on here: 2 CPUs" in where
    assert "± 0.4 ms" in where
    assert told[-1] == WIRE
    assert not any("no wire" in line for line in told)
    assert any(
        "db1 is this machine under another" in one for one in lines(on_host(one_kernel=True))
    )
    assert not any("server-1" in line for line in lines(prices(weighed(), MACHINE)))


def test_time_that_is_no_process_s_is_told_beside_the_price() -> None:
    unowned, more = Interval(value=3.0, low=2.5, high=3.5), Interval(value=2.0, low=1.0, high=3.0)
    found = on_host()
    native, again, bridge, proxy = found.prices
    told = lines(
        found.model_copy(
            update={
                "prices": [
                    native.model_copy(update={"counts": {UNOWNED_US: unowned}}),
                    again,
                    bridge.model_copy(update={"parts": {UNOWNED: more}}),
                    proxy,
                ]
            }
        )
    )
    own = [line for line in told if line.startswith("not in CPU us")]
    assert [("3.00 us [2.50, 3.50] of native" in own[0]), len(own)] == [True, 2]
    assert "docker.bridge with 1 in flight +2.00 [+1.00, +3.00] us" in own[1]


@pytest.mark.parametrize(
    ("words", "said", "remedy"),
    [
        (("--group", "metal"), "is a group of no inventory", "--hosts hosts.yaml --group metal"),
        (("--hosts", "nowhere.yaml"), "cannot read the inventory", "names a file"),
        (("--hosts", "own.yaml", "--group", "metl"), "no host is in a group metl",
         "did you mean metal"),
        (("--hosts", "own.yaml", "swarm"), "swarm cannot be weighed", "tare weigh native"),
        (("--hosts", "own.yaml", "--what", "system,start"), "system,start is not weighed on hosts",
         "install Tare on db1 (192.0.2.11)"),
    ],
)  # fmt: skip
def test_hosts_that_cannot_be_weighed_are_refused_before_anything_starts(
    words: tuple[str, ...], said: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TARE_INVENTORY", raising=False)
    text = "hosts:\n  db1: {address: 192.0.2.11}\ngroups:\n  metal: [db1]\n"
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    told = " ".join(refused(*words, cwd=tmp_path).split())
    assert said in told
    assert remedy in told


def test_an_inventory_that_is_named_for_studies_is_used_where_a_group_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "hosts:\n  db1: {address: 192.0.2.11}\n  db2: {address: 192.0.2.12}\n"
    (tmp_path / "own.yaml").write_text(f"{text}groups:\n  metal: [db2]\n", encoding="utf-8")
    monkeypatch.setenv("TARE_INVENTORY", str(tmp_path / "own.yaml"))
    assert weighing.host_of(None, "") is None, "without either option servers run here"
    found = weighing.host_of(None, "metal")
    assert found is not None
    assert found.host.name == "db2"


def test_prices_of_a_host_are_kept_by_its_name_and_are_none_of_this_machine_s(
    tmp_path: Path,
) -> None:
    here = local_facts()
    found = on_host().model_copy(update={"machine": MeasuredMachine.of(here)})
    assert keep(found, tmp_path).name == "prices-on-db1.json"
    assert prices_here("cassandra", here, tmp_path) is None
    assert prices_on("db1", tmp_path) == found
    (tmp_path / "prices.json").write_text(found.model_dump_json(), encoding="utf-8")
    assert prices_here("cassandra", here, tmp_path) is None, "whatever its file is called"
    assert prices_on("../db1", tmp_path) is None


def test_kept_prices_of_a_host_are_shown_by_its_name(tmp_path: Path) -> None:
    keep(on_host(), tmp_path)
    own = {**os.environ, "TARE_CACHE": str(tmp_path)}
    found, none = (
        tare("findings", "prices", "--host", one, environment=own) for one in ("db1", "db2")
    )
    assert (found.returncode, none.returncode) == (0, 2)
    assert found.stdout.startswith("server-1: 2 CPUs, some, kvm, Linux 6.1; weighed ")
    assert "docker.bridge" in found.stdout
    assert "no prices of a host db2 are kept here" in none.stderr
    assert "tare weigh --hosts FILE" in none.stderr
