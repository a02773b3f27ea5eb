"""World State: where things are, whether they are open or on, what is in them, how much was weighed."""

from __future__ import annotations

from collections.abc import Iterator

from ego2world.qa.queries import Amount, Contents, Fact
from ego2world.qa.recipes.base import DraftTurn, QuestionDraft, RecipeContext, at, between, sentence
from ego2world.qa.taxonomy import Category
from ego2world.world.state import HANDS

_ASKED = {
    "openness": ("Is {thing} open or closed at {time}?", "It is {value}."),
    "power": ("Is {thing} switched on or off at {time}?", "It is switched {value}."),
    "covered": ("Is {thing} covered at {time}?", "{yes}."),
}


def draft(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield questions on states of the surroundings."""
    recording, names = context.recording, context.names
    for i in context.told:
        for key, _, value in recording.changed_by.get(i, ()):
            time_s = context.settled(key, i) if len(key) == 2 else None
            thing = key[1]
            if (
                time_s is None
                or thing not in recording.world.entities
                or not names.clear(thing)
                or not recording.mentions(i, thing)
            ):
                continue
            clip = context.clip(recording.span(i)[0], time_s)
            if key[0] == "place" and isinstance(value, tuple) and value[0] != "held" and value[1] not in HANDS:
                question = f"Where {names.verb(thing)} {names.the(thing)} at {at(clip, time_s)}?"
                answer, family, kind = sentence(names.place(value)), "place", "place"
            elif key[0] in _ASKED and isinstance(value, (str, bool)):
                ask, says = _ASKED[key[0]]
                question = ask.format(thing=names.the(thing), time=at(clip, time_s))
                answer = says.format(value=value, yes="Yes" if value is True else "No")
                family, kind = f"state:{key[0]}", key[0]
            else:
                continue
            turn = DraftTurn(
                question,
                answer,
                Fact(key[0], thing, time_s),
                list(value) if isinstance(value, tuple) else value,
                context.evidence(i),
                anchors=context.anchors(i),
                family=family,
                key_points=(names.fact(key[0], value),),
            )
            yield QuestionDraft(Category.WORLD_STATE, kind, clip, time_s, (turn,), operations=(i,))
        yield from _contents(context, i)
    yield from _amounts(context)


def _contents(context: RecipeContext, i: int) -> Iterator[QuestionDraft]:
    recording, names = context.recording, context.names
    vessels = {key[1] for key, _, value in recording.changed_by.get(i, ()) if key[0] == "contains" and value is True}
    vessels |= {
        value[1]
        for key, _, value in recording.changed_by.get(i, ())
        if key[0] == "place"
        and isinstance(value, tuple)
        and value[0] == "in"
        and value[1] not in recording.world.zone_of
    }
    for vessel in sorted(vessels):
        if (
            vessel in HANDS
            or vessel in recording.world.zone_of
            or not names.clear(vessel)
            or not recording.mentions(i, vessel)
        ):
            continue
        keys = [
            key
            for key in recording.states[i + 1].facts
            if key[0] in {"contains", "place"} and _inside(recording.states[i + 1].get(*key), key, vessel)
        ]
        setters = {recording.setter(key, i + 1) for key in keys}
        ends_s = [recording.lasts(key, i)[0] for key in keys]
        end_s = recording.span(i)[1]
        if not keys or None in setters or len(keys) > 4 or min(ends_s) - end_s < 0.6:
            continue
        known = [s for s in setters if s is not None]
        if not all(recording.told(s) for s in known):
            continue
        time_s = round(end_s + min(1.5, (min(ends_s) - end_s) / 2), 1)
        inside = sorted({key[2] if key[0] == "contains" else key[1] for key in keys})
        first_s = min(recording.span(s)[0] for s in known)
        if not all(names.sayable(one) for one in inside):
            continue
        if time_s - first_s > 120:
            continue
        clip = context.clip(first_s, time_s)
        yield QuestionDraft(
            Category.WORLD_STATE,
            "contents",
            clip,
            time_s,
            (
                DraftTurn(
                    f"What is in or on {names.the(vessel)} at {at(clip, time_s)}?",
                    sentence(names.listed(inside)),
                    Contents(vessel, time_s),
                    inside,
                    context.evidence(*sorted(known)),
                    anchors=context.anchors(*sorted(known)),
                    family="contents",
                    key_points=tuple(names.base(one) for one in inside),
                ),
            ),
            operations=tuple(sorted(known)),
        )


def _inside(value: object, key: tuple[str, ...], vessel: str) -> bool:
    if key[0] == "contains":
        return key[1] == vessel and value is True
    return isinstance(value, tuple) and value[1] == vessel


def _amounts(context: RecipeContext) -> Iterator[QuestionDraft]:
    for row in context.recording.annotations["weighings"]:
        if row["amount"] is None or not row["unit"]:
            continue
        start_s, end_s = row["span_s"]
        clip = context.clip(start_s, end_s)
        yield QuestionDraft(
            Category.WORLD_STATE,
            "amount",
            clip,
            start_s,
            (
                DraftTurn(
                    f"What quantity of {row['name'].lower()} do I measure out {between(clip, start_s, end_s)}?",
                    f"{row['amount']:g} {row['unit']}.",
                    Amount(row["ingredient"], start_s, end_s),
                    [row["amount"], row["unit"]],
                    (row["id"],),
                    family=f"amount:{row['unit']}",
                    key_points=(f"{row['amount']:g} {row['unit']}",),
                ),
            ),
        )
