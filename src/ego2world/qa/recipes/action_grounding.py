"""Action Grounding: what about the surroundings had to be made true before an action could be done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ego2world.qa.queries import Enabler
from ego2world.qa.recipes.base import DraftTurn, QuestionDraft, RecipeContext, at, sentence
from ego2world.qa.taxonomy import Category
from ego2world.world.actions.base import Apart, HandFree, HandRoom, HandSpace, Held, Holds, Is, NotAt, Reach, Within
from ego2world.world.fluents import FactKey
from ego2world.world.state import HANDS, carriers

NEAR_S = 120.0
_SURROUNDINGS = frozenset({"openness", "power", "covered", "contains", "attached", "locked", "wrapped"})


def draft(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield questions on preconditions that an earlier, narrated action brought about."""
    recording, names = context.recording, context.names
    for j in context.told:
        for i, key in enablers(context, j):
            value = recording.states[j].get(*key)
            if key[0] == "place" or key[1] in HANDS or recording.span(j)[0] - recording.span(i)[1] > NEAR_S:
                continue
            if (
                any(changed[:2] == key[:2] for changed, _, _ in recording.changed_by.get(j, ()))
                or key[0] not in _SURROUNDINGS
            ):
                continue  # closing needs something open: true by the words alone
            start_s, end_s = context.window(j)
            clip = context.clip(recording.span(i)[0], end_s)
            fact = (
                f"{names.the(key[1])} had to be {names.fact(key[0], value)}"
                if key[0] != "contains"
                else (f"there had to be {names.base(key[2])} in {names.the(key[1])}")
            )
            hidden = [
                role
                for role in ("source", "target", "instrument", "content")
                if key[1] in recording.actions[j].ids(role)
            ]
            act = context.act(j, without=hidden)
            if names.base(key[1]) in act or not names.sayable(key[1]):
                continue
            query = Enabler(recording.operations[j]["id"], recording.operations[i]["id"])
            turn = DraftTurn(
                f"At {at(clip, start_s)} I {act}. What did I have to change in my surroundings first, to make this"
                " possible?",
                sentence(fact),
                query,
                [*key, list(value) if isinstance(value, tuple) else value],
                context.evidence(i, j),
                anchors=context.anchors(i, j),
                family=f"need:{key[0]}",
                key_points=(fact,),
            )
            yield QuestionDraft(Category.ACTION_GROUNDING, key[0], clip, start_s, (turn,), operations=(i, j))


def enablers(context: RecipeContext, j: int) -> list[tuple[int, FactKey]]:
    """Return the facts that an operation's checks read and that an earlier narrated operation made true, with that
    operation."""
    recording = context.recording
    state, action = recording.states[j], recording.actions[j]
    keys: list[FactKey] = []
    for need in recording.kind(j).preconditions:
        for thing in action.ids(need.role):
            match need:
                case Is():
                    keys.append((need.fluent, thing))
                case Reach():
                    around = (thing, *carriers(state.facts, thing))
                    keys += [("openness", outer) for outer in around[1:] if ("openness", outer) in state.facts]
                    keys.append(("place", thing))
                case Holds():
                    keys += [("contains", thing, content) for content in action.ids(need.content)]
                case Within():
                    keys.append(("place", thing))
                case Held() | HandFree() | HandSpace() | HandRoom() | Apart() | NotAt():
                    pass  # read what the hands hold, or where the agent is: nothing that a question asks for
                case _:
                    assert_never(need)
    found = []
    for key in dict.fromkeys(keys):
        i = recording.setter(key, j)
        if i is not None and recording.told(i):
            found.append((i, key))
    return found
