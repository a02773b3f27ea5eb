"""Clauses to intents: which act is meant, and which phrase plays which role. Shared by compiler and agents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ego2world.language.lexicon import lexicon
from ego2world.language.parse import ACT, ATTEMPT, BACKGROUND, HOW, PURPOSE, Clause, parse
from ego2world.language.phrases import NounPhrase, make_phrase


@dataclass(frozen=True)
class Intent:
    """One act as said: a verb sense and phrases by role (object, source, target, instrument, content).

    ``prep`` is the preposition of the target ("in", "on", "under", ...); ``hands`` are left, right, both or other;
    ``to_hand`` is the receiving hand of a change of hands. ``reason`` is set when nothing is to be executed.
    """

    sense: str
    verb: str
    phrases: tuple[tuple[str, tuple[NounPhrase, ...]], ...] = ()
    prep: str = ""
    hands: tuple[str, ...] = ()
    to_hand: str = ""
    from_hand: str = ""
    continued: bool = False
    reason: str = ""
    text: str = ""
    sentence: int = 0

    def of(self, role: str) -> tuple[NounPhrase, ...]:
        """Return the phrases of a role."""
        return dict(self.phrases).get(role, ())

    def with_role(self, role: str, phrases: Iterable[NounPhrase]) -> Intent:
        """Return a copy with a role's phrases replaced; none removes the role."""
        roles = dict(self.phrases)
        found = tuple(phrases)
        if found:
            roles[role] = found
        else:
            roles.pop(role, None)
        return replace(self, phrases=tuple(sorted(roles.items())))


_TAKING = frozenset(
    "take take_out remove lift gather detach unplug uncover unscrew peel scoop tear separate eat drink".split()
)
_FROM = frozenset("from outof off awayfrom".split())
_INTO = ("into", "in", "inside", "within", "onto", "on", "to", "under", "underneath", "beneath", "over", "above", "through",
         "towards", "toward", "against", "behind", "between", "at", "beside", "along", "around", "across", "near")  # fmt: skip
_PRIMARY = frozenset("into in inside within onto on to under underneath over through towards against".split())
_PLACED = frozenset("put insert hang drop throw throw_away pour add sprinkle spread spray move bring attach plug_in cover "
                    "squeeze roll wrap lower scrape sweep".split())  # fmt: skip
_INSTRUMENT_TAKERS = frozenset(
    "take mix whisk cut slice chop dice halve carve trim pierce peel grate crush grind mash wash lather rinse scrub scrape "
    "wipe sweep dry spread scoop flip turn press tap squeeze move lift open pour fold hold push check feel separate "
    "break crack form flatten knead cook fry boil cover stir remove take_out add gather soak blend record".split()
)
_SELF = frozenset("wash rinse dry wipe scrub shake lather soak".split())
_UPGRADED = frozenset("move turn slide screw twist bring pull lift use tilt flip adjust".split())
_UPGRADES = frozenset("open close turn_on turn_off wear detach unlock lock unplug plug_in uncover".split())
_GOES = frozenset("pour add sprinkle insert put drop throw throw_away hang move bring".split())
_TRANSPARENT_PARTS = frozenset("lid flap handle door knob".split())
_PULLED = frozenset("pull slide drag get bring".split())
_OPENED = frozenset(
    "cupboard drawer fridge freezer oven microwave dishwasher washing_machine door window bin box lid flap rack tray shelf".split()
)
_VAGUE = frozenset(
    "way place side view eyesight mind front back position time direction room order other space motion manner half degree "
    "fashion process circle left right use search pile color colour shape size middle center centre corner minute second lot bit".split()
)


def read_intents(text: str) -> tuple[Intent, ...]:
    """Read what a sentence says was (or should be) done.

    Args:
        text: a narration or an instruction.

    Returns:
        Intents in order. Attempts and statements come back as intents with a ``reason`` and are not to be executed;
        the result is empty only for text without words.
    """
    clauses = parse(text)
    intents: list[Intent] = []
    for index, clause in enumerate(clauses):
        if clause.mode not in {ACT, ATTEMPT} or (clause.sentence < 0 and _told_before(clause, clauses[:index])):
            continue
        intent = replace(_intent(_without_pronoun(clauses, index)), sentence=abs(clause.sentence))
        if clause.objects and not intent.phrases and intent.sense not in {"pass", "wear"}:
            continue  # "change my mind", "make room"
        if clause.mode == ATTEMPT:
            intents.append(replace(intent, reason="attempt: tried, and not said to have succeeded"))
            continue
        intent = _with_details(intent, clauses[index + 1 :])
        intents += _one_each(_by_purpose(intent, clause, clauses[index + 1 : index + 4]))
    intents = _without_holds(_inherited(intents))
    if not intents:
        for clause in clauses:
            if clause.mode in {BACKGROUND, HOW} and clause.objects:
                return (_intent(clause),)
        if text.split():
            return (Intent("none", "", reason="statement: nothing is said to be done", text=" ".join(text.split())),)
    return tuple(intents)


