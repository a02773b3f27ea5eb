"""Raw sentences to the words that the parser reads: hands become tokens, and phrases that hide a structure are
rewritten."""

from __future__ import annotations

import re

_HAND = re.compile(
    r"\b(?:(?:the|my|your|his|her|their)\s+)?(left|right|both|other|same|free)\s+(?:of\s+)?(?:my\s+|the\s+)?hands?"
    r"(?!['’]s\b)(?!\s+(?:side|gloves?|handle|soap|door|part|mixer|corner|end|cupboard|drawer|flap|oven|cabinet|"
    r"wash|bottle|towel|sleeve|wearing))(?:\s+(?:index\s+finger|thumb|fingers?|palm))?\b"
)


_LEFT_AND_RIGHT = re.compile(r"\b(?:the\s+|my\s+)?(?:left\s+and\s+right|right\s+and\s+left)\s+hands?\b")


_REWRITES = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"['’]s\b", " 's"),
        (r"(\w)s['’](?=\s)", r"\1s 's"),
        (r"n['’]t\b", " not"),
        (r"\b(?:i['’]m|i am)\b", "i am"),
        (r"\bi(?:['’]| wi)ll\b", "because"),
        (r"\bas well as\b", "and"),
        (r"\bas well\b", ""),
        (r"\bat the same time\b", ""),
        (r"\bof (?:my|the) own\b", ""),
        (r"\b(?:so as to|in order to|so to|as to)\b", "purposeto"),
        (r"\bso (?:that )?(?=the(?: \w+){1,3} (?:can|could|will|would|may|might)\b)", "because "),
        (r"\bso that\b", "sothat"),
        (r"\bso (?=(?:i|we|it|they|the|you) (?:can|could|may|might|will|would|do|does|is|are|fits?)\b)", "sothat "),
        (r"\b(?:turning|flipping) (.{2,40}?) upside down\b", r"flipping \1 "),
        (r"\b(?:turned|flipped) (.{2,40}?) upside down\b", r"flipped \1 "),
        (r"\b(?:turn|flip)s? (.{2,40}?) upside down\b", r"flip \1 "),
        (r"\bto (?:fully|completely|further|slightly|gently|carefully|quickly|better|properly|slowly|just|also|easily|actually|"
         r"temporarily|eventually|firmly|partially|finally) (?=[a-z])", "to "),
        (r"\bupside down\b", ""),
        (r"\bface[- ](?:down|up)(?:wards)?\b", ""),
        (r"\b(?:on|onto|to|at) (?:the )?(?:very )?top of\b", "on"),
        (r"\bfrom (?:on )?(?:the )?(?:very )?top of\b", "from"),
        (r"\b(?:from (?:on|inside|under|underneath|within|out of|behind|off|in))\b", "from"),
        (r"\b(?:to|on|at|towards|in) the (?:far |very |top |bottom )?(?:left|right)(?:[- ]hand)?(?: side)? (?:of|to)\b",
         "beside"),
        (r"\bfrom the (?:far |top |bottom )?(?:left|right)(?:[- ]hand)?(?: side)? of\b", "from"),
        (r"\b(?:next to|close to|adjacent to|in front of|by the side of|alongside|nearby)\b", "beside"),
        (r"\b(?:do|does|did|will|would|should|must|need|can|could) ?not(?: (?:\w+ly|want to|need to|have to))?\b", "because"),
        (r"\bfrom (?:one|a) hand to (?:the |an)other(?: hand| one)?\b", "in @both"),
        (r"\blet(?:s|ting)? go of\b", "release"),
        (r"\bi let (.{2,30}?) go\b", r"i release \1"),
        (r"\bout of the way\b", "away"),
        (r"\b(?:out of|out from)\b", "outof"),
        (r"\baway from\b", "awayfrom"),
        (r"\boff of\b", "off"),
        (r"(?<!the )\binside of\b", "inside"),
        (r"\b(?:around |about |by )?(?:\d+|ninety|180|forty-five|a few) degrees?\b", ""),
        (r"\b(in|into|at|on|onto|to|towards|toward|from|off) (?:the )?(?:very |far )?(?:middle|center|centre|corner|back|front|"
         r"bottom|side|edge|end|rim|inside|surface|far end|other side|bottom part|top part|upper part|lower part) of\b",
         r"\1"),
        (r"\bin (?:the )?between\b", "between"),
        (r"\b(?:one another|each other)\b", "eachother"),
        (r"\b(?:in place|into place|in its place|back in place|in position)\b", "back"),
        (r"\bto (?:the|my) (?:left|right|side|front|back)\b", ""),
        (r"\bfrom (?:the )?(?:left|right) to (?:the )?(?:left|right)\b", ""),
        (r"\bmak(?:e|ing) (?:a|an|another|one|the|one more)(?: \w+)? cuts? (?:in|on|through|into|across|to|along)\b", "cut"),
        (r"\b(?:stuck|glued|sticking|clinging) (?:to|on|onto|in|inside|at)\b", "from"),
        (r"\b(pick|put|turn|take|pull|push|lift|switch)-(up|down|on|off|out|in|away|back)\b", r"\1 \2"),
        (r"\btry and\b", "try to"),
        (r"\bgo and\b", ""),
        (r"\bmake use of\b", "use"),
        (r"\bwith the help of\b", "with"),
        (r"\bwith the use of\b", "with"),
        (r"\bby means of\b", "with"),
        (r"\b(?:by using|usnig|usign)\b", "using"),
        (r"\bwash(?:ing)?[- ]up\b(?= (?:liquid|bottle|soap|sponge|glove|brush|bowl))", "washing-up"),
        (r"\btea towel", "teatowel"),
        (r"\b(?:newly |just |previously )?(?:picked|lifted|taken)[- ](?:up|out) (?=[a-z])(?!from|in|with|by|and|using)", ""),
        (r"\bin one go\b|\bin one (?:swift )?(?:motion|movement)\b", ""),
        (r"\b(?:a |an )?(?:couple|number|few|lot|lots) (?:of )?(?:times|seconds|minutes|motions|movements)\b", ""),
        (r"\b(?:several|multiple|many|two|three|few|one more|another|one last|a second|a third) (?:times?|seconds?|"
         r"motions?|movements?|strokes?)\b", ""),
        (r"\bin (?:a )?(?:short |small )?(?:circular|back and forth|sawing\S*|sawing-like) (?:motions?|fashion|"
         r"movements?)\b", ""),
        (r"\bback and forth\b", ""),
        (r"\bone (?:more|last|final) (?=time)", ""),
    )
)  # fmt: skip


