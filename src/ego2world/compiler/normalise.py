"""One narration to the intents to execute: the parser's reading, corrected by official verbs and nouns. Stage:
normalise."""

from __future__ import annotations

from dataclasses import replace

from ego2world.annotations.records import Narration, Vocabulary
from ego2world.language.forms import form_sense, phrase_of
from ego2world.language.intents import read_intents
from ego2world.language.lexicon import lexicon, singular
from ego2world.language.phrases import NounPhrase
from ego2world.language.roles import Intent, NotActed
from ego2world.ontology.kinds import Trait, kinds_with
from ego2world.ontology.senses import Tag, senses


def normalise(narration: Narration, vocabulary: Vocabulary) -> tuple[Intent, ...]:
    """Return the intents of a narration; those with ``not_acted`` set are recorded and not executed."""
    intents = read_intents(narration.text)
    if narration.nouns_resolved:
        intents = _resolved(narration, vocabulary, intents)
    elif narration.main_actions:
        intents = _with_main_actions(narration, vocabulary, intents)
    elif narration.pairs and all(intent.not_acted is NotActed.STATEMENT for intent in intents):
        intents = _from_pairs(narration.pairs, vocabulary) or intents
    return tuple(_contents(intent) for intent in intents)


def _resolved(narration: Narration, vocabulary: Vocabulary, intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
    """Let resolved annotations (EPIC-KITCHENS) decide the verb's class and what the object is."""
    verb, noun = narration.main_actions[0]
    sense = form_sense(verb, vocabulary.verbs)
    phrase = phrase_of(noun)
    if phrase is not None and phrase.piece and phrase.of is None:
        phrase = replace(phrase, head=noun)  # the annotators resolved it: a ham slice is more than ham
    acts = [intent for intent in intents if not intent.not_acted]
    if not acts:
        return (Intent(sense, verb, (("object", (phrase,)),) if phrase else (), text=narration.text),)
    first = acts[0]
    if "-" in verb and first.sense in senses(Tag.GENERAL):
        worn = sense == "wear" and (phrase is None or lexicon().kind(phrase.head) not in kinds_with(Trait.WORN))
        first = first if worn else replace(first, sense=sense)
    said = first.of("object")
    names = set(narration.nouns)
    if phrase is not None and (not said or said[0].pronoun or said[0].head not in names):
        if (
            said
            and lexicon().kind(said[0].head) in kinds_with(Trait.VESSEL_NAMED)
            and lexicon().kind(phrase.head) not in kinds_with(Trait.VESSEL_NAMED)
        ):
            pass
        else:
            first = first.with_role("object", (phrase,))
    return (first, *acts[1:])


def _same_noun(phrase: NounPhrase, noun: str) -> bool:
    words = {singular(word) for word in noun.lower().replace("'s", "").split()}
    return bool({singular(word) for word in phrase.head.split()} & words) or (
        phrase.of is not None and bool({singular(word) for word in phrase.of.head.split()} & words)
    )


def _with_main_actions(narration: Narration, vocabulary: Vocabulary, intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
    """Make sure that the official main action is among the acts, without doubling an act that says the same."""
    out = [intent for intent in intents if not intent.not_acted]
    held_back = [intent for intent in intents if intent.not_acted]
    for verb, noun in narration.main_actions:
        sense = form_sense(verb, vocabulary.verbs)
        lemma = verb.replace("-", " ").split()[0]
        phrase = phrase_of(noun)
        if phrase is None or phrase.head == "hand":
            continue
        if any(i.verb == lemma or i.sense == sense for i in held_back):
            continue  # the sentence says that it was only tried
        same = [i for i in out if i.verb == lemma or i.sense == sense]
        if any(any(_same_noun(p, noun) for _, ps in i.phrases for p in ps) for i in same):
            continue
        missing = [index for index, i in enumerate(out) if i in same and not i.of("object")]
        if missing:
            out[missing[0]] = out[missing[0]].with_role("object", (phrase,))
        elif not same and not any(any(_same_noun(p, noun) for p in i.of("object")) for i in out):
            out.append(Intent(sense, lemma, (("object", (phrase,)),), text=f"{verb} {noun}"))
    return tuple(out) + tuple(held_back if not out else ())


def _from_pairs(pairs: tuple[tuple[str, str], ...], vocabulary: Vocabulary) -> tuple[Intent, ...]:
    out = []
    for verb, noun in pairs:
        phrase = phrase_of(noun)
        sense = form_sense(verb, vocabulary.verbs)
        if phrase is not None and sense not in {"hold", "use", "aspect"}:
            out.append(Intent(sense, verb.split()[0], (("object", (phrase,)),), text=f"{verb} {noun}"))
    return tuple(out[:1])


def _contents(intent: Intent) -> Intent:
    """Pouring "a bottle of oil" moves the oil out of the bottle; filling "with water" names the content."""
    if intent.not_acted:
        return intent
    objects = intent.of("object")
    kind = lexicon().kind
    if (
        intent.sense in senses(Tag.MOVES_CONTENT) - {"mix", "season"}
        and objects
        and kind(objects[0].head) in kinds_with(Trait.VESSEL_NAMED)
    ):
        vessel = objects[0]
        if intent.sense == "squeeze":
            if vessel.of is not None and vessel.relation == "content":
                return intent.with_role("content", (vessel.of,))
            return intent
        if vessel.of is not None and vessel.relation == "content":
            changed = intent.with_role("object", (vessel.of,))
            return changed if intent.of("source") else changed.with_role("source", (vessel,))
    if intent.sense == "fill" and not intent.of("content"):
        source = intent.of("source")
        if source and kind(source[0].head) == "tap":
            return intent.with_role("content", (NounPhrase("water", "water"),))
    return intent
