"""What users bring along, such as planners, memory policies and judges, by "module:name". Stage: core."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from ego2world.core.canonical import sha256
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


def source_sha256(name: str, what: str) -> str:
    """Return the digest of the file that what "module:name" names is defined in.

    Raises:
        UsageError: it cannot be loaded, or has no source file.
    """
    try:
        return sha256(Path(inspect.getfile(load(name, what))).read_bytes())
    except (TypeError, OSError):
        raise UsageError(f"{what} {name!r} has no source file; needed a function or class of a module") from None
