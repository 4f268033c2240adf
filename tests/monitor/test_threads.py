"""The CPU time of a process is split by the names of its threads."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tare.monitor.threads import Threads, grown, read_threads, recognised

GROUPS = {"gc": ("GC Thread#", "G1 "), "compiler": ("C2 CompilerThread",)}


def thread(proc: Path, tid: int, name: str, nanoseconds: int) -> None:
    directory = proc / "7" / "task" / str(tid)
    directory.mkdir(parents=True)
    (directory / "comm").write_text(name + "\n")
    (directory / "schedstat").write_text(f"{nanoseconds} 12345 67\n")


def test_threads_have_the_name_and_the_seconds_that_the_kernel_counts(tmp_path: Path) -> None:
    thread(tmp_path, 7, "java", 1_500_000_000)
    thread(tmp_path, 8, "C2 CompilerThre", 250_000_000)
    assert read_threads(7, tmp_path).found == {7: ("java", 1.5), 8: ("C2 CompilerThre", 0.25)}


def test_a_process_that_is_gone_has_no_threads_and_a_damaged_one_is_passed_over(
    tmp_path: Path,
) -> None:
    assert read_threads(7, tmp_path) == Threads({})
    thread(tmp_path, 7, "java", 1)
    (tmp_path / "7" / "task" / "7" / "schedstat").write_text("")
    assert read_threads(7, tmp_path) == Threads({})


def test_this_very_process_is_seen_with_a_named_thread() -> None:
    running = threading.Event()
    other = threading.Thread(target=running.wait)
    other.start()
    try:
        found = read_threads(os.getpid()).found
    finally:
        running.set()
        other.join()
    assert {os.getpid(), other.native_id} <= found.keys()
    assert found[os.getpid()][1] > 0


def test_growth_is_per_group_and_names_are_cut_as_the_kernel_cuts_them() -> None:
    before = Threads({1: ("GC Thread#0", 1.0), 2: ("C2 CompilerThre", 5.0), 3: ("main", 9.0)})
    after = Threads({1: ("GC Thread#0", 1.5), 2: ("C2 CompilerThre", 7.0), 3: ("main", 20.0)})
    assert grown(before, after, GROUPS) == {"gc": 0.5, "compiler": 2.0}


def test_a_process_with_none_of_the_names_is_not_one_whose_threads_are_idle() -> None:
    assert recognised(Threads({1: ("C2 CompilerThre", 0.0), 2: ("main", 9.0)}), GROUPS)
    assert not recognised(Threads({1: ("runsc-sandbox", 7.0)}), GROUPS)
    assert not recognised(Threads({}), GROUPS)


def test_a_new_thread_counts_from_its_beginning_and_an_ended_one_takes_nothing_away() -> None:
    before = Threads({1: ("GC Thread#0", 4.0)})
    after = Threads({2: ("GC Thread#1", 0.25), 3: ("G1 Conc#0", 0.5)})
    assert grown(before, after, GROUPS) == {"gc": 0.75, "compiler": 0.0}


def test_an_id_that_was_used_again_never_makes_it_negative() -> None:
    before = Threads({1: ("GC Thread#0", 4.0)})
    after = Threads({1: ("GC Thread#0", 0.5)})
    assert grown(before, after, GROUPS)["gc"] == 0.0


@given(st.dictionaries(st.integers(1, 50), st.tuples(st.text(max_size=15), st.floats(0, 1e6))))
def test_no_group_ever_gets_more_than_all_threads_used(
    threads: dict[int, tuple[str, float]],
) -> None:
    total = sum(seconds for _, seconds in threads.values())
    shares = grown(Threads({}), Threads(threads), GROUPS)
    assert 0 <= sum(shares.values()) <= total + 1e-6
