"""Activities and recipe steps to tasks with contracts that follow from what they say. Stage: tasks.

A condition is a fact that the task's own narrated operations changed, that still holds at its end, and that the label
speaks of: by the thing, or by what its words are about ("wash" is about cleanliness). Where no such fact exists the
contract asks for key events instead; where not even those exist, the task is not made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ego2world.annotations.records import Dataset, Recipe
from ego2world.compiler.freeze import EpisodeDraft
from ego2world.compiler.reason import Why, because
from ego2world.compiler.scene import note_row
from ego2world.errors import TaskError
from ego2world.language.lexicon import singular
from ego2world.ontology.kinds import Trait, has
from ego2world.tasks.contract import EVENT, TERMINAL, Contract, check_goal, describe, ill_posed, make_contract
from ego2world.world.conditions import Condition, EventCondition, FactCondition
from ego2world.world.fluents import Truth
from ego2world.world.state import fact_row

MAX_CONDITIONS = 6
_TOPICS: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = tuple(
    (words, frozenset(fluents.split()), frozenset(families.split()))
    for words, fluents, families in (
        ("wash washing clean cleaning rinse scrub wipe dish dishes scrape", "cleanliness", "wash rinse scrub wipe dry"),
        ("dry drying", "wetness", "dry"),
        (
            "clear tidy tidying away unpack unpacking store load loading stuff grocery groceries discard throw empty",
            "place discarded",
            "put_in put_on throw_away",
        ),
        (
            "take collect get pick grab retrieve set lay serve transfer wrapping remove drain place",
            "place contains",
            "put_in put_on pick_up take_out",
        ),
        (
            (
                "add pour fill mix combine season marinate dress spread coat stir dissolve sprinkle refill measure"
                " squeeze squeezed juice"
            ),
            "contains mixed",
            "add pour fill mix sprinkle spread scoop squeeze",
        ),
        (
            "cook heat boil fry bake roast grill toast simmer melt warm reheat saute brew preheat oven hob microwave",
            "cooked temperature power",
            "cook turn_on",
        ),
        (
            "cut chop slice dice grate peel crush mince shred cube halve trim core",
            "form peeled",
            "cut peel grate crush tear",
        ),
        ("wrap cover", "wrapped covered place", "wrap cover"),
        ("fold stretch knead shape roll flatten split dough", "form", "fold form knead separate"),
        ("turn switch start exhaust heating press button", "power", "turn_on turn_off press"),
        ("weigh measure weight measurement record note", "weighed written", "weigh record"),
        ("flip check doneness", "", "flip turn check"),
        ("drink sip eat taste", "discarded", "drink eat"),
        ("wear glove apron", "worn", "wear take_off"),
        (
            "prepare make making preparing prep part",
            "contains place cooked mixed form",
            "add pour cut mix cook put_in put_on turn_on press",
        ),
        ("put pile", "place", "put_in put_on"),
    )
)
_PLAIN = frozenset(
    "place contains cooked form peeled mixed cleanliness wetness covered wrapped discarded power openness worn"
    " temperature weighed written attached".split()
)
_DULL = frozenset("hold check other navigate wait lift tilt turn move pass_hand adjust".split())


@dataclass(frozen=True)
class Wish:
    """What an activity or a step asks for, and when."""

    label: str
    start_s: float
    end_s: float
    source: Mapping[str, Any]
    words: frozenset[str]


@dataclass(frozen=True)
class Task:
    """A derived task: groups [first_group, last_group], operations [first, last], and its contract."""

    id: str
    instruction: str
    first_group: int
    last_group: int
    first: int
    last: int
    contract: Contract
    source: Mapping[str, Any]


def wishes(video_id: str, dataset: Dataset) -> tuple[Wish, ...]:
    """Return what the video's activities and recipe steps ask for, in order of time."""
    last_s = max((n.end_s for n in dataset.narrations[video_id]), default=0.0)
    participant = re.split(r"[-_]", video_id)[0]
    found = []
    for activity in dataset.activities.get(video_id, ()):
        end_s = activity.end_s if activity.end_s is not None else last_s + 1.0
        recipes = [
            dataset.recipes.get(r if r in dataset.recipes else f"{participant}_{r}") for r in activity.recipe_ids
        ]
        about = _words(activity.label)
        for recipe in recipes:
            if recipe is not None:
                for ingredient in recipe.ingredients:
                    about |= {singular(w) for w in re.findall(r"[a-z]+", ingredient.name.lower()) if len(w) > 2}
        source = {
            "kind": "activity",
            "label": activity.label,
            "recipes": list(activity.recipe_ids),
            "span_s": [activity.start_s, end_s],
        }
        found.append(Wish(activity.label, activity.start_s, end_s, source, frozenset(about)))
    for recipe_id, recipe in sorted(dataset.recipes.items()):
        for step, text in recipe.steps.items():
            spans = [(one.start_s, one.end_s) for one in recipe.times.get(step, ()) if one.video_id == video_id]
            for start_s, end_s in _joined(spans):
                source = {
                    "kind": "step",
                    "label": text,
                    "recipes": [recipe_id],
                    "step": step,
                    "span_s": [start_s, end_s],
                }
                found.append(Wish(text, start_s, end_s, source, frozenset(_words(text))))
    return tuple(sorted(found, key=lambda w: (w.start_s, w.end_s, w.label)))