def _without_pronoun(clauses: tuple[Clause, ...], index: int) -> Clause:
    """Replace a lone "it" by what an earlier, not executed clause of the same narration speaks of."""
    clause = clauses[index]
    if len(clause.objects) != 1 or not clause.objects[0].pronoun or clause.objects[0].plural:
        return clause
    for earlier in reversed(clauses[:index]):
        named = [phrase for phrase in earlier.objects if not phrase.pronoun and lexicon().kind(phrase.head) != "hand"]
        if named:
            if earlier.mode == ACT:
                return clause
            phrase = named[0]
            if phrase.of is not None and phrase.relation == "owner" and lexicon().kind(phrase.head) == "handle":
                phrase = phrase.of
            return replace(clause, objects=(phrase,))
    return clause


def _inherited(intents: list[Intent]) -> list[Intent]:
    """Let an act without any object go on with the one before: "pick up the cup and place back down"."""
    for index in range(1, len(intents)):
        intent, before = intents[index], intents[index - 1]
        if intent.of("object") or intent.of("target") or intent.reason or not before.of("object"):
            continue
        if intent.sense not in {
            "navigate",
            "wait",
            "look",
            "search",
            "reach",
            "other",
            "record",
            "check",
            "adjust",
            "eat",
        }:
            intents[index] = intent.with_role("object", before.of("object"))
    return intents


def _told_before(clause: Clause, earlier: tuple[Clause, ...]) -> bool:
    """Say whether a later "I ... because ..." sentence only explains what an earlier sentence has told."""
    heads = {phrase.head for phrase in clause.objects}
    return any(heads & {p.head for p in c.objects} for c in earlier if c.mode == ACT and c.sentence != clause.sentence)


_MOVED_TOOL = frozenset(
    "move rub slide place push use insert put rotate drag press position work run pull scrub wipe".split()
)


def _with_details(intent: Intent, following: tuple[Clause, ...]) -> Intent:
    """Take the instrument or the origin from how-details: "dry my hands by rubbing them against the cloth"."""
    kind = lexicon().kind
    for clause in following:
        if clause.mode not in {HOW, BACKGROUND}:
            break
        if (
            intent.sense in _INSTRUMENT_TAKERS
            and intent.sense not in {"take", "hold", "open", "move", "lift"}
            and not intent.of("instrument")
        ):
            tools = list(clause.instruments) + [p for prep, p in clause.places if prep in {"with", "against", "using"}]
            if clause.mode == HOW and clause.verb in _MOVED_TOOL:
                tools += clause.objects
            tools = [p for p in tools if not p.pronoun and _tool_like(kind(p.head))]
            own = {p.head for p in intent.of("object")}
            if tools and tools[0].head not in own:
                intent = intent.with_role("instrument", tools[:1])
        if (
            intent.sense in {"unplug", "detach", "remove", "take_out"}
            and not intent.of("source")
            and clause.mode == HOW
        ):
            origins = [p for prep, p in clause.places if prep in _FROM and not p.pronoun]
            intent = intent.with_role("source", origins[:1])
    return intent


_JOINT = frozenset("mix whisk blend attach add separate hold wear take_off gather stack combine weigh cook".split())


def _one_each(intent: Intent) -> list[Intent]:
    """Split "pick up the fork and the knife" into one intent a thing; joint acts stay together."""
    objects = intent.of("object")
    if len(objects) < 2 or intent.sense in _JOINT:
        return [intent]
    return [intent.with_role("object", [phrase]) for phrase in objects]


