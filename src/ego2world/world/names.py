"""Entity ids to names that planning languages accept, one to one, and back. Stage: world, export."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEYWORDS = frozenset(
    "and or not imply forall exists when at over all either define domain problem object objects action parameters "
    "precondition effect predicates functions constants types init goal requirements increase decrease assign "
    "from".split()
)


def planning_names(ids: Iterable[str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """Return id -> planning name: letters, digits, "_" and "-", no keyword, none reserved, no two alike even without
    case."""
    names: dict[str, str] = {}
    taken: set[str] = set(reserved)
    for identifier in sorted(set(ids)):
        name = re.sub(r"[^a-z0-9_-]+", "_", identifier.lower()).strip("-_") or "x"
        if not name[0].isalpha() or name in _KEYWORDS:
            name = f"e_{name}"
        base, number = name, 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        names[identifier] = name
    return names
