"""Work on many machines, over Ray (extra "ray"). Stage: core.

What is sent are functions of this package and their arguments; the other machines need the same version of it
installed. A task whose worker dies is begun again on another one.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from ego2world.core.extras import extra
from ego2world.core.processes import process_pool
from ego2world.errors import Ego2WorldError, UsageError

OWN = "own"  # instead of an address: the cluster of RAY_ADDRESS, else a Ray of one's own on this machine
CONNECT_S = 5.0
RETRIES = 3  # new beginnings of a task whose worker died


@contextmanager
def workers(jobs: int, address: str | None = None) -> Iterator[Executor]:
    """Yield what runs functions elsewhere: processes of this machine, or a Ray cluster.

    Args:
        jobs: processes; of a Ray of one's own, how many tasks at a time (1: as many as there are processors).
        address: of a Ray cluster, or ``OWN``; None for processes.
    """
    if address is None:
        with process_pool(jobs) as pool:
            yield pool
    else:
        with RayPool(address, jobs) as pool:
            yield pool


class RayPool(Executor):
    """An executor whose tasks run on a Ray cluster; leaving it disconnects.

    Raises:
        UsageError: Ray is not installed, or the cluster cannot be reached.
    """

    def __init__(self, address: str, jobs: int = 1) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        with extra("ray", "--ray"):
            import ray  # an optional dependency's single entry
        own = address == OWN and not os.environ.get("RAY_ADDRESS")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if own:
            options |= {"num_cpus": jobs if jobs > 1 else os.cpu_count(), "include_dashboard": False}
        elif address != OWN:
            options["address"] = address
        try:
            _knock(address)  # Ray itself would try for minutes
            ray.init(**options)
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError(f"no Ray cluster at {address} ({error}); start one with: ray start --head") from None
        self._ray: Any = ray
        self._call: Any = self._ray.remote(max_retries=RETRIES)(_call)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function of this package on the cluster."""
        out: Future[Any] = Future()
        reference = self._call.remote(fn, args, kwargs)

        def done(inner: Future[Any]) -> None:
            if out.cancelled() or not out.set_running_or_notify_cancel():
                return
            error = inner.exception()
            if error is not None:
                out.set_exception(error)
            elif isinstance(inner.result(), _Raised):
                out.set_exception(inner.result().error)
            else:
                out.set_result(inner.result())

        reference.future().add_done_callback(done)
        return out

    def keep(self, sink: Callable[..., Any], *args: Any) -> Any:
        """Return a handle to an object that lives on this machine and that tasks can call; see ``tell``."""
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            self._ray.get_runtime_context().get_node_id(), soft=False
        )
        return self._ray.remote(num_cpus=0, scheduling_strategy=strategy)(sink).remote(*args)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect; a Ray of one's own ends."""
        self._ray.shutdown()


def _knock(address: str) -> None:
    """Raise OSError where nobody listens at HOST:PORT."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()


def tell(handle: Any, method: str, *args: Any) -> Any:
    """Call a method of an object that ``RayPool.keep`` returned, from a task, and wait for its answer."""
    import ray  # only where Ray runs this

    return ray.get(getattr(handle, method).remote(*args))


class _Raised:
    """An error of this package, as a result: it comes back as it was."""

    def __init__(self, error: Ego2WorldError) -> None:
        self.error = error


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return fn(*args, **kwargs)
    except Ego2WorldError as error:
        return _Raised(error)
