"""Operations to action groups: consecutive steps that serve one small purpose, with an instruction. Stage: group.

A group ends where an activity or recipe step ends, where nothing happens for a while, where the hands are empty and
something new is taken or opened, and at a length no planner should be asked for at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ego2world.compiler.scene import Operation
from ego2world.world.episode import Group
from ego2world.world.state import Entity

PAUSE_S = 8.0
MIN_STEPS, MAX_STEPS = 3, 10
_FRESH = frozenset("pick_up take_out open turn_on navigate lift wear move wipe wash check".split())


def group_operations(
    operations: Sequence[Operation],
    hands_empty: Sequence[bool],
    borders_s: Sequence[float],
    entities: dict[str, Entity],
) -> tuple[Group, ...]:
    """Cut the operations into groups.

    Args:
        operations: in execution order.
        hands_empty: for each operation, whether both hands are empty before it.
        borders_s: times where a group must not go on (ends and starts of activities and steps).
        entities: for the names in the instructions.
    """
    starts = [0] if operations else []
    for index in range(1, len(operations)):
        before, now = operations[index - 1], operations[index]
        length = index - starts[-1]
        if before.inferred and not before.narration_ids:
            continue  # an inferred operation stays with the one that needs it
        crossed = any(before.span_s[0] < border <= now.span_s[0] for border in borders_s)
        paused = now.span_s[0] - before.span_s[1] > PAUSE_S and length >= 2
        fresh = hands_empty[index] and now.family in _FRESH and length >= MIN_STEPS
        if crossed or paused or fresh or length >= MAX_STEPS:
            starts.append(index)
    groups = []
    for number, first in enumerate(starts):
        last = (starts[number + 1] if number + 1 < len(starts) else len(operations)) - 1
        part = operations[first : last + 1]
        objects = list(
            dict.fromkeys(i for o in part for role in ("object", "target", "source") for i in o.action.ids(role))
        )
        groups.append(
            Group(
                f"group_{number + 1:03d}",
                instruction(part),
                first,
                last,
                tuple(dict.fromkeys(n for o in part for n in o.narration_ids)),
                (part[0].span_s[0], max(o.span_s[1] for o in part)),
                tuple(i for i in objects if i in entities),
            )
        )
    return tuple(groups)


def instruction(operations: Sequence[Operation]) -> str:
    """Return what to do, from the operations that were narrated: "Open cupboard 9. Pick up mug from cupboard 9."."""
    sentences = list(dict.fromkeys(o.says for o in operations if not o.inferred)) or [o.says for o in operations]
    return " ".join(sentence[0].upper() + sentence[1:] + "." for sentence in sentences)
