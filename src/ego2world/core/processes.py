"""Worker processes that end with the process they work for. Stage: core."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

WATCH_S = 0.2


def process_pool(
    jobs: int, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """Return a pool of fresh processes.

    Workers of a process that was killed would wait for work for ever; these notice it and end, at once and wherever
    they are.

    Args:
        jobs: how many.
        begin: called in each with ``given``, once; must be picklable.
    """
    return ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (os.getpid(), begin, given))


def _begin(parent: int, begin: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if begin is not None:
        begin(*given)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_S)
    os._exit(1)