def _intent(clause: Clause) -> Intent:
    kind = lexicon().kind
    sense = clause.sense
    objects = [phrase for phrase in clause.objects if phrase.head not in {"@", "the"} and not _is_vague(phrase)]
    places = [(prep, phrase) for prep, phrase in clause.places if not _is_vague(phrase)]
    roles: dict[str, list[NounPhrase]] = {
        "object": objects,
        "source": [],
        "target": [],
        "instrument": [],
        "content": [],
    }
    roles["instrument"] += [phrase for phrase in clause.instruments if not _is_vague(phrase)]
    if (
        sense in _PLACED
        and len(places) > 1
        and places[0][0] in {"in", "on"}
        and kind(places[0][1].head) in {"fork", "spoon", "spatula", "tongs", "chopsticks"}
    ):
        roles["source"].append(places.pop(0)[1])
    if (
        sense in _PLACED
        and len(places) > 1
        and places[0][0] in {"in", "inside", "on"}
        and (
            any(prep in {"into", "onto", "to"} for prep, _ in places[1:])
            and not any(prep in _FROM for prep, _ in places)
        )
    ):
        roles["source"].append(places.pop(0)[1])  # "pour the liquid in the mug into the sink"
    prep_of_target, weak = "", []
    piled: list[NounPhrase] = []
    for prep, phrase in places:
        if prep in {"with", "using", "by"}:
            _with(roles, sense, phrase, kind(phrase.head))
        elif prep in _FROM:
            heap = phrase.piece in {"pile", "stack", "row", "set"} or phrase.head in {"pile", "stack"}
            (piled if heap else roles["source"]).append(phrase)
        elif prep in _INTO:
            if kind(phrase.head) in {"hand", "face"} and sense in _PLACED | _TAKING:
                continue
            if sense in _TAKING and prep not in {"into", "onto", "to", "towards"}:
                weak.append((prep, phrase))
            elif sense in {"cut", "slice", "chop", "dice", "halve"} and prep == "into":
                continue
            elif prep in _PRIMARY and not roles["target"]:
                roles["target"].append(phrase)
                prep_of_target = prep
            elif sense not in _TAKING:
                weak.append((prep, phrase))
        elif (prep == "for" and sense in {"search", "reach", "check", "look", "feel"} and not roles["object"]) or (
            prep == "of" and not roles["object"]
        ):
            roles["object"].append(phrase)
    if not roles["source"] and not (weak and sense in _TAKING):
        roles["source"] = piled[:1]  # "from a pile of plates on the shelf": the shelf says more
    if weak:
        side = "source" if sense in _TAKING else "target"
        if not roles[side]:
            prep, phrase = weak[0]
            roles[side].append(phrase)
            prep_of_target = prep_of_target or (prep if side == "target" else "")
    hands = clause.hands
    limbs = [phrase for phrase in roles["instrument"] if kind(phrase.head) == "hand"]
    if sense == "record":
        roles["object"] = [replace(p, head=p.region, modifiers=(), of=None) if p.region else p for p in objects]
    if limbs:
        roles["instrument"] = [phrase for phrase in roles["instrument"] if phrase not in limbs]
        hands = hands or tuple(m for m in limbs[0].modifiers if m in {"left", "right"})
    if sense in {"open", "close"}:
        roles["target"], roles["source"] = [], []
    if not roles["object"] and sense == "move" and hands and any(kind(p.head) == "glove" for p in roles["target"]):
        sense, roles["object"], roles["target"] = "wear", roles["target"], []
    if not roles["object"] and hands and sense in _SELF:
        roles["object"] = [_hand_phrase(hands[0])]
        hands = ()
    if (
        not roles["object"]
        and roles["target"]
        and sense in _GOES
        and (prep_of_target in {"into", "in", "onto", "on", "over", "to", "inside"})
    ):
        roles["object"] = [NounPhrase("it", "it", pronoun=True)]  # "pour into the bowl": what is in the hand
    if not roles["object"] and roles["target"] and sense not in {"navigate", "put", "record", "reach"}:
        roles["object"], roles["target"] = roles["target"], []
    if sense == "reach" and not roles["object"]:
        roles["object"], roles["target"] = roles["target"], []
    if not roles["object"] and roles["source"] and sense in {"empty", "drink", "eat", "pour"}:
        roles["object"] = roles["source"]
        roles["source"] = []
    if sense == "shake" and roles["object"] and kind(roles["object"][0].head) in {"water", "mixture", "soap"}:
        if roles["source"]:
            roles["object"], roles["source"] = roles["source"], []
        elif clause.passed:
            roles["object"] = [_hand_phrase(clause.passed[0])]
    to_hand = from_hand = ""
    if clause.passed:
        from_hand, to_hand = clause.passed
        if to_hand and sense in {"move", "pass", "take", "bring", "put", "turn"}:
            sense = "pass"
    elif sense == "pass" and hands:
        to_hand, hands = hands[0], ()
    elif sense in {"put", "insert", "bring"} and hands and not roles["object"] and not roles["target"]:
        sense, to_hand, hands = "pass", hands[0], ()  # "grab the box and place in left hand"
    if sense == "pass" and not to_hand:
        sense = "move" if roles["target"] else "pass"
    sense = _bound_sense(sense, clause, roles, kind)
    phrases = tuple(sorted((role, tuple(found)) for role, found in roles.items() if found))
    return Intent(
        sense, clause.verb, phrases, prep_of_target, hands, to_hand, from_hand, clause.continued, "", clause.text
    )


