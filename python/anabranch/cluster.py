"""Runs of sweeps on the workers of a Dask cluster (``pip install anabranch[cluster]``).

A worker simulates one run and sends the files of its folder; this process stores them as if it had done the run itself.
So workers need no common file system, except for the traces that a scenario names. If a worker fails, its unfinished
runs are lost, and the scheduler gives them to other workers.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _core
from .shipped import UsageError

if TYPE_CHECKING:
    from distributed import Client, Future

AHEAD = 1000
"""Runs that wait at the scheduler: enough for it to see how many workers it could use."""
TICK = 0.2
"""Seconds between two reports while no run finishes."""

Recipe: TypeAlias = tuple[str, str, int | None, bool]
"""The arguments of ``_core.Plan``: text and name of the scenario, seed, captures."""
Task: TypeAlias = tuple[int, int, str]
"""Combination, replica and hash of a run."""
Work: TypeAlias = Callable[[Recipe, Sequence[Task], str], Iterator[int]]
"""Performs runs and stores them in a folder; yields the number of finished runs repeatedly."""


@contextmanager
def cluster_work(cluster: Any) -> Iterator[Work | None]:
    """The argument ``cluster`` of ``_core.sweep``; None for None. Connects, and disconnects at the end."""
    with connected(cluster) as client:
        yield None if client is None else partial(_work, client)


@contextmanager
def connected(cluster: Any) -> Iterator[Client | None]:
    """A client of the cluster: an address, ``"local"``, a client, which is used as it is, or a cluster of Dask.

    ``"local"`` starts a process for each core on this machine. Raises :class:`UsageError` if Dask is not installed or
    no scheduler answers.
    """
    if cluster is None:
        yield None
        return
    try:
        # An optional dependency.
        from distributed import Client
    except ImportError as error:
        raise UsageError("sweeps on a cluster need Dask: pip install 'anabranch[cluster]'") from error
    if isinstance(cluster, Client):
        yield cluster
    elif cluster == "local":
        with local_cluster(os.cpu_count() or 1) as local, Client(local) as client:
            yield client
    else:
        try:
            client = Client(cluster)
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot connect to the cluster {cluster}: {error}") from error
        with client:
            yield client


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """A cluster of this many processes on this machine, without a dashboard."""
    from distributed import LocalCluster

    # No limit of memory: a run may take as much as without a cluster.
    settings: dict[str, Any] = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": None}
    with LocalCluster(n_workers=workers, **settings) as local:
        yield local


def _work(client: Client, recipe: Recipe, tasks: Sequence[Task], runs: str) -> Iterator[int]:
    finished: SimpleQueue[Future] = SimpleQueue()
    waiting: dict[Future, Task] = {}
    left = iter(tasks)
    done = 0

    def submit(count: int) -> None:
        for task in islice(left, count):
            future = client.submit(simulate, recipe, task[0], task[1], pure=False)
            waiting[future] = task
            future.add_done_callback(finished.put)

    try:
        submit(AHEAD)
        while waiting:
            try:
                future = finished.get(timeout=TICK)
            except Empty:
                yield done
                continue
            task = waiting.pop(future)
            hash_, files = _result(future, task)
            if hash_ != task[2]:
                raise _core.SimulationError(
                    "a worker of the cluster has another version of Anabranch, or other traces: its run has the hash "
                    f"{hash_}, here it is {task[2]}"
                )
            _store(Path(runs) / hash_, files)
            done += 1
            submit(1)
            yield done
    finally:
        client.cancel(list(waiting))


def _result(future: Future, task: Task) -> tuple[str, dict[str, bytes]]:
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        where = f"combination {task[0]}, replica {task[1]}"
        raise _core.SimulationError(
            f"{where}: each worker that began this run died, the last one was {error.last_worker}. Perhaps a run needs "
            "more memory than a worker has. Finished runs are kept"
        ) from error


@lru_cache(maxsize=4)
def _plan(recipe: Recipe) -> _core.Plan:
    return _core.Plan(*recipe)


def simulate(recipe: Recipe, combination: int, replica: int) -> tuple[str, dict[str, bytes]]:
    """Performs a run on a worker. Returns its hash, and the files of its folder."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
        hash_ = _plan(recipe).run(combination, replica, out)
        folder = Path(out, "runs", hash_)
        return hash_, {path.name: path.read_bytes() for path in folder.iterdir()}


def _store(folder: Path, files: dict[str, bytes]) -> None:
    """Writes the folder of a run, which appears complete or not at all."""
    part = folder.with_name(f".part-{folder.name}-{os.getpid()}")
    part.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (part / name).write_bytes(content)
    try:
        part.rename(folder)
    except OSError:
        # The target exists: it is a damaged run, or another process has stored the run already.
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
