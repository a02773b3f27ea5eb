"""What users bring along, such as planners, memory policies and judges, by "module:name". Stage: core."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ego2world.errors import UsageError


def load(name: str, what: str) -> Any:
    """Return what "module:name" names; the module is imported as Python would from the current environment.

    Raises:
        UsageError: there is no such module, or no such name in it.
    """
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{what} {name!r} cannot be loaded ({error}); needed MODULE:NAME of something importable"
        ) from None
