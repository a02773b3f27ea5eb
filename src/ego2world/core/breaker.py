"""A circuit breaker for services: when one is down, what is left would only wait for it. Stage: core."""

from __future__ import annotations

import threading

GIVE_UP = 3  # failures in a row


class Breaker:
    """Opens at ``GIVE_UP`` failures in a row; safe to use from several threads."""

    def __init__(self) -> None:
        self._in_a_row, self._reason, self._lock = 0, "", threading.Lock()

    def note(self, failed: bool, reason: str = "") -> bool:
        """Count a call by whether it failed; return whether the breaker is open now."""
        with self._lock:
            self._in_a_row, self._reason = (self._in_a_row + 1, reason) if failed else (0, "")
            return self._in_a_row >= GIVE_UP

    @property
    def is_open(self) -> bool:
        """Whether the service is given up."""
        return self._in_a_row >= GIVE_UP

    @property
    def reason(self) -> str:
        """What the last failure said, "" after a success."""
        return self._reason
