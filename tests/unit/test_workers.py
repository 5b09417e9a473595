"""Work that is shared out: the same results everywhere, whatever becomes of those who do it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ctxcore.errors import FormatError, WorkersError
from ctxcore.reasons.problems import WorkersProblem
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.workers import AHEAD, Here, Pool, Workers, in_order, open_workers
from tests.servers import free_port

if TYPE_CHECKING:
    from distributed import LocalCluster


def double(number: int) -> int:
    return 2 * number


def refuse(number: int) -> int:
    if number == 2:
        raise FormatError(path="2.jsonl", problem=FileProblem.NO_FILES())
    return number


def end_once(folder: Path, number: int) -> int:
    """Kills the process that does the first seven, the first time each."""
    mark = folder / str(number)
    if number < 7 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def end_always(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """A scheduler with two workers, processes of their own."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    # A worker that is killed is started again by its nanny.
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
    ) as found:
        yield found


@pytest.fixture(params=["here", "processes", pytest.param("cluster", marks=pytest.mark.slow)])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """A contract suite: a new place to work is one more parameter."""
    given: dict[str, Any] = {"count": 1 if request.param == "here" else 2}
    if request.param == "cluster":
        given = {"cluster": request.getfixturevalue("cluster").scheduler_address}
    with open_workers(**given) as opened:
        yield opened


def test_results_come_in_order_and_each_with_its_place(workers: Workers) -> None:
    assert list(in_order(workers, double, range(40))) == [2 * at for at in range(40)]
    assert sorted(workers.as_done(double, range(40))) == [(at, 2 * at) for at in range(40)]
    assert list(in_order(workers, double, [])) == []


def test_an_error_of_the_work_arrives_as_it_was_raised(workers: Workers) -> None:
    with pytest.raises(FormatError, match=r"2\.jsonl"):
        list(workers.as_done(refuse, range(8)))

    assert list(in_order(workers, double, [1])) == [2]  # they go on working


def test_items_are_read_as_they_are_needed_and_no_more_once_it_is_enough(workers: Workers) -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for at in range(1_000):
            read.append(at)
            yield at

    results = workers.as_done(double, items())
    for _ in range(3):
        place, found = next(results)
        assert found == 2 * place
    results.close()  # type: ignore[attr-defined]  # a generator

    assert len(read) <= 3 + AHEAD * workers.size


@pytest.mark.parametrize("where", ["processes", pytest.param("cluster", marks=pytest.mark.slow)])
def test_what_kills_a_worker_costs_no_result(
    request: pytest.FixtureRequest, where: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"count": 2}
    if where == "cluster":
        given = {"cluster": request.getfixturevalue("cluster").scheduler_address}
    with open_workers(**given) as workers:
        found = list(in_order(workers, partial(end_once, tmp_path), range(12)))

    assert found == [2 * at for at in range(12)]
    assert {one.name for one in tmp_path.iterdir()} == set("0123456")


class Ending(ThreadPoolExecutor):
    """Workers that end as the second item is given to them."""

    def __init__(self, error: Exception) -> None:
        super().__init__(2)
        self._error, self._given = error, 0

    def submit(self, fn: Any, /, *args: Any, **options: Any) -> Future[Any]:
        self._given += 1
        if self._given == 2:
            raise self._error
        return super().submit(fn, *args, **options)


@pytest.mark.parametrize(
    "error", [BrokenProcessPool("ended"), OSError("handle is closed")], ids=["broken", "closed"]
)
def test_workers_that_end_as_they_are_given_work_cost_no_result(error: Exception) -> None:
    makes = iter([lambda: Ending(error), lambda: Ending(error)])
    workers = Pool(lambda: next(makes, lambda: ThreadPoolExecutor(2))(), 2)

    assert list(in_order(workers, double, range(12))) == [2 * at for at in range(12)]
    workers.close()


def test_workers_that_cannot_be_started_are_given_up_with_the_reason() -> None:
    class Refusing(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **options: Any) -> Future[Any]:
            raise OSError("no room for another process")

    with pytest.raises(WorkersError) as caught:
        list(Pool(Refusing, 2).as_done(double, range(3)))

    assert caught.value.code == WorkersProblem.ENDED
    assert "no room for another process" in str(caught.value.__cause__)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["processes", "cluster"])
def test_what_always_kills_its_worker_is_given_up(
    request: pytest.FixtureRequest, where: str
) -> None:
    given: dict[str, Any] = {"count": 2}
    if where == "cluster":
        given = {"cluster": request.getfixturevalue("cluster").scheduler_address}
    with ExitStack() as stack:
        workers = stack.enter_context(open_workers(**given))
        with pytest.raises(WorkersError) as caught:
            list(workers.as_done(end_always, range(2)))

    assert caught.value.code == WorkersProblem.ENDED


@pytest.mark.slow
def test_a_cluster_without_workers_is_told_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.setattr("ctxcore.workers.CONNECT_SECONDS", 0.5)

    empty = distributed.LocalCluster(n_workers=0, dashboard_address=":0", host="127.0.0.1")
    with (
        empty,
        pytest.raises(WorkersError) as caught,
        open_workers(cluster=empty.scheduler_address),
    ):
        pytest.fail("nobody is there to work")

    assert caught.value.code == WorkersProblem.NO_WORKERS


def test_without_a_cluster_at_the_address_the_reason_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.setattr("ctxcore.workers.CONNECT_SECONDS", 0.2)

    with (
        pytest.raises(WorkersError) as caught,
        open_workers(cluster=f"tcp://127.0.0.1:{free_port()}"),
    ):
        pass

    assert caught.value.code == WorkersProblem.UNREACHABLE


def test_one_process_is_this_one() -> None:
    with open_workers(1) as workers:
        assert isinstance(workers, Here)