def _joined(spans: Sequence[tuple[float, float]], gap_s: float = 20.0) -> list[tuple[float, float]]:
    """Join spans of one step that follow each other closely."""
    out: list[tuple[float, float]] = []
    for start_s, end_s in sorted(spans):
        if out and start_s - out[-1][1] <= gap_s:
            out[-1] = (out[-1][0], max(out[-1][1], end_s))
        else:
            out.append((start_s, end_s))
    return out


def _words(text: str) -> set[str]:
    return {
        singular(word)
        for word in re.findall(r"[a-z]+", text.lower())
        if len(word) > 2 and word not in {"the", "and", "with", "into", "from", "all"}
    }


def borders(video_id: str, dataset: Dataset) -> tuple[float, ...]:
    """Return the times at which groups have to be cut, so that tasks consist of whole groups."""
    return tuple(sorted({time for wish in wishes(video_id, dataset) for time in (wish.start_s, wish.end_s)}))


def order_differs(recipe: Recipe, video_id: str) -> bool:
    """Say whether a cook did the listed steps in another order; contracts never ask for the listed order."""
    firsts = [
        min(one.start_s for one in recipe.times[s] if one.video_id == video_id)
        for s in recipe.steps
        if any(one.video_id == video_id for one in recipe.times.get(s, ()))
    ]
    return firsts != sorted(firsts)


def derive_tasks(draft: EpisodeDraft, dataset: Dataset) -> tuple[tuple[Task, ...], list[dict[str, Any]]]:
    """Make the tasks of a draft.

    Returns:
        The tasks, and a note for every wish that gave none, with its reason.
    """
    tasks: list[Task] = []
    notes: list[dict[str, Any]] = []
    taken: set[tuple[int, int, str]] = set()
    for identifier, recipe in sorted(dataset.recipes.items()):
        if order_differs(recipe, draft.id):
            notes.append(note_row("tasks", because(Why.ORDER_DIFFERS), [identifier]))
    for wish in wishes(draft.id, dataset):
        groups = [
            i
            for i, g in enumerate(draft.groups)
            if wish.start_s - 0.75 <= g.span_s[0] < wish.end_s or _inside(g.span_s, wish.start_s, wish.end_s)
        ]
        if not groups:
            groups = [i for i, g in enumerate(draft.groups) if g.span_s[0] <= wish.start_s <= g.span_s[1]][:1]
        evidence = [wish.source.get("step") or wish.label]
        if not groups:
            notes.append(note_row("tasks", because(Why.NOTHING_IN_ITS_TIME), evidence))
            continue
        first_group, last_group = min(groups), max(groups)
        first, last = draft.groups[first_group].first, draft.groups[last_group].last
        name = f"task_{len(tasks) + 1:03d}"
        try:
            contract, merged = _contract(name, wish, draft, first, last)
        except TaskError as error:
            notes.append(note_row("tasks", error.because, evidence))
            continue
        key = (first_group, last_group, contract.digest())
        if key in taken:
            notes.append(note_row("tasks", because(Why.SAME_AS_EARLIER), evidence))
            continue
        taken.add(key)
        notes += [note_row("tasks", because(Why.MERGED_CONDITION, condition=describe(c, {})), evidence) for c in merged]
        names = {i: e.name for i, e in draft.world.entities.items()}
        goal = "; ".join(describe(c, names) for c in contract.conditions)
        tasks.append(
            Task(
                name,
                f"{wish.label.rstrip('. ')}. Goal: {goal}.",
                first_group,
                last_group,
                first,
                last,
                contract,
                wish.source,
            )
        )
    return tuple(tasks), notes