def _hand_phrase(hand: str) -> NounPhrase:
    return NounPhrase(f"{hand} hand", "hand", (hand,) if hand not in {"any", "both"} else (), plural=hand == "both")


def _is_vague(phrase: NounPhrase) -> bool:
    return phrase.head in {"search", "way", "order", "case"} or (
        phrase.head in _VAGUE and not phrase.of and not phrase.pronoun
    )


def _with(roles: dict[str, list[NounPhrase]], sense: str, phrase: NounPhrase, kind: str | None) -> None:
    """File a "with" phrase: an instrument, contents, or (company of the object) nothing."""
    if kind in {"hand", "face"}:
        return
    if (
        sense in {"fill", "season", "spread", "spray", "cover", "wrap"} and kind is not None and sense == "fill"
    ) or sense == "season":
        roles["content"].append(phrase)
    elif sense in {"cover", "wrap"} or (
        sense in _INSTRUMENT_TAKERS and not (sense in {"take", "hold", "move", "lift"} and not _tool_like(kind))
    ):
        roles["instrument"].append(phrase)


def _tool_like(kind: str | None) -> bool:
    return kind in {
        "knife", "spoon", "fork", "chopsticks", "cutlery", "spatula", "whisk", "tongs", "peeler", "grater", "press", "pestle",
        "scissors", "opener", "brush", "skewer", "tool", "cloth", "sponge", "towel", "glove", "colander",
    }  # fmt: skip


