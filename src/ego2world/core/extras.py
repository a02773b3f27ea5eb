"""Optional dependencies: which packages an extra is, and the command that installs them into this very installation.
Stage: core."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlparse

from ego2world.errors import UsageError


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Open the door of an optional dependency: where an import in it fails, say how to install what is missing.

    Args:
        name: the extra, as in pyproject.toml.
        what: who needs it, for the message.

    Raises:
        UsageError: a package of the extra is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise UsageError(
            f"{what} needs packages that are not installed ({error}). Install them: {command(name)}"
        ) from None


def command(name: str) -> str:
    """Return the command that installs an extra's packages; it works for a checkout and for a wheel alike, since it
    names them."""
    try:
        installed = distribution("ego2world")
    except PackageNotFoundError:
        return f"see [project.optional-dependencies] {name} in pyproject.toml"
    packages = requirements(installed, name)
    checkout = _checkout(installed)
    pinned = ["-c", str(checkout / "constraints.txt")] if checkout is not None else []
    return shlex.join([sys.executable, "-m", "pip", "install", *pinned, *packages])


def requirements(installed: Distribution, name: str) -> list[str]:
    """Return the requirements of an extra, without their markers."""
    found = []
    for requirement in installed.requires or ():
        package, _, marker = requirement.partition(";")
        if f"extra == '{name}'" in marker.replace('"', "'"):
            found.append(package.strip())
    return found


def _checkout(installed: Distribution) -> Path | None:
    """Return the folder of the checkout that is installed in place, None where a wheel is installed."""
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlparse(origin["url"]).path))
