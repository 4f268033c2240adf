"""A weighing of ways with prices as tests need them."""

from __future__ import annotations

from datetime import UTC, datetime

from tare.records.kept_measurements import MeasuredMachine
from tare.records.prices import Interval, Price, Weighing

NATIVE_US = {1: 15.0, 32: 1.5}
PACKETS = {1: 2.0, 32: 0.2}
PATH = "bridge and veth pair"
LOOPBACK, LOOPBACK_PATH = "docker.loopback", "loopback"


def around(value: float, half: float = 0.1) -> Interval:
    return Interval(value=value, low=value - half, high=value + half)


def price(
    way: str, in_flight: int, added: float | None, packets: float | None = None, over: str = ""
) -> Price:
    number = PACKETS[in_flight] if packets is None else packets
    return Price(
        way=way,
        in_flight=in_flight,
        runtime=way.partition(".")[0],
        endpoint=way.partition(".")[2] or "host",
        path=LOOPBACK_PATH if way in ("native", LOOPBACK) else PATH,
        slices=4,
        demand=around(NATIVE_US[in_flight] + (added or 0.0)),
        over=over,
        added=None if added is None else around(added),
        parts={},
        counts={"packets": around(number, 0.0)},
        round_trip=around(14.0),
        round_trip_added=None,
    )


def weighing(*prices: Price) -> Weighing:
    return Weighing(
        made=datetime(2026, 11, 1, tzinfo=UTC),
        machine=MeasuredMachine(
            hostname="h", cpus=2, cpu_model="c", virtualization="kvm", kernel="6"
        ),
        slice_s=0.25,
        pinned=True,
        frozen=True,
        idle_cpus="poll",
        late=0,
        steal=0.0,
        other_cores=0.0,
        seconds=100.0,
        rounds=5,
        row_bytes=1000,
        service_us=0.0,
        why_no_calls="",
        left_out={},
        prices=[price("native", 1, None), price("native", 32, None), *prices],
    )


BRIDGE = weighing(price("docker.bridge", 1, 3.0), price("docker.bridge", 32, 0.4))
QUIET = weighing(*BRIDGE.prices[2:], price(LOOPBACK, 1, 0.5))
"""With the loopback device of the bridge's server."""
WORKING = weighing(
    price("docker.bridge", 1, 4.5, over=LOOPBACK),
    price(LOOPBACK, 1, -7.0),
    price("native", 1, -20.0, packets=1.0).model_copy(update={"in_flight": 2}),
).model_copy(update={"operation": "working", "working_kib": 2048})
"""Where the server works, a packet of two costs 1 us more over the bridge, (4.5 - (3.0 - 0.5)) / 2,
and a packet more costs 20 us, which is saved with two in flight."""
