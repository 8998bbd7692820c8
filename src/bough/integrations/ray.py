"""Ray as a ``concurrent.futures.Executor``, for ``run(executor=RayExecutor())``; and a searcher for Ray Tune.

``BoughSearch`` is defined in ``ray_search``, which needs Ray Tune; it is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Executor, Future
from importlib import import_module
from typing import Any

from bough.errors import MissingExtraError

__all__ = ["BoughSearch", "RayExecutor"]  # noqa: F822  (below)


def __getattr__(name: str) -> Any:
    if name == "BoughSearch":
        return import_module("bough.integrations.ray_search").BoughSearch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class RayExecutor(Executor):
    """Runs each call as a Ray task; Ray restarts a task whose worker dies.

    resources: what a task needs, as in ``ray.remote(...)``, for example ``num_cpus=2, num_gpus=1``. Unless
    already connected, it connects to the cluster that ``ray.init()`` finds, and leaves it running.
    """

    def __init__(self, **resources: Any) -> None:
        try:
            ray: Any = import_module("ray")
        except ModuleNotFoundError:
            raise MissingExtraError("RayExecutor needs Ray: pip install 'bough-opt[ray]'") from None
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        self._ray = ray
        self._call = ray.remote(**resources)(_call) if resources else ray.remote(_call)
        # The same attribute as in the standard library; ``run`` evaluates this many trials at a time.
        self._max_workers = max(1, int(ray.cluster_resources().get("CPU", 1) / resources.get("num_cpus", 1)))
        self._closed = False
        self._tasks: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._closed:
            raise RuntimeError("the executor was shut down")
        reference = self._call.remote(fn, args, kwargs)
        task = _Task(reference.future(), stop=lambda: self._ray.cancel(reference, force=True))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no further calls. cancel_futures: stop those that run, too, as Ray does not say which do."""
        self._closed = True
        tasks = list(self._tasks)
        if cancel_futures:
            for task in tasks:
                task.cancel()
        if wait:
            futures.wait(tasks)


class _Task(Future[Any]):
    """A future whose cancellation stops the Ray task, even if it is running."""

    def __init__(self, result: Future[Any], stop: Callable[[], None]) -> None:
        super().__init__()
        self._stop = stop
        result.add_done_callback(self._finish)

    def cancel(self) -> bool:
        cancelled = super().cancel()
        if cancelled:
            self._stop()
        return cancelled

    def _finish(self, result: Future[Any]) -> None:
        if not self.set_running_or_notify_cancel():
            return
        error = result.exception()
        if error is None:
            self.set_result(result.result())
        else:
            self.set_exception(error)


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)
