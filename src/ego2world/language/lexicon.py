"""The words the parser knows: verb forms to senses, nouns to kinds, both from text files beside this module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ego2world.errors import DeclarationError

PARTICLES = frozenset(
    "up down off on out away back over in open closed shut together apart aside around through forward "
    "inside into onto onwards under dry clean across along again towards upside against behind".split()
)

_IRREGULAR = {
    "run": "ran run running",
    "take": "took taken taking", "put": "put put putting", "get": "got gotten getting", "set": "set set setting",
    "cut": "cut cut cutting", "let": "let let letting", "hold": "held held holding", "leave": "left left leaving",
    "lay": "laid laid laying", "bring": "brought brought bringing", "give": "gave given giving",
    "throw": "threw thrown throwing", "tear": "tore torn tearing", "break": "broke broken breaking",
    "eat": "ate eaten eating", "drink": "drank drunk drinking", "go": "went gone going", "come": "came come coming",
    "wear": "wore worn wearing", "see": "saw seen seeing", "feel": "felt felt feeling", "find": "found found finding",
    "write": "wrote written writing", "read": "read read reading", "shake": "shook shaken shaking",
    "hang": "hung hung hanging", "spread": "spread spread spreading", "shut": "shut shut shutting",
    "stick": "stuck stuck sticking", "grind": "ground ground grinding", "wind": "wound wound winding",
    "wring": "wrung wrung wringing", "sit": "sat sat sitting", "stand": "stood stood standing",
    "keep": "kept kept keeping", "fit": "fitted fit fitting", "split": "split split splitting",
    "beat": "beat beaten beating", "sweep": "swept swept sweeping", "freeze": "froze frozen freezing",
    "rise": "rose risen rising", "fall": "fell fallen falling", "hit": "hit hit hitting", "lie": "lay lain lying",
    "make": "made made making", "begin": "began begun beginning", "do": "did done doing", "bend": "bent bent bending",
    "sew": "sewed sewn sewing", "tie": "tied tied tying", "draw": "drew drawn drawing", "dig": "dug dug digging",
    "light": "lit lit lighting", "say": "said said saying", "know": "knew known knowing", "say so": "",
    "think": "thought thought thinking", "burst": "burst burst bursting", "blow": "blew blown blowing",
    "understand": "understood understood understanding", "speak": "spoke spoken speaking", "rid": "rid rid ridding",
    "open": "opened opened opening", "enter": "entered entered entering", "gather": "gathered gathered gathering",
    "whisk": "whisked whisked whisking", "cover": "covered covered covering", "empty": "emptied emptied emptying",
    "lather": "lathered lathered lathering", "season": "seasoned seasoned seasoning", "flatten": "flattened flattened "
    "flattening", "tighten": "tightened tightened tightening", "loosen": "loosened loosened loosening",
    "butter": "buttered buttered buttering", "order": "ordered ordered ordering", "water": "watered watered watering",
    "deliver": "delivered delivered delivering", "transfer": "transferred transferred transferring",
    "position": "positioned positioned positioning", "uncover": "uncovered uncovered uncovering",
    "scatter": "scattered scattered scattering", "lower": "lowered lowered lowering",
    "filter": "filtered filtered filtering", "weigh": "weighed weighed weighing",
    "level": "levelled levelled levelling",
    "moisten": "moistened moistened moistening", "dampen": "dampened dampened dampening",
    "soften": "softened softened softening", "sweeten": "sweetened sweetened sweetening",
    "straighten": "straightened straightened straightening", "trigger": "triggered triggered triggering",
    "fasten": "fastened fastened fastening", "happen": "happened happened happening",
}  # fmt: skip

_IRREGULAR_PLURALS = {
    "knives": "knife", "leaves": "leaf", "loaves": "loaf", "halves": "half", "shelves": "shelf", "potatoes": "potato",
    "tomatoes": "tomato", "mangoes": "mango", "dishes": "dish", "glasses": "glass", "boxes": "box", "brushes": "brush",
    "peaches": "peach", "sandwiches": "sandwich", "radishes": "radish", "batches": "batch", "pastries": "pastry",
    "berries": "berry", "cherries": "cherry", "strawberries": "strawberry", "blueberries": "blueberry",
    "raspberries": "raspberry", "patties": "patty", "chillies": "chilli", "cookies": "cookie", "pies": "pie",
    "anchovies": "anchovy", "spices": "spice", "slices": "slice", "pieces": "piece", "juices": "juice",
    "branches": "branch", "toothbrushes": "toothbrush", "trash": "trash", "oats": "oats", "feet": "foot",
    "teeth": "tooth", "scarves": "scarf", "mangos": "mango", "matches": "match", "switches": "switch",
    "pouches": "pouch", "bunches": "bunch", "ashes": "ash", "calves": "calf", "watches": "watch", "latches": "latch",
    "couches": "couch", "batteries": "battery", "diaries": "diary", "bodies": "body", "hobs": "hob",
    "quiches": "quiche", "cranberries": "cranberry", "daisies": "daisy", "trays": "tray", "skies": "sky",
    "grits": "grits", "cubes": "cube", "sponges": "sponge", "cheeses": "cheese", "sauces": "sauce",
    "oranges": "orange", "sausages": "sausage", "courgettes": "courgette", "packages": "package",
    "aubergines": "aubergine", "surfaces": "surface", "plates": "plate", "recipes": "recipe", "handles": "handle",
}  # fmt: skip
# Plural in form, one thing: never stripped of the final s.
_SINGULAR_S = frozenset(
    "scissors tongs glasses chopsticks tweezers shears molasses hummus asparagus couscous bus gas lens grass "
    "glass swiss brass press process access class lettuce cutlery rice contents this its is was has does always "
    "aluminium nachos crisps chips oats noodles fries breadcrumbs greens dress watercress countless clothes "
    "trousers scales stairs headphones suds less cress mess grounds leftovers trimmings remains octopus us "
    "focus plus bias coleslaw christmas as molas dries moss boss toss cross loss across".split()
)


def singular(word: str) -> str:
    """Return the singular of a noun by rule, leaving words that only look plural."""
    if word in _IRREGULAR_PLURALS:
        return _IRREGULAR_PLURALS[word]
    if word in _SINGULAR_S or len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    if word.endswith("us") or word.endswith("is"):
        return word
    return word[:-1]


def _inflections(lemma: str) -> Iterator[tuple[str, str]]:
    """Yield (form, tense) of a regular or irregular verb; tense is base, s, ed or ing."""
    yield lemma, "base"
    if lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield lemma + "es", "s"
    elif lemma.endswith("y") and lemma[-2] not in "aeiou":
        yield lemma[:-1] + "ies", "s"
    else:
        yield lemma + "s", "s"
    if lemma in _IRREGULAR:
        forms = _IRREGULAR[lemma].split()
        if len(forms) == 3:
            yield forms[0], "ed"
            yield forms[1], "ed"
            yield forms[2], "ing"
            return
    if lemma.endswith("ee") or lemma.endswith("oe") or lemma.endswith("ye"):
        yield lemma + "d", "ed"
        yield lemma + "ing", "ing"
    elif lemma.endswith("e"):
        yield lemma + "d", "ed"
        yield lemma[:-1] + "ing", "ing"
    elif lemma.endswith("y") and lemma[-2] not in "aeiou":
        yield lemma[:-1] + "ied", "ed"
        yield lemma + "ing", "ing"
    elif (
        len(lemma) >= 3
        and lemma[-1] not in "aeiouwxyh"
        and lemma[-2] in "aeiou"
        and lemma[-3] not in "aeiou"
        and len(re.findall("[aeiou]+", lemma)) == 1
    ) or lemma in {"unzip", "unplug", "unclip", "unwrap", "rewrap", "recap", "replug", "transfer", "equip"}:
        yield lemma + lemma[-1] + "ed", "ed"
        yield lemma + lemma[-1] + "ing", "ing"
    else:
        yield lemma + "ed", "ed"
        yield lemma + "ing", "ing"


@dataclass(frozen=True)
class VerbForm:
    """One reading of a word as a verb. ``tense`` is base, s, ed or ing."""

    lemma: str
    tense: str


@dataclass(frozen=True)
class Lexicon:
    """Verb senses by (lemma, particle), verb forms, and noun kinds by phrase."""

    senses: dict[tuple[str, str], str]
    forms: dict[str, tuple[VerbForm, ...]]
    kinds: dict[str, str]
    longest_noun: int

    def sense(self, lemma: str, particle: str = "") -> str | None:
        """Return the sense of a verb with its particle, else of the bare verb, else None."""
        return self.senses.get((lemma, particle)) or self.senses.get((lemma, ""))

    def kind(self, phrase: str) -> str | None:
        """Return the kind of a noun phrase: the whole phrase, else its longest known end, else None."""
        if "_" in phrase:  # an entity id, "lid_of_jar_1"
            phrase = re.sub(r"(_\d+)+$", "", phrase).split("_of_")[0].replace("_", " ")
        words = phrase.split()
        for start in range(len(words)):
            tail = " ".join(words[start:])
            for candidate in (tail, " ".join([*words[start:-1], singular(words[-1])])):
                if candidate in self.kinds:
                    return self.kinds[candidate]
        return None

    def known_noun(self, word: str) -> bool:
        """Say whether one word, as it stands or in the singular, is a known noun."""
        return word in self.kinds or singular(word) in self.kinds or "_" in word


def _entries(name: str) -> Iterator[tuple[str, list[str]]]:
    for line in (files("ego2world.language") / name).read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            head, _, rest = line.partition(":")
            yield head.strip(), [entry.strip() for entry in rest.split(",") if entry.strip()]


@cache
def lexicon() -> Lexicon:
    """Load the lexicon once per process.

    Raises:
        DeclarationError: a verb stands in two senses, or a noun in two kinds.
    """
    senses: dict[tuple[str, str], str] = {}
    forms: dict[str, dict[VerbForm, None]] = {}
    for sense, entries in _entries("verbs.txt"):
        for entry in entries:
            lemma, _, particle = entry.partition(" ")
            if senses.setdefault((lemma, particle), sense) != sense:
                found = f"in two senses, {senses[lemma, particle]} and {sense}; keep one in verbs.txt"
                raise DeclarationError(entry, found)
            for form, tense in _inflections(lemma):
                forms.setdefault(form, {})[VerbForm(lemma, tense)] = None
    kinds: dict[str, str] = {}
    longest = 1
    for kind, nouns in _entries("nouns.txt"):
        for noun in nouns:
            if kinds.setdefault(noun, kind) != kind:
                raise DeclarationError(noun, f"of two kinds, {kinds[noun]} and {kind}; keep one in nouns.txt")
            longest = max(longest, len(noun.split()))
    return Lexicon(senses, {form: tuple(readings) for form, readings in forms.items()}, kinds, longest)