def _bound_sense(sense: str, clause: Clause, roles: dict[str, list[NounPhrase]], kind: object) -> str:
    """Let what the verb is bound to decide between senses of one verb."""
    kind_of = lexicon().kind
    objects = roles["object"]
    kinds = {kind_of(phrase.head) for phrase in objects}
    if sense == "wear" and not kinds & {"glove", "apron", "clothes"}:
        if clause.verb == "wear":
            return "wear"
        sense = "put" if clause.verb == "put" else "move"
    if (
        sense == "remove"
        and kinds & {"glove", "apron"}
        and clause.verb in {"take", "remove", "pull", "get"}
        and not roles["source"]
    ):
        return "take_off"
    if (
        sense in {"open", "close"}
        and clause.verb in {"slide", "pull", "push", "flip", "move"}
        and objects
        and not (kinds & _OPENED)
    ):
        return "flip" if clause.verb == "flip" else "take_out" if clause.particle == "out" else "move"
    if sense == "press" and any(kind_of(phrase.head) == "press" for phrase in roles["instrument"]):
        return "crush"
    if sense == "take" and objects and objects[0].piece in {"scoop", "spoonful", "spoon", "ladle"}:
        return "scoop"
    if sense in {"lift", "remove"} and kinds == {"lid"} and roles["source"]:
        return "uncover_lid"
    if (
        sense in {"put", "insert"}
        and clause.places
        and clause.places[0][0] in {"under", "underneath", "beneath", "above", "over"}
    ):
        return (
            "put" if kinds & {"lid", "cloth", "towel", "foil", "mat"} and clause.places[0][0] == "over" else "position"
        )
    if (
        sense == "put"
        and clause.places
        and any(
            prep in {"in", "into", "inside", "within"} and phrase in roles["target"] for prep, phrase in clause.places
        )
    ):
        return "insert" if kinds != {"lid"} else _bound_sense("insert", clause, roles, kind)
    if (
        sense in {"remove", "lift", "take", "take_out"}
        and kinds == {"lid"}
        and clause.verb in {"remove", "take", "lift"}
    ):
        owner = objects[0].of if objects[0].relation == "owner" else None
        if owner is not None and not roles["source"] and sense == "remove":
            roles["source"] = [owner]
        if sense == "remove" and (
            roles["source"]
            and kind_of(roles["source"][0].head) not in {"counter", "table", "drawer", "cupboard", "shelf", "sink"}
        ):
            return "uncover_lid"
    if sense in {"put", "insert", "bring"} and kinds == {"lid"} and roles["target"]:
        where = kind_of(roles["target"][0].head)
        if where in {
            "pan",
            "pot",
            "jar",
            "tub",
            "bottle",
            "bowl",
            "jug",
            "kettle",
            "can",
            "box",
            "food_processor",
            "cup",
            "coffee_machine",
        }:
            return "cover_lid"
    if (
        sense in {"open", "close", "check", "look", "hold"}
        and objects
        and kind_of(objects[0].head) in _TRANSPARENT_PARTS
    ):
        owner = objects[0].of if objects[0].relation == "owner" else None
        if owner is None and objects[0].determiner == "its":
            owner = NounPhrase("it", "it", pronoun=True)
        if owner is not None and (sense != "hold" or kind_of(objects[0].head) == "handle"):
            roles["object"] = [owner, *objects[1:]]
    if sense in {"open", "close", "turn_on", "turn_off"} and kinds == {"water"}:
        roles["object"] = [NounPhrase("tap", "tap")]
        return {"open": "turn_on", "close": "turn_off"}.get(sense, sense)
    if (
        sense in {"turn_on", "turn_off", "adjust", "increase", "decrease"}
        and kinds & {"button"}
        and clause.verb in {"switch", "press", "push", "click"}
    ):
        return "press"
    if (
        sense in {"lower", "increase", "decrease", "adjust", "turn"}
        and objects
        and objects[0].head in {"heat", "temperature", "flame"}
    ):
        roles["object"] = [NounPhrase("the hob", "hob")] if objects[0].of is None else [objects[0].of]
        return "adjust"
    if (
        sense == "move"
        and clause.verb == "slide"
        and roles["target"]
        and not roles["source"]
        and (any(prep in {"inside", "into"} for prep, _ in clause.places) and kinds - {"glove", "hand", None})
    ):
        return "insert"
    if sense == "move" and clause.verb in _PULLED and roles["source"] and not roles["target"]:
        return "take_out"
    if sense == "move" and kinds & {"button"}:
        return "press"
    if sense == "cut" and not objects:
        return "cut"
    return sense


def _by_purpose(intent: Intent, clause: Clause, following: tuple[Clause, ...]) -> Intent:
    """ "Pull the cupboard to open it" opens; "press the button to start the machine" starts it by pressing."""
    for purpose in following:
        if purpose.mode != PURPOSE:
            if purpose.mode in {HOW, BACKGROUND}:
                continue
            break
        sense = purpose.sense
        if sense == "drop" and purpose.verb == "release" and any(prep in _FROM for prep, _ in purpose.places):
            sense = "detach"
        if sense == "turn" and purpose.verb == "switch":
            break
        same = not purpose.objects or purpose.objects[0].pronoun or (
            bool(intent.of("object")) and purpose.objects[0].head == intent.of("object")[0].head
        )  # fmt: skip
        if intent.sense in _UPGRADED and sense in _UPGRADES and same:
            changed = replace(intent, sense=sense)
            owner = intent.of("object")[0].of if intent.of("object") else None
            if sense in {"turn_on", "turn_off"} and owner is not None and intent.of("object")[0].relation == "owner":
                changed = changed.with_role("object", (owner,))  # turning the dial of the oven to start it
            if sense == "detach":
                changed = changed.with_role("source", [p for prep, p in purpose.places if prep in _FROM][:1])
            return changed
        if intent.sense in _UPGRADED and sense in {"open", "close"} and purpose.objects and intent.of("object"):
            if lexicon().kind(intent.of("object")[0].head) in _TRANSPARENT_PARTS | {"part", "button"}:
                return replace(intent, sense=sense).with_role("object", purpose.objects)
        if intent.sense == "press" and sense in {"turn_on", "turn_off"}:
            appliance = purpose.objects[:1] if purpose.objects and not purpose.objects[0].pronoun else ()
            owner = intent.of("object")[0].of if intent.of("object") else None
            if not appliance and owner is not None:
                appliance = (owner,)
            appliance = appliance or intent.of("target")
            if appliance:
                changed = replace(intent, sense="press_on" if sense == "turn_on" else "press_off")
                return changed.with_role("target", appliance)
        if intent.sense in {"hold", "move"} and sense == "wear" and same:
            return replace(intent, sense="wear")
        break
    return intent


