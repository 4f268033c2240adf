"""Counts per operation follow from samples and counters by arithmetic."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.analysis.why.resources import (
    beside_values,
    host_values,
    machine_totals,
    operations_of,
    usage_values,
)
from tare.records.manifest import ClientResult, TrialManifest
from tare.records.samples import Samples

START = 1000.0


def manifest(seconds: float = 10.0, **changes: Any) -> TrialManifest:
    """A trial of 1,000 operations/s with one client of 20 us/operation."""
    ok = int(1000 * seconds)
    client = ClientResult(
        client="c1", hlog="c1.hlog", measured_s=seconds, start_unix=START, ok=ok, errors=0,
        throughput=1000.0, operations=[], errors_by_kind={}, cpu_us_per_op=20.0, cpu_share=0.1,
        send_lateness_p99_us=None, rate_error=None, saturated=False, saturation_reasons=[],
        version="0",
    )  # fmt: skip
    fields: dict[str, Any] = {
        "run": "r", "trial": "t", "status": "done", "condition": "native", "levels": {},
        "round": 1, "block": 1, "position": 1, "deployment": "D1", "started": "", "ended": "",
        "measure_start": START, "measure_end": START + seconds, "setup": {}, "clients": [client],
        "warm_up": None, "units": [], "database": {}, "caches_dropped": None,
        "server_cpu_s": 1.0, "engine_cpu_s": 0.1, "machine_cpu_s": 1.5, "probe_cpu_s": 0.0,
    }  # fmt: skip
    return TrialManifest(**(fields | changes))


Rows = list[tuple[float, str, float]]


def samples(rows: Rows) -> Samples:
    """(seconds after the start, metric of the machine, value)."""
    return Samples.of((START + t, "machine", metric, value) for t, metric, value in rows)


def held(metric: str, value: float, *, first: int = -2, last: int = 13) -> Rows:
    return [(t + 0.3, metric, value) for t in range(first, last)]


def steady(metric: str, value: float, *, first: int = -2, last: int = 13) -> Samples:
    return samples(held(metric, value, first=first, last=last))


def test_a_constant_rate_gives_rate_times_time() -> None:
    totals = machine_totals(steady("ctxt_per_s", 500.0), manifest())
    assert totals == {"ctxt_per_s": pytest.approx(5000.0)}


def test_samples_across_an_end_count_by_what_lies_inside() -> None:
    """From 0 to 0.3 s it is 100 a second, then 0: 30 in all, though no sample ends there."""
    rows = [(-0.7, "intr_per_s", 100.0), (0.3, "intr_per_s", 100.0)]
    rows += [(0.3 + t, "intr_per_s", 0.0) for t in range(1, 12)]
    assert machine_totals(samples(rows), manifest())["intr_per_s"] == pytest.approx(30.0)


def test_too_few_samples_give_no_total() -> None:
    assert machine_totals(steady("ctxt_per_s", 1.0, first=7), manifest()) == {}
    assert machine_totals(steady("ctxt_per_s", 1.0, first=3), manifest()) != {}


def test_values_that_are_no_numbers_and_times_that_run_back_are_left_out() -> None:
    broken = samples([(0.0, "ctxt_per_s", math.nan), (1.0, "ctxt_per_s", math.inf)])
    assert machine_totals(broken, manifest()) == {}
    back = samples([(t, "ctxt_per_s", 1.0) for t in (0.0, 5.0, 3.0, 9.0)])
    assert machine_totals(back, manifest()) == {}


@given(st.lists(st.floats(0, 1e6), min_size=14, max_size=14))
def test_a_total_lies_between_least_and_greatest_rate(rates: list[float]) -> None:
    rows = [(t - 1.5, "ctxt_per_s", rate) for t, rate in enumerate(rates)]
    total = machine_totals(samples(rows), manifest())["ctxt_per_s"]
    assert 10 * min(rates) - 1e-3 <= total <= 10 * max(rates) + 1e-3


def test_cpu_is_a_share_of_all_cpu_time_and_disk_a_rate() -> None:
    modes = {"user": 1.0, "system": 0.4, "softirq": 0.1, "idle": 0.4, "iowait": 0.1}
    rows = [row for mode, cores in modes.items() for row in held(f"cpu_{mode}", cores)]
    rows += held("disk_write_bytes_per_s", 2e6)
    found = usage_values(machine_totals(samples(rows), manifest()), manifest())
    assert found == {
        "cpu.util": pytest.approx(75.0),
        "cpu.softirq": pytest.approx(5.0),
        "disk.write_kbps": pytest.approx(2000.0),
    }


def test_without_idle_time_no_share_is_guessed() -> None:
    totals = machine_totals(steady("cpu_user", 1.0), manifest())
    assert usage_values(totals, manifest()) == {}


def test_counts_are_per_operation() -> None:
    rows = held("net_rx_packets_per_s", 3000.0) + held("net_tx_packets_per_s", 1000.0)
    found = beside_values(machine_totals(samples(rows), manifest()), manifest())
    assert found["net.packets_per_op"] == pytest.approx(4.0)


MODES = {"user": 0.9, "nice": 0.1, "system": 0.3, "irq": 0.05, "softirq": 0.15, "steal": 0.2}


def test_modes_come_from_the_counters_and_only_else_from_the_samples() -> None:
    sampled = {f"cpu_{mode}": 10 * seconds for mode, seconds in MODES.items()}
    counted = beside_values(sampled, manifest(machine_modes_s=MODES))
    assert counted["cpu.user_per_op"] == pytest.approx(100.0)
    assert counted["cpu.softirq_per_op"] == pytest.approx(20.0)
    assert beside_values(sampled, manifest())["cpu.user_per_op"] == pytest.approx(1000.0)
    whole = sum(counted[f"cpu.{m}_per_op"] for m in ("user", "system", "softirq"))
    assert whole == pytest.approx(1.5 * 1e6 / 10_000)  # service demand, without what was stolen


def test_what_no_operation_caused_is_a_part_of_its_own_below_zero() -> None:
    found = beside_values({}, manifest(machine_modes_s=MODES, background_cpu_s=0.2))
    assert found["cpu.background_per_op"] == pytest.approx(-20.0)
    by_mode = sum(found[f"cpu.{m}_per_op"] for m in ("user", "system", "softirq", "background"))
    by_owner = sum(found[f"cpu.{name}_per_op"] for name in ("server", "engine", "client", "others"))
    assert by_mode == pytest.approx(by_owner) == pytest.approx(130.0)


def test_the_machine_is_divided_among_those_who_used_it() -> None:
    found = beside_values({}, manifest())
    names = ("server", "engine", "client", "others")
    assert [found[f"cpu.{n}_per_op"] for n in names] == pytest.approx([100.0, 10.0, 20.0, 20.0])


def test_the_database_is_divided_by_threads_only_where_all_are_known() -> None:
    seconds = {"gc": 0.1, "jit": 0.2, "compaction": 0.05, "flush": 0.02, "network": 0.13}
    server = {f"cpu.{name}_s": value for name, value in seconds.items()}
    found = beside_values({}, manifest(server=server))
    parts = sum(found[f"cpu.{name}_per_op"] for name in (*seconds, "requests"))
    assert parts == pytest.approx(100.0)
    del server["cpu.flush_s"]
    assert "cpu.requests_per_op" not in beside_values({}, manifest(server=server))


def test_what_the_database_counted_is_per_operation_or_per_million() -> None:
    server = {
        "gc.pauses": 5.0, "gc.pause_s": 0.25, "gc.allocated_bytes_per_s": 4e6,
        "cache.keys.misses": 2500.0, "internode.messages": 20_000.0, "requests.blocked": 0.0,
    }  # fmt: skip
    found = beside_values({}, manifest(server=server))
    assert found["gc.pauses_per_million"] == pytest.approx(500.0)
    assert found["gc.pause_per_op"] == pytest.approx(25.0)
    assert found["gc.allocated_bytes_per_op"] == pytest.approx(4000.0)
    assert found["cache.keys.misses_per_op"] == pytest.approx(0.25)
    assert found["internode.messages_per_op"] == pytest.approx(2.0)
    assert found["requests.blocked_per_million"] == 0.0


def test_an_imported_trial_counts_what_it_printed_else_throughput_times_time() -> None:
    imported = manifest(clients=[], reported={"throughput": 500.0})
    assert operations_of(imported) == 5000.0
    printed = manifest(clients=[], reported={"throughput": 500.0}, operations=4990)
    assert operations_of(printed) == 4990.0
    found = beside_values({"ctxt_per_s": 10_000.0}, imported)
    assert found == {"os.context_switches_per_op": pytest.approx(2.0)}


def test_without_operations_nothing_is_divided() -> None:
    assert beside_values({"ctxt_per_s": 1.0}, manifest(clients=[], reported={})) == {}


def test_what_several_machines_used_is_added_up_where_all_of_them_tell() -> None:
    told = {"machine@db1": 200.0, "machine@db2": 300.0}
    rows = [(START + t, name, "ctxt_per_s", v) for t in range(-2, 13) for name, v in told.items()]
    assert machine_totals(Samples.of(rows), manifest())["ctxt_per_s"] == pytest.approx(5000.0)
    short = (START + 1.0, "machine@db3", "ctxt_per_s", 1.0)
    assert machine_totals(Samples.of([*rows, short]), manifest()) == {}


def node(name: str, role: str, machine: str) -> dict[str, Any]:
    return {
        "name": name, "role": role, "runtime": "native", "network": "host", "storage": "",
        "endpoint": "", "command": [], "bits": "", "limits": {}, "machine": machine, "parity": {},
    }  # fmt: skip


def on_two_hosts(client_host: str) -> TrialManifest:
    units = [node("n1", "database", "h1"), node("c1", "client", client_host)]
    return manifest(setup={"platform": {"machines": "ssh"}}, units=units)


def of_two_hosts() -> Samples:
    """h1 is busy in 1.5 of its 2 CPUs, h2 in all of its 4."""
    modes = {"h1": {"user": 1.5, "idle": 0.5}, "h2": {"user": 4.0, "idle": 0.0}}
    return Samples.of(
        (START + t + 0.3, f"machine@{host}", f"cpu_{mode}", cores)
        for host, own in modes.items()
        for mode, cores in own.items()
        for t in range(-2, 13)
    )


def test_the_servers_cpu_is_that_of_the_servers_hosts_alone() -> None:
    found = host_values(of_two_hosts(), on_two_hosts("h2"))
    assert found == {"cpu.server_util": pytest.approx(75.0)}


def test_clients_on_a_servers_host_are_taken_off() -> None:
    """10,000 operations of 20 us in 10 s on 2 CPUs: a hundredth."""
    found = host_values(of_two_hosts(), on_two_hosts("h1"))
    assert found == {"cpu.server_util": pytest.approx(74.0)}


def test_a_host_without_samples_leaves_no_share() -> None:
    assert host_values(steady("cpu_user", 1.0), on_two_hosts("h2")) == {}
    assert host_values(of_two_hosts(), manifest()) == {}, "of servers here the counters tell it"
