"""What a question asks, as a value that can be executed on a world. Stage: qa, declarations.

A query says in terms of the world and its sources what the words of a question say in English; ``replay`` answers it.
Times are seconds of the video's clock.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from ego2world.qa.taxonomy import Category


class Query(msgspec.Struct, frozen=True, tag_field="kind"):
    """Base of all queries. A question of one edge of the loop may only ask what belongs to its category."""

    categories: ClassVar[frozenset[Category]] = frozenset()  # of single edges; chains and loops may ask anything


class Holding(Query, frozen=True, tag="holding"):
    """Which things are in a hand ("left_hand", "right_hand", "both_hands") or, without one, in any, at a time."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.EGO_STATE})
    at_s: float
    hand: str | None = None


class Fact(Query, frozen=True, tag="fact"):
    """Which value a fluent of a thing has at a time."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.WORLD_STATE})
    fluent: str
    entity: str
    at_s: float


class Contents(Query, frozen=True, tag="contents"):
    """Which things and substances are in or on a thing at a time."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.WORLD_STATE})
    entity: str
    at_s: float


class ActQuery(Query, frozen=True, tag="act"):
    """Which action is done to a thing within a span: the action type with its roles. ``entity`` None: to anything."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.ACTION_STATUS, Category.WORLD_PERCEPTION})
    start_s: float
    end_s: float
    entity: str | None = None
    role: str | None = None  # asks for what is bound to this role instead


class ChangeQuery(Query, frozen=True, tag="change"):
    """What an operation changes of a thing's fluent: [before, after]."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.ACTION_EFFECTS})
    operation: str
    fluent: str
    entity: str


class Enabler(Query, frozen=True, tag="enabler"):
    """Which fact, brought about by an earlier operation, an operation cannot do without: [fluent, entity, value]."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.ACTION_GROUNDING})
    operation: str
    earlier: str


class Linked(Query, frozen=True, tag="linked"):
    """Which action on a thing becomes possible by an earlier one: the later action, where it is refused without the
    earlier."""

    first: str
    second: str


class ClauseQuery(Query, frozen=True, tag="clause"):
    """Which words of a narration say it: an exact quote. ``relation`` is purpose, reason, manner or percept."""

    categories: ClassVar[frozenset[Category]] = frozenset(
        {Category.ACTION_STATUS, Category.INTENT_ATTRIBUTION, Category.INTENT_FORMATION, Category.WORLD_PERCEPTION}
    )
    narration: str
    relation: str


class SaidQuery(Query, frozen=True, tag="said"):
    """Whether a narration says some words: the quote itself where it does. What a model proposes rests on such
    quotes."""

    categories: ClassVar[frozenset[Category]] = frozenset(Category)
    narration: str
    quote: str


class StepAt(Query, frozen=True, tag="step_at"):
    """Which recipe step is under way at a time."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.EGO_STATE})
    at_s: float


class NextStep(Query, frozen=True, tag="next_step"):
    """Which step of the recipe under way comes next after a time: the first not begun, where it is also the first that
    is begun."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.GOAL_PLANNING})
    cutoff_s: float


class PreparedStep(Query, frozen=True, tag="prepared_step"):
    """Which recipe step a span prepares."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.GOAL_PLANNING, Category.INTENT_ATTRIBUTION})
    start_s: float
    end_s: float


class ResumedStep(Query, frozen=True, tag="resumed_step"):
    """Which recipe step, begun in an earlier span and left, is gone on with in a later one."""

    first_s: float
    again_s: float


class Amount(Query, frozen=True, tag="amount"):
    """How much of an ingredient is weighed within a span: [amount, unit]."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.WORLD_STATE})
    ingredient: str
    start_s: float
    end_s: float


class Heard(Query, frozen=True, tag="heard"):
    """Which sound is heard within a span."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.WORLD_PERCEPTION})
    start_s: float
    end_s: float


class During(Query, frozen=True, tag="during"):
    """Which action is under way while a sound is heard for the first time after a time."""

    categories: ClassVar[frozenset[Category]] = frozenset({Category.ACTION_STATUS})
    sound: str
    from_s: float
    to_s: float


class Adjustment(Query, frozen=True, tag="adjustment"):
    """How a thing is adjusted after feedback on an earlier action with the same goal: the loop's last action."""

    action: str
    feedback: str
    adjustment: str


AnyQuery = (
    Holding
    | Fact
    | Contents
    | ActQuery
    | ChangeQuery
    | Enabler
    | Linked
    | ClauseQuery
    | SaidQuery
    | StepAt
    | NextStep
    | PreparedStep
    | ResumedStep
    | Amount
    | Heard
    | During
    | Adjustment
)
Value = Any  # JSON: a word, a number, or a list of them
