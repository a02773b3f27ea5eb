"""When a model's service counts as down: failures in a row, seen by the thread that meets them. Stage: run."""

from __future__ import annotations

import threading

GIVE_UP = 3  # episodes in a row that a model's service failed in


class Outage:
    """Counts the episodes in a row that a model's service failed in: when it is down, the others would only wait for it."""

    def __init__(self) -> None:
        self._in_a_row, self._lock = 0, threading.Lock()

    def after(self, reason: str) -> bool:
        """Whether the service is given up with the episode that ended so."""
        with self._lock:
            if not reason:
                self._in_a_row = 0
            self._in_a_row += reason.startswith("service_error")
            return self._in_a_row == GIVE_UP
