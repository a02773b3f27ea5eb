"""Chain: an earlier action without which a later one would be impossible, asked as a dialogue; and steps that were
left and resumed.

The later turn speaks of "that thing": several things are handled in its span, and only the answer of the earlier turn
says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ego2world.qa.queries import ActQuery, ResumedStep
from ego2world.qa.recipes.action_grounding import enablers
from ego2world.qa.recipes.base import FAR_S, DraftTurn, QuestionDraft, RecipeContext, at, between, sentence
from ego2world.qa.taxonomy import Category
from ego2world.world.state import HANDS

TURNS = 4


def draft(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield dialogues on linked actions, and questions on resumed steps."""
    told = set(context.told)
    before: dict[tuple[int, str], int] = {}  # (operation, thing) -> the earlier operation that it needs
    for j in context.told:
        for i, thing in links(context, j):
            if i in told and i in context.alone and j in context.alone:
                before[(j, thing)] = i
                chain = [i, j]
                while len(chain) <= TURNS:
                    yield from _dialogue(context, tuple(chain), thing)
                    if (chain[0], thing) not in before:
                        break
                    chain.insert(0, before[(chain[0], thing)])
    yield from _resumed(context)


def links(context: RecipeContext, j: int) -> Iterator[tuple[int, str]]:
    """Yield earlier operations whose outcome operation ``j`` reads, with the thing that carries it."""
    recording = context.recording
    action = recording.actions[j]
    seen = set()
    for i, key in enablers(context, j):
        thing = key[1]
        if thing in action.things and thing in recording.actions[i].ids("object") and (i, thing) not in seen:
            seen.add((i, thing))
            yield i, thing
    for thing in action.ids("object"):  # what is used is held since it was taken
        k = recording.setter(("place", thing), j)
        value = recording.states[j].get("place", thing)
        if k is not None and isinstance(value, tuple) and value[0] == "held" and (k, thing) not in seen:
            seen.add((k, thing))
            yield k, thing


def _dialogue(context: RecipeContext, chain: tuple[int, ...], thing: str) -> Iterator[QuestionDraft]:
    """Yield the dialogue on two to four actions on one thing, each impossible without the one before."""
    recording, names = context.recording, context.names
    first = chain[0]
    windows = [context.window(i) for i in chain]
    if thing in HANDS or not names.clear(thing) or len(recording.actions[first].ids("object")) != 1:
        return
    if any(not 0 <= b[0] - a[1] <= FAR_S for a, b in pairwise(windows)) or windows[-1][1] - windows[0][0] > 2 * FAR_S:
        return
    verb = context.act(first, thing, ("source", "target", "instrument", "content"))
    spans = [_crowded(context, j, thing, windows[n][1]) for n, j in enumerate(chain[1:])]
    if "it" not in verb.split() or None in spans or not all(recording.mentions(i, thing) for i in chain):
        return
    known = [span_s for span_s in spans if span_s is not None]
    clip = context.clip(windows[0][0], known[-1][1])
    asked = f"There is something I handle {between(clip, *windows[0])}: I {verb}. What is it?"
    turns = [
        DraftTurn(
            asked,
            sentence(names.the(thing)),
            ActQuery(*windows[0], None, "object"),
            [thing],
            context.evidence(first),
            anchors=context.anchors(first),
            key_points=(names.base(thing),),
            standalone=asked,
        )
    ]
    for n, (j, span_s) in enumerate(zip(chain[1:], known, strict=True), 1):
        does = context.act(j, thing)
        again = "And what do I do with that thing" if n == 1 else "And later, what do I do with it"
        turns.append(
            DraftTurn(
                f"{again} {between(clip, *span_s)}, while I handle other things as well?",
                sentence("I " + does),
                ActQuery(*span_s, thing),
                recording.actions[j].plain(),
                inherited=context.evidence(*chain[:n]),
                new=context.evidence(j),
                anchors=context.anchors(j),
                key_points=(does,),
                standalone=f"What do I do with {names.the(thing)} {between(clip, *span_s)}?",
                depends_on=tuple(range(n)),
                observation=f"what happens at {at(clip, windows[n][0])}",
            )
        )
    operations = [recording.operations[i]["id"] for i in chain]
    yield QuestionDraft(
        Category.CHAIN,
        {2: "linked_actions", 3: "linked_three", 4: "linked_four"}[len(chain)],
        clip,
        windows[-1][0],
        tuple(turns),
        bridging_fact=f"{names.the(thing)}: " + " makes possible ".join(operations),
        lost_without_earlier="which of the things handled is meant, and that it is at hand",
        relation=f"link_{operations[-2]}_{operations[-1]}",
        links=tuple(pairwise(operations)),
        operations=chain,
    )


def _crowded(context: RecipeContext, j: int, thing: str, after_s: float) -> tuple[float, float] | None:
    """Return a span around operation ``j`` in which other things are handled too, and the thing only once."""
    recording = context.recording
    start_s, end_s = context.window(j)
    for reach in (3.0, 6.0, 10.0):
        low_s, high_s = max(after_s, start_s - reach), end_s + reach
        inside = context.during(low_s, high_s)
        own = [n for n in inside if thing in recording.actions[n].things]
        others = {o for n in inside if n not in own for o in recording.actions[n].ids("object") if o not in HANDS}
        if own != [j]:
            return None
        if others:
            return round(low_s, 1), round(high_s, 1)
    return None


def _resumed(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Ask which step is gone on with after something else was done in between."""
    rows = context.recording.annotations["steps"]
    for row in rows:
        later = [one for one in rows if one["step"] == row["step"] and one["span_s"][0] > row["span_s"][1] + 5]
        if not later:
            continue
        following = later[0]
        between_them = [
            one
            for one in rows
            if one["step"] != row["step"]
            and row["span_s"][1] <= one["span_s"][0]
            and one["span_s"][1] <= following["span_s"][0]
        ]
        if not between_them or following["span_s"][0] - row["span_s"][1] > FAR_S:
            continue
        first_s, again_s = (round(sum(one["span_s"]) / 2, 1) for one in (row, following))
        clip = context.clip(row["span_s"][0], following["span_s"][1])
        turn = DraftTurn(
            f"At {at(clip, again_s)} I resume a step of the recipe {row['recipe_name']} that I had begun and left"
            f" by {at(clip, row['span_s'][1])}. Which step is it?",
            sentence(row["text"]),
            ResumedStep(first_s, again_s),
            row["step"],
            (row["id"], following["id"]),
            family=f"step:{row['recipe']}",
            key_points=(row["text"],),
        )
        yield QuestionDraft(
            Category.CHAIN,
            "resumed_step",
            clip,
            again_s,
            (turn,),
            relation=f"resumed_{row['id']}_{following['id']}",
            bridging_fact="the step that was left unfinished",
            lost_without_earlier="that the step had been begun before",
        )
