"""One run writes to a run folder at a time, the processes that work for it included."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from ego2world.errors import UsageError

try:
    import fcntl
except ImportError:  # no such locks on this system: two runs in one folder are the user's to avoid
    fcntl = None  # type: ignore[assignment]

NAME = ".lock"
PATIENCE_S = 5.0  # for processes of a killed run, which end a moment after it


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Hold a run folder while writing to it.

    Raises:
        UsageError: another run is writing to it.
    """
    out.mkdir(parents=True, exist_ok=True)
    with FileIO(out / NAME, "a") as file:
        until = time.monotonic() + PATIENCE_S
        while fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise UsageError(
                        f"another run is writing to {out}; wait for it, or choose another --out folder"
                    ) from None
                time.sleep(0.1)
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_SH)  # from here on shared with the run's own processes
        yield


def join(out: Path) -> FileIO:
    """Hold a run folder for a process that works for the run; the lock lasts as long as the process, or the file is
    open."""
    file = FileIO(out / NAME, "a")
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_SH)
    return file