TOKEN = re.compile(r"@\w+|[a-z0-9_½¼¾/]+(?:[-'’.][a-z0-9_]+)*|'s|[,;:()]")


SENTENCE = re.compile(r"[.!?]+(?=\s|$)|[\n;]+")


FAILED = re.compile(
    r"\b(?:but (?:it |he |she |i )?(?:fails?|can ?not|cannot|could not|couldn't|does not|doesn't|did not|didn't)|"
    r"but (?:it|the \w+)(?: is| seems?| looks?| appears?| was)(?: to be)?(?: \w+)? (?:stuck|jammed|blocked|too (?:tight|hard|stiff|heavy))|"
    r"unsuccessful(?:ly)?|without success|in vain|to no avail|attempt (?:fails|failed|is not successful))\b"
)


# Who acts: the wearer of the camera ("C picks up", "#C C", "the student"), or somebody else ("#O man X", "she").
_WEARER = re.compile(
    r"(^ |[.,;] |\b(?:and|then|while|as) )(?:#\s?c\s+c|#\s?c|c|(?:the|a) (?:person|user|cook|chef|participant|student|"
    r"operator|(?:camera )?wearer|camera operator)|person|camera wearer) (?=[a-z])"
)
_OTHER = re.compile(
    r"^ (?:#\s?o\b(?: (?:the |a )?(?:man|woman|person|lady|boy|girl|child|participant)\b)?(?: [a-z])?|"
    r"(?:the|a|an|another|one|my) (?:other )?(?:man|woman|boy|girl|lady|child|guy|friend|flatmate|colleague|people|"
    r"(?:other|second) person|person [a-z])(?: [a-z])?|(?:man|woman|person|lady|boy|girl) [a-z]|he|she|someone|somebody|"
    r"they) (?=[a-z]+)(?!(?:is|are|was|were|has|have|can|could|will|would|'s)\b)"
)
_UNSURE = re.compile(r"#\s?unsure\b")


def of_other(text: str) -> str | None:
    """Return the sentence with "I" for its subject where it tells what somebody else does, None where it does not."""
    text = " " + " ".join(text.lower().split()) + " "
    return _OTHER.sub(" i ", text) if _OTHER.match(text) else None


def rewrite(text: str) -> str:
    text = " " + " ".join(text.lower().split()) + " "
    text = _WEARER.sub(r"\1i ", text)
    text = _UNSURE.sub("something", text)
    text = _LEFT_AND_RIGHT.sub("@both", text)
    text = _HAND.sub(lambda match: "@" + match.group(1), text)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text
