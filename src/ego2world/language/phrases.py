"""Noun phrases: their heads, counts, owners, contents and pieces. The first half of the parser."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ego2world.language.lexicon import Lexicon, singular
from ego2world.language.quantities import Quantity, quantity_in
from ego2world.ontology.kinds import Trait, kinds_with

DETERMINERS = frozenset(
    "the a an my your his her their its our this that these those another other both each every some any one "
    "all several few many more most no same such either two three four five six seven eight nine ten half".split()
)
NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "both": 2, "couple": 2,
}  # fmt: skip
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth last final next".split()
PREPOSITIONS = frozenset(
    "in into on onto from to with inside outside under underneath beneath over above below at beside between around "
    "against through towards toward along across off outof awayfrom within by for of about behind near without "
    "throughout during via among past beyond".split()
)
PRONOUNS = frozenset("it them they this that these those one ones itself themselves everything something rest".split())
# "the edge of X" and "X's edge" speak of X.
REGIONS = frozenset(
    "top bottom side edge end inside outside interior exterior back front middle center centre corner rim surface "
    "contents content mouth opening part section area left right position place underside tip neck body half-side "
    "portion level door doors face wall row location row spot sides edges corners direction remaining hold room "
    "weight temperature state size rest-of amount-of base-of view outskirts perimeter centre-part heat power "
    "surroundings wall-side lower upper gap hole slot cavity operation".split()
)
# "a piece of X" is X, in part or in number.
PIECES = frozenset(
    "piece slice handful bit chunk bunch pinch layer amount drop lot sprig couple pair pile stack set group number "
    "rest remainder some half halves quarter strip block lump ball sheet scoop spoonful drops bits pieces "
    "slices portion majority load kind type head clove stick cube dollop splash dash bundle few segment part-of "
    "remaining excess remains leaf stalk roll array series wedge shaving strand".split()
)
# What is in such pieces is solid.
SOLID_PIECES = frozenset("slice chunk half quarter wedge strip cube clove stalk leaf strand shaving".split())
# A part that keeps its own identity although it belongs to something: "the lid of the jar".
PART_KINDS = kinds_with(Trait.OWNED_PART)
CONTAINER_KINDS = kinds_with(Trait.CONTAINER)
STATES = frozenset(
    "open opened closed empty full clean dirty dry wet hot cold chopped sliced cooked boiled raw peeled cut washed "
    "rinsed folded melted frozen grated used unused soaked lathered soapy uncut unpeeled diced minced crushed "
    "mixed warm boiling running filled burnt toasted covered".split()
)
ADVERBS = frozenset(
    "again back carefully gently slowly quickly slightly then now also too still just only away together apart "
    "properly fully completely finally once twice already well immediately directly first further forward "
    "backwards upwards downwards up down aside around forth outwards inwards towards-me upside clockwise "
    "anticlockwise anti-clockwise counterclockwise counter-clockwise open closed shut out off over flat instead "
    "accidentally quite almost nearly firmly softly repeatedly continuously briefly there here later thoroughly "
    "somewhere ready vertically horizontally straight inside outside underneath through along correctly at-once "
    "simultaneously temporarily successfully unsuccessfully evenly tightly loosely separately vigorously dry not "
    "never partially partly mostly each-other please yet even maybe probably actually hard closer".split()
)


@dataclass(frozen=True)
class NounPhrase:
    """One mention of a thing.

    ``head`` is the singular noun (compounds kept, "chopping board"); ``modifiers`` tell like things apart
    ("second", "blue"); ``of`` is a related phrase and ``relation`` says how: "content" (bottle of oil),
    "owner" (lid of the jar), or "" for none. ``piece`` is a partitive ("slice"), ``region`` a place on the
    thing ("edge"); ``states`` are state words that the sentence takes for granted ("empty");
    ``quantity`` is an amount with its unit, or a share.
    """

    text: str
    head: str
    modifiers: tuple[str, ...] = ()
    determiner: str = ""
    count: int | None = None
    plural: bool = False
    of: NounPhrase | None = None
    relation: str = ""
    piece: str = ""
    region: str = ""
    states: tuple[str, ...] = ()
    pronoun: bool = False
    quantity: Quantity | None = None

    @property
    def phrase(self) -> str:
        """Modifiers and head, as the thing would be called."""
        return " ".join([*self.modifiers, self.head])


def split_head(lexicon: Lexicon, words: list[str]) -> tuple[list[str], str]:
    """Split the words of a phrase into modifiers and the longest known (else last) noun, made singular."""
    for start in range(max(0, len(words) - lexicon.longest_noun), len(words) - 1):
        tail = words[start:]
        for last in (tail[-1], singular(tail[-1])):
            candidate = " ".join([*tail[:-1], last])
            if candidate in lexicon.kinds:
                return words[:start], candidate
    return words[:-1], singular(words[-1])


def make_phrase(lexicon: Lexicon, words: list[str]) -> NounPhrase | None:
    """Build a phrase from its words, without any "of" part. None when nothing noun-like is left."""
    quantity = next((found for word in words if (found := quantity_in(word)) is not None), None)
    words = [word for word in words if quantity_in(word) is None]
    text = " ".join(words)
    determiner, count, modifiers, states = "", None, [], []
    rest = list(words)
    while rest and (rest[0] in DETERMINERS or rest[0] in NUMBERS or rest[0].isdigit()) and len(rest) > 1:
        word = rest.pop(0)
        if word in NUMBERS and word != "one":
            count = NUMBERS[word]
        elif word.isdigit():
            count = int(word)
        elif word in {"other", "another", "same"}:
            modifiers.append("other" if word == "another" else word)
        determiner = determiner or word
    if not rest:
        return None
    if len(rest) == 1 and (rest[0] in PRONOUNS or rest[0] in DETERMINERS):
        plural = rest[0] in {"them", "these", "those", "they", "ones", "both", "all", "themselves"}
        number = NUMBERS.get(rest[0]) if rest[0] != "one" else None
        return NounPhrase(text, rest[0], tuple(modifiers), determiner, number or count, plural, pronoun=True)
    front, head = split_head(lexicon, rest)
    for word in front:
        if word in STATES:
            states.append(word)
        elif word in ORDINALS or (word not in ADVERBS and word not in DETERMINERS and not word.endswith("ly")):
            modifiers.append(word)
    piece = region = ""
    if head == "door" and modifiers and lexicon.kind(modifiers[-1]) not in {None, "room"}:
        region = "door"  # "the cupboard door" is the cupboard, as it is opened
        front, head = split_head(lexicon, modifiers)
        modifiers = list(front)
    if head in PIECES and modifiers and lexicon.kind(modifiers[-1]) is not None:
        piece = head
        front, head = split_head(lexicon, modifiers)
        modifiers = list(front)
    last = rest[-1]
    if determiner == "both" and last == singular(last):
        count = None  # "both the bottle and the spoon"
    plural = last != singular(last) or (count or 1) > 1
    return NounPhrase(
        text,
        head,
        tuple(modifiers),
        determiner,
        count,
        plural,
        piece=piece,
        region=region,
        states=tuple(states),
        quantity=quantity,
    )


def join_of(first: NounPhrase, second: NounPhrase, lexicon: Lexicon) -> NounPhrase:
    """Join "first of second": region, piece, part, contents or plain owner."""
    text = f"{first.text} of {second.text}"
    kind = lexicon.kind(first.head)
    if first.head in {"door", "flap"} and lexicon.kind(second.head) not in {None, "room"}:
        return replace(second, text=text, region=first.head)
    if first.head in REGIONS or first.text in REGIONS or first.pronoun:
        count = first.count or second.count
        return replace(second, text=text, region=first.head, count=count, plural=second.plural)
    if first.head in PIECES:
        if first.head == "pair":
            return replace(second, text=text, plural=False, count=None, piece="pair")
        count = NUMBERS.get(first.head, first.count)
        determiner = first.determiner or second.determiner
        modifiers = tuple(m for m in first.modifiers if m in ORDINALS or m == "other") + second.modifiers
        return replace(
            second,
            text=text,
            piece=first.head,
            count=count,
            determiner=determiner,
            modifiers=modifiers,
            plural=bool(count and count > 1)
            or (first.plural and count is None and first.head not in {"couple", "lot"}),
        )
    if kind in PART_KINDS:
        return replace(first, text=text, of=second, relation="owner")
    if kind in CONTAINER_KINDS:
        return replace(first, text=text, of=second, relation="content")
    return replace(first, text=text, of=second, relation="owner")