def _without_holds(intents: list[Intent]) -> list[Intent]:
    """Drop "hold the pan" before "and shake it": the hold is how the second act is done."""
    kept: list[Intent] = []
    for index, intent in enumerate(intents):
        if intent.sense in {"hold", "reach"} and index + 1 < len(intents):
            following = intents[index + 1].of("object")
            own = intent.of("object")
            if following and own and (following[0].pronoun or following[0].head == own[0].head):
                if following[0].pronoun:
                    intents[index + 1] = intents[index + 1].with_role("object", own)
                continue
        if intent.sense == "hold" and kept and intent.of("object")[:1] and intent.of("object")[0].pronoun:
            continue
        if (
            intent.sense == "wear"
            and index
            and intents[index - 1].sense == "wear"
            and kept
            and (
                [p.head for p in intent.of("object")] == [p.head for p in kept[-1].of("object")]
                or (intent.of("object")[:1] and intent.of("object")[0].pronoun)
            )
        ):
            continue
        if (
            kept
            and intent.sense == kept[-1].sense == "take"
            and intent.sentence != kept[-1].sentence
            and [p.head for p in intent.of("object")] == [p.head for p in kept[-1].of("object")]
            and intent.hands
            and not kept[-1].hands
        ):
            kept[-1] = replace(kept[-1], hands=intent.hands)  # "Take a plate. With the right hand, take the top plate."
            continue
        if (
            kept
            and {intent.sense, kept[-1].sense} <= {"put", "insert"}
            and not kept[-1].of("target")
            and (_same_thing(intent, kept[-1]) or (intent.of("object")[:1] and intent.of("object")[0].pronoun))
        ):
            kept[-1] = intent.with_role("object", kept[-1].of("object"))  # "place it again, return it to the cone"
            continue
        if kept and intent.sense == kept[-1].sense and not intent.of("target") and _same_thing(intent, kept[-1]):
            if len(intent.phrases) >= len(kept[-1].phrases):
                kept[-1] = intent
            continue
        kept.append(intent)
    return kept


def _same_thing(one: Intent, other: Intent) -> bool:
    mine, its = one.of("object"), other.of("object")
    return bool(mine) and [(p.head, p.modifiers) for p in mine] == [(p.head, p.modifiers) for p in its]


def phrase_of(words: str) -> NounPhrase | None:
    """Read a bare noun phrase, such as an official noun."""
    found = make_phrase(lexicon(), [word for word in words.lower().split() if word not in {"of", "the"}])
    if " of " in words:
        from_parse = parse(f"take the {words}")
        if from_parse and from_parse[0].objects:
            return from_parse[0].objects[0]
    return found


def form_sense(form: str, class_of: dict[str, str]) -> str:
    """Return the sense of an official verb form such as "turn-on" or "pull out", by lexicon, else by its class.

    A form that the data set puts in a class spelt with a particle ("turn-of" in class "turn-off") follows the class.
    """
    key = class_of.get(form, "")
    known = lexicon()
    words = form.replace("-", " ").split()
    if not words:
        return "other"
    lemma, particle = words[0], " ".join(words[1:])
    exact = known.senses.get((lemma, particle))
    if exact:
        return exact
    if key:
        by_class = _CLASS_SENSES.get(key) or known.sense(*([*key.replace("-", " ").split(), ""])[:2])
        if by_class and (particle or known.sense(lemma) is None):
            bare = known.sense(lemma)
            return by_class if bare is None or "-" in key else bare
    return known.sense(lemma) or "other"


_CLASS_SENSES = {
    "transition": "navigate", "pat": "tap", "unscrew": "unscrew", "finish": "other", "let-go": "drop", "work": "other",
    "match": "other", "balance": "hold", "produce": "other", "solidify": "cool", "set": "put", "use": "use",
    "turn-down": "decrease", "serve": "put", "rub": "scrub", "brush": "scrub", "water": "soak", "coat": "spread",
}  # fmt: skip