def _inside(span_s: tuple[float, float], start_s: float, end_s: float) -> bool:
    overlap = min(span_s[1], end_s) - max(span_s[0], start_s)
    return overlap > 0.5 * (span_s[1] - span_s[0]) > 0


def _contract(name: str, wish: Wish, draft: EpisodeDraft, first: int, last: int) -> tuple[Contract, list[Condition]]:
    topics = [
        (fluents, families)
        for words, fluents, families in _TOPICS
        if wish.words & {singular(w) for w in words.split()} or wish.words & set(words.split())
    ]
    fluents = frozenset().union(*(f for f, _ in topics)) if topics else frozenset()
    families = frozenset().union(*(f for _, f in topics)) if topics else frozenset()
    start, end = draft.states[first], draft.states[last + 1]
    scored: list[tuple[float, int, FactCondition]] = []
    for key in sorted(end.facts):
        value = end.facts[key]
        if start.facts.get(key) == value or key[0] not in _PLAIN or (value is False and key[0] == "contains"):
            continue
        if key[0] == "place" and (not isinstance(value, tuple) or value[0] == "held"):
            continue
        if key[0] == "openness" and "open" not in wish.words and "close" not in wish.words:
            continue
        if key[0] in {"wetness", "openness", "attached"} and key[0] not in fluents:
            continue
        witness = _witness(draft, first, last, key)
        if witness is None or draft.operations[witness].inferred:
            continue
        score = _relevance(key, value, wish, fluents, draft)
        if score >= 1.0:
            row = fact_row(key, value)
            scored.append((score, witness, FactCondition(row[0], row[1], row[2], f"op_{witness + 1:05d}")))
    if scored:
        best = sorted(scored, key=lambda item: (-item[0], -item[1], _code(item[2])))[:MAX_CONDITIONS]
        conditions = [c for _, _, c in sorted(best, key=lambda item: (item[1], _code(item[2])))]
        contract, merged = make_contract(name, TERMINAL, conditions)
        check_goal(name, contract, draft.world, start)
        if contract.holds(end) is not Truth.TRUE:
            raise ill_posed(name, Why.GOAL_NOT_REACHED)
        return contract, merged
    events: dict[tuple[str, str, str], tuple[float, int, EventCondition]] = {}
    for index in range(first, last + 1):
        operation = draft.operations[index]
        objects = operation.action.ids("object") or operation.action.ids("target")
        if (
            operation.inferred
            or (operation.family in _DULL and operation.family not in families)
            or not operation.action.ids("object")
        ):
            continue
        words = _entity_words(objects[0], draft)
        score = (operation.family in families) + 1.0 * bool(words & wish.words)
        if score >= 1:
            target = operation.action.ids("target")[:1]
            condition = EventCondition(
                operation.family, objects[0], target[0] if target else None, f"op_{index + 1:05d}"
            )
            events[(operation.family, objects[0], target[0] if target else "")] = (score, index, condition)
    if not events:
        raise ill_posed(name, Why.NOTHING_SPOKEN_OF)
    best_events = sorted(events.values(), key=lambda item: (-item[0], -item[1]))[:MAX_CONDITIONS]
    return make_contract(name, EVENT, [c for _, _, c in sorted(best_events, key=lambda item: item[1])])


def _code(condition: FactCondition) -> tuple[str, str, str]:
    return condition.fluent, condition.entity, str(condition.value)


def _witness(draft: EpisodeDraft, first: int, last: int, key: tuple[str, ...]) -> int | None:
    """Return the last operation of the task after which the fact got its final value."""
    for index in range(last, first - 1, -1):
        if draft.states[index].facts.get(key) != draft.states[index + 1].facts.get(key):
            return index
    return None


def _entity_words(entity: str, draft: EpisodeDraft) -> set[str]:
    found = draft.world.entities[entity]
    return {
        singular(w)
        for text in (found.name, found.type.replace("_", " "), *found.names[:3])
        for w in re.findall(r"[a-z]+", text.lower())
    }


def _relevance(key: tuple[str, ...], value: object, wish: Wish, fluents: frozenset[str], draft: EpisodeDraft) -> float:
    score = 1.0 if key[0] in fluents else 0.0
    things = [key[1], *key[2:]]
    if key[0] == "place" and isinstance(value, tuple):
        things.append(value[1])
        if (
            has(draft.world.entities[key[1]].type, Trait.TOOL)
            and not _entity_words(key[1], draft) & wish.words
            and "place" in fluents
        ):
            score -= 0.25
    if any(_entity_words(thing, draft) & wish.words for thing in things if thing in draft.world.entities):
        score += 1.0
    return score
