"""Quantities, settings and abbreviations, before a text is cut into sentences. Stage: language.

"2 tbsp. oil" has a point that ends no sentence, "1/4 cup milk" a unit that is no cup, and "on high" is no place. Each
becomes one word that the parser reads as what it is: ``qty_2_tbsp`` stands before its noun, ``set_level_high`` beside
its verb. ``quantity_in`` and ``setting_in`` read such words back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_UNITS = {
    "g": "g gr gram grams gm gms", "kg": "kg kgs kilo kilos kilogram kilograms", "mg": "mg",
    "ml": "ml mls millilitre millilitres milliliter milliliters", "cl": "cl", "dl": "dl",
    "l": "l litre litres liter liters", "oz": "oz ounce ounces", "lb": "lb lbs pound pounds",
    "tsp": "tsp tsps teaspoon teaspoons teaspoonful teaspoonfuls",
    "tbsp": "tbsp tbsps tbs tablespoon tablespoons tablespoonful tablespoonfuls",
    "cup": "cup cups", "pint": "pint pints", "quart": "quart quarts",
    "cm": "cm centimetre centimetres centimeter centimeters", "mm": "mm", "inch": "inch inches",
}  # fmt: skip
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_ALSO_THINGS = frozenset("cup cups teaspoon teaspoons tablespoon tablespoons pint pints pound pounds".split())
_TIMES = {"s": "s sec secs second seconds", "min": "min mins minute minutes", "h": "h hr hrs hour hours"}
_TIME_OF = {word: unit for unit, words in _TIMES.items() for word in words.split()}
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_GLYPHS = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8"}
_ONE = r"(?:\d+ \d+/\d+|\d+/\d+|\d+(?:\.\d+)?)"
_NUMBER = rf"(?P<low>{_ONE})(?:\s*(?:-|–|to)\s*(?P<high>{_ONE}))?"
_QUANTITY = re.compile(
    rf"(?<![\w./]){_NUMBER}(?:\s*-?\s*(?P<unit>{'|'.join(sorted(_UNIT_OF, key=len, reverse=True))})(?![\w])"
    r"(?P<point>\.(?=\s*[-,a-z]|\s+of\b))?)?(?P<of>\s+of\b(?:\s+(?:the|a|an)\b)?)?"
)
_DURATION = re.compile(
    rf"\b(?:(?:for|about|around|another|approximately|roughly|over|at least|up to)\s+)*{_NUMBER}\s*-?\s*"
    rf"(?P<unit>{'|'.join(sorted(_TIME_OF, key=len, reverse=True))})\b\.?(?! timer)"
)
_TEMPERATURE = re.compile(
    rf"\b(?:(?:to|at|on)\s+)?{_NUMBER}\s*(?:°\s*(?P<a>[cf])|degrees?\s+(?P<b>c|f|celsius|fahrenheit|centigrade)|"
    r"(?<=\d)\s?(?P<c>[cf]))(?![\w'’])"
)
_ENDS = r"(?=\s*(?:$|[,.;!?)]|(?:for|and|to|until|then|with|in|using|while|so|as|or|set_\S+)\b))"
_LEVEL = re.compile(
    r"\b(?:on|to|at)\s+(?:a\s+|the\s+)?(?P<level>(?:medium|low|high)[- ](?:to[- ])?(?:medium|low|high)|"
    r"high|medium|low|full|maximum|minimum|gentle)"
    r"(?P<heat>\s+(?:heat|flame|power|speed|setting|temperature))?" + _ENDS
)
_ABBREVIATIONS = re.compile(r"\b(approx|e\.g|i\.e|vs|incl|fig|dr|mr|mrs)\.(?=\s*[A-Za-z0-9,)])", re.IGNORECASE)
_HYPHENED = re.compile(r"\b([A-Za-z]{2,})-(?=\d)")  # "Add-1/4 cup"
_IN_NUMBER = re.compile(rf"({_ONE}) in number\b")
_NEXT_NOUN = re.compile(
    r"\s*(?!(?:from|on|in|into|onto|to|with|using|and|then|out|over|under|at|off|by|inside|of)\b)[a-z]", re.IGNORECASE
)


@dataclass(frozen=True)
class Quantity:
    """An amount: ``low`` to ``high`` (equal where one number is said) of a unit, "" for a count or a share."""

    low: float
    high: float
    unit: str = ""


def number_of(text: str) -> float:
    """Return the value of "2", "1.5", "3/4" or "1 1/2".

    Raises:
        ValueError: it is no number, or its denominator is 0.
    """
    total = 0.0
    for part in text.split():
        over, slash, under = part.partition("/")
        if slash and float(under) == 0:
            raise ValueError(text)
        total += float(over) / float(under) if slash else float(over)
    return total


@lru_cache(maxsize=8192)
def with_quantities(text: str) -> str:
    """Return a text in which each quantity and setting is one word, and no abbreviation ends a sentence."""
    text = re.sub("[½¼¾⅓⅔⅛]", lambda m: f" {_GLYPHS[m.group()]}", text)
    text = _HYPHENED.sub(r"\1 ", text)
    text = _ABBREVIATIONS.sub(lambda m: m.group(1).replace(".", ""), text)
    text = _IN_NUMBER.sub(r"\1", text)
    text = _TEMPERATURE.sub(_degrees, _lower_units(text))
    text = _DURATION.sub(lambda m: _token("set_time", m, _TIME_OF[m.group("unit")]), text)
    text = _LEVEL.sub(_level, text)
    return _QUANTITY.sub(_quantity, text)


def _lower_units(text: str) -> str:
    return re.sub(r"(?<=\d)(\s*°?\s*)([A-Z]{1,2})\b", lambda m: m.group(1) + m.group(2).lower(), text)


def _span(match: re.Match[str]) -> str | None:
    try:
        low = number_of(match.group("low"))
        high = number_of(match.group("high")) if match.group("high") else low
    except ValueError:
        return None
    if max(low, high) > 1e6:
        return None
    return f"{low:g}" if low == high else f"{low:g}-{high:g}"


def _token(kind: str, match: re.Match[str], unit: str) -> str:
    span = _span(match)
    return match.group() if span is None else f"{kind}_{span}_{unit}"


def _degrees(match: re.Match[str]) -> str:
    return _token("set_degrees", match, (match.group("a") or match.group("b") or match.group("c"))[0])


def _level(match: re.Match[str]) -> str:
    level = match.group("level").replace(" ", "-").replace("-to-", "-")
    level = {"full": "high", "maximum": "high", "minimum": "low", "gentle": "low"}.get(level, level)
    return f"set_{'heat' if (match.group('heat') or '').strip() in {'heat', 'flame'} else 'level'}_{level}"


def _quantity(match: re.Match[str]) -> str:
    unit, of = match.group("unit") or "", match.group("of") or ""
    span = _span(match)
    whole = match.group()
    if span is None:
        return whole
    if unit in _ALSO_THINGS and not of and not _NEXT_NOUN.match(match.string, match.end()):
        return whole  # "take 2 cups from the shelf"
    if not unit and "/" not in whole and "." not in match.group("low") and not match.group("high"):
        return whole  # a plain count
    return f"qty_{span}_{_UNIT_OF.get(unit, '')}"


def quantity_in(word: str) -> Quantity | None:
    """Return the quantity that a word made by ``with_quantities`` stands for, None for any other word."""
    kind, _, rest = word.partition("_")
    if kind != "qty":
        return None
    span, _, unit = rest.partition("_")
    low, _, high = span.partition("-")
    try:
        return Quantity(float(low), float(high or low), unit)
    except ValueError:
        return None


def setting_in(word: str) -> tuple[str, str | float] | None:
    """Return the setting that a word made by ``with_quantities`` stands for: ("heat" or "level", word), ("time_s",
    seconds) or ("temperature_c", degrees)."""
    parts = word.split("_")
    if len(parts) < 3 or parts[0] != "set":
        return None
    if parts[1] in {"heat", "level"}:
        return parts[1], parts[2]
    try:
        value = float(parts[2].partition("-")[0])
    except ValueError:
        return None  # words of the text itself
    if len(parts) < 4 or parts[1] not in {"time", "degrees"}:
        return None
    if parts[1] == "time" and parts[3] in _SECONDS:
        return "time_s", value * _SECONDS[parts[3]]
    return "temperature_c", value if parts[3] == "c" else round((value - 32) * 5 / 9, 1)
