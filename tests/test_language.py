"""Sentences of kitchen narrations and what they say was done. Invented sentences; expected values by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ego2world.language.lexicon as lexicon_module
from ego2world.errors import DeclarationError
from ego2world.language.intents import read_intents
from ego2world.language.lexicon import lexicon, singular
from ego2world.language.parse import parse
from ego2world.language.roles import NotActed


def said(text: str) -> list[tuple[str, str]]:
    """Return (sense, object head) of every executed intent."""
    return [(i.sense, i.of("object")[0].head if i.of("object") else "") for i in read_intents(text) if not i.not_acted]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Open the fridge.", [("open", "fridge")]),
        ("I open the fridge with my left hand", [("open", "fridge")]),
        ("Using both hands, pick up the mixing bowl", [("take", "mixing bowl")]),
        ("pick up the cup and put it on the table", [("take", "cup"), ("put", "it")]),
        ("Wash and dry the plate.", [("wash", "plate"), ("dry", "plate")]),
        ("Open the drawer to look for a spoon.", [("open", "drawer")]),
        ("Move the jar so that I can reach the salt.", [("move", "jar")]),
        ("Close the fridge while holding the milk.", [("close", "fridge")]),
        ("Open the jar by twisting the lid.", [("open", "jar")]),
        ("Pull the cupboard door to open it.", [("open", "cupboard")]),
        ("Try to open the packet.", []),
        ("Open the packet but it does not open.", []),
        ("The bin is full now.", []),
        ("This is done off screen.", []),
        ("Continue stirring the soup.", [("mix", "soup")]),
        ("Put on the left glove.", [("wear", "glove")]),
        ("Put the lid on the pan.", [("cover_lid", "lid")]),
        ("Transfer the knife from the left hand to the right hand.", [("pass", "knife")]),
        ("Turn the tap off.", [("turn_off", "tap")]),
        ("Use the spoon to stir the tea.", [("mix", "tea")]),
        ("With the knife in my right hand, slice the onion", [("slice", "onion")]),
        ("put cup on table and milk on table", [("put", "cup"), ("put", "milk")]),
        ("Pick up the fork and the knife.", [("take", "fork"), ("take", "knife")]),
        ("Hold the pan and shake it.", [("shake", "pan")]),
        ("Wash my hands.", [("wash", "hand")]),
        ("take out the trash bag from the bin", [("take_out", "bag")]),
        ("Press the button to start the kettle.", [("press_on", "button")]),
    ],
)
def test_acts(text: str, expected: list[tuple[str, str]]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "role", "expected"),
    [
        ("Pour the oil from the bottle into the pan.", "source", "bottle"),
        ("Pour the oil from the bottle into the pan.", "target", "pan"),
        ("Wipe the table with the sponge.", "instrument", "sponge"),
        ("Dry my hands by rubbing them against the towel.", "instrument", "towel"),
        ("Take the plate that is on top of the shelf.", "source", "shelf"),
        ("Fill the glass with water.", "content", "water"),
        ("Put the pan on the far end of the hob.", "target", "hob"),
        ("Unplug the toaster by pulling the plug out of the socket.", "source", "socket"),
    ],
)
def test_roles(text: str, role: str, expected: str) -> None:
    assert [p.head for i in read_intents(text) for p in i.of(role)] == [expected]


def test_phrases() -> None:
    pair = parse("Pick up a pair of tongs.")[0].objects[0]
    assert pair.head == "tongs" and pair.count is None and not pair.plural
    both = parse("Put both plates down.")[0].objects[0]
    assert both.head == "plate" and both.count == 2
    empty = parse("Take the empty pan.")[0].objects[0]
    assert empty.head == "pan" and empty.states == ("empty",)
    bottle = parse("Take the bottle of oil.")[0].objects[0]
    assert (
        bottle.head == "bottle" and bottle.relation == "content" and bottle.of is not None and bottle.of.head == "oil"
    )
    edge = parse("Wipe the edge of the sink.")[0].objects[0]
    assert edge.head == "sink" and edge.region == "edge"
    slice_ = parse("Eat a slice of bread.")[0].objects[0]
    assert slice_.head == "bread" and slice_.piece == "slice"
    second = parse("Open the second drawer.")[0].objects[0]
    assert second.modifiers == ("second",)


def test_hands() -> None:
    assert parse("Open the door using the left hand.")[0].hands == ("left",)
    assert parse("With my right hand, take the cup")[0].hands == ("right",)
    assert parse("Wear the right hand glove.")[0].hands == ()


def test_attempts_and_statements_carry_a_reason() -> None:
    assert read_intents("Try to open the jar.")[0].not_acted is NotActed.ATTEMPT
    assert read_intents("The plate is empty.")[0].not_acted is NotActed.STATEMENT


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("knives", "knife"),
        ("glasses", "glass"),
        ("scissors", "scissors"),
        ("berries", "berry"),
        ("cups", "cup"),
        ("hummus", "hummus"),
    ],
)
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one


@given(st.text(max_size=200))
def test_any_text_is_read_without_failing(text: str) -> None:
    read_intents(text)


@given(
    st.lists(
        st.sampled_from(
            sorted(lexicon().kinds)[:300]
            + sorted(lexicon().forms)[:300]
            + ["the", "and", ",", "of", "with", "to", "from", "it"]
        ),
        max_size=14,
    )
)
def test_any_words_of_the_language_are_read_without_failing(words: list[str]) -> None:
    for intent in read_intents(" ".join(words)):
        assert intent.sense


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("I don't brush this spoon as it's not too dirty.", []),
        ("Place it near the sink, but do not set it down completely.", ["put"]),
        ("I don't eventually unlock the hob now since it's not necessary.", []),
        ("As I can not find the lid, I open the cupboard.", ["open"]),
        ("I don't brush it and put it in the dishwasher.", ["insert"]),
        ("Let go of the handle with the left hand.", ["drop"]),
        ("I picked the lid and let go of it.", ["take", "drop"]),
    ],
)
def test_what_is_denied_is_not_done(text: str, acts: list[str]) -> None:
    assert [intent.sense for intent in read_intents(text) if not intent.not_acted] == acts


def test_a_handrail_is_no_hand() -> None:
    assert lexicon().kind("handrail") == "hook"
    assert said("Move the dough from one hand to the other.") == [("move", "dough")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#C C picks the knife from the table with his right hand.", [("take", "knife")]),
        ("The person opens the fridge and takes out the milk.", [("open", "fridge"), ("take_out", "milk")]),
        ("The student presses the button.", [("press", "button")]),
        ("C places the tomato in the fridge.", [("insert", "tomato")]),
        ("While the left hand holds it, the right hand presses the button.", [("press", "button")]),
        ("Take the cup. I'll wash it later.", [("take", "cup")]),
        ("Push the brush inside the dishwasher so that the dishwasher can close later.", [("move", "brush")]),
    ],
)
def test_subjects(text: str, expected: list[tuple[str, str]]) -> None:
    assert [act for act in said(text) if act[0] != "hold"] == expected


@pytest.mark.parametrize(("file", "head", "word"), [("verbs.txt", "wash", "chill"), ("nouns.txt", "bowl", "kettle")])
def test_a_word_of_two_senses_or_kinds_is_refused(
    file: str, head: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = lexicon_module._entries

    def entries(name: str) -> Iterator[tuple[str, list[str]]]:
        yield from read(name)
        if name == file:
            yield head, [word]

    monkeypatch.setattr(lexicon_module, "_entries", entries)
    with pytest.raises(DeclarationError, match=f"keep one in {file}"):
        lexicon_module.lexicon.__wrapped__()
