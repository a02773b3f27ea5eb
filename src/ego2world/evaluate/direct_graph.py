"""A world written by a language model at once, instead of compiled: how much of it do the annotations not bear out?

A model reads the narrations, some at a time, and writes entities and facts. Each is checked against the annotations:

    entity   hallucinated when its words are no thing of the episode: neither narrated, nor tracked, nor a fixture
    fact     hallucinated when neither thing is one of the episode's, or the place is none that the thing has at any
             time

The compiled world is put to the same entity check. Its facts have their source rows by construction; how many
operations were inferred beyond them is in its manifest and reported beside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from ego2world.agents.prompting import one_line
from ego2world.agents.replies import read_json
from ego2world.core.models import Message, ModelClient, Request, Text, Usage, user
from ego2world.language.intents import read_intents
from ego2world.language.lexicon import lexicon
from ego2world.ontology.kinds import Trait, kinds_with
from ego2world.world.episode import Episode, load_episode, load_manifest, reference_states
from ego2world.world.state import HANDS

CHUNK = 40  # narrations in one request
Progress = Callable[[str, int, int], None]
_NAME = {"type": "string"}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "entities": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": _NAME, "type": _NAME},
                "required": ["name", "type"],
                "additionalProperties": False,
            },
        },
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "thing": _NAME,
                    "relation": {"type": "string", "enum": ["in", "on", "held"]},
                    "where": _NAME,
                },
                "required": ["thing", "relation", "where"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["entities", "facts"],
    "additionalProperties": False,
}


@dataclass
class Graph:
    """What a model wrote, names in lower case."""

    entities: dict[str, str] = field(default_factory=dict)
    facts: list[tuple[str, str, str]] = field(default_factory=list)
    calls: int = 0
    unreadable: int = 0
    usage: Usage = field(default_factory=Usage)


def write_graph(episode: Episode, client: ModelClient) -> Graph:
    """Let a model write an episode's world from its narrations."""
    graph = Graph()
    texts = list(episode.narrations.values())
    for start in range(0, len(texts), CHUNK):
        reply = client.generate(graph_request(texts[start : start + CHUNK], f"{episode.id}/graph/{start}"))
        graph.calls += 1
        graph.usage += reply.usage or Usage()
        said = read_json(reply.text)
        if not isinstance(said, dict):
            graph.unreadable += 1
            continue
        for one in said.get("entities") or ():
            if isinstance(one, dict) and str(one.get("name", "")).strip():
                graph.entities[one_line(str(one["name"]).lower())] = str(one.get("type", ""))
        for one in said.get("facts") or ():
            if isinstance(one, dict) and {"thing", "relation", "where"} <= one.keys():
                graph.facts.append(
                    (one_line(str(one["thing"]).lower()), str(one["relation"]), one_line(str(one["where"]).lower()))
                )
    graph.facts = list(dict.fromkeys(graph.facts))
    return graph


def graph_request(narrations: Sequence[str], tag: str) -> Request:
    """Return the request for the world of some narrations."""
    rules = (files("ego2world.evaluate") / "prompts" / "graph_system.txt").read_text("utf-8")
    listed = "\n".join(f"- {one_line(text)}" for text in narrations)
    return Request(
        (Message("system", (Text(rules),)), user(f"<<<\n{listed}\n>>>")), SCHEMA, "graph", max_tokens=4096, tag=tag
    )


def check_graph(episode: Episode, graph: Graph) -> dict[str, Any]:
    """Return how many entities and facts of a graph the annotations do not bear out, and which."""
    known = EntityNames(episode)
    places = _places(episode)
    bad_entities = sorted(name for name in graph.entities if not known.has(name))
    bad_facts = []
    for thing, relation, where in graph.facts:
        things, homes = known.ids(thing), known.ids(where)
        kept = any((one, relation == "held", home) in places for one in things for home in homes)
        if not kept:
            bad_facts.append([thing, relation, where])
    total = len(graph.entities) + len(graph.facts)
    return {
        "episode": episode.id,
        "entities": len(graph.entities),
        "entities_hallucinated": len(bad_entities),
        "facts": len(graph.facts),
        "facts_hallucinated": len(bad_facts),
        "rate": (len(bad_entities) + len(bad_facts)) / total if total else None,
        "calls": graph.calls,
        "unreadable": graph.unreadable,
        "tokens": graph.usage.total_tokens,
        "hallucinated": {"entities": bad_entities, "facts": bad_facts},
    }


class EntityNames:
    """The things that an episode's annotations speak of, found by any of their names, or by their words in the
    narrations."""

    def __init__(self, episode: Episode) -> None:
        self._ids: dict[str, set[str]] = {hand.replace("_", " "): {hand} for hand in HANDS}
        for entity in episode.world.entities.values():
            for name in {entity.name, *entity.names, re.sub(r"\s*\d+$", "", entity.name)}:
                self._ids.setdefault(" ".join(_singular(name)), set()).add(entity.id)
        self._texts = [" ".join(_singular(text)) for text in episode.narrations.values()]

    def ids(self, name: str) -> set[str]:
        """Return the entities that a name may mean: the full name, else its last word."""
        words = _singular(name)
        return self._ids.get(" ".join(words)) or (self._ids.get(words[-1]) if words else None) or set()

    def has(self, name: str) -> bool:
        """Say whether a name is narrated in these words, or is that of an entity."""
        words = " ".join(_singular(name))
        return bool(words) and (
            bool(self._ids.get(words)) or any(re.search(rf"\b{re.escape(words)}\b", text) for text in self._texts)
        )


def _singular(text: str) -> list[str]:
    words = [w for w in re.findall(r"[a-z0-9-]+", text.lower()) if w not in {"the", "a", "an", "some"}]
    return [w[:-1] if w.endswith("s") and len(w) > 3 and not w.endswith("ss") else w for w in words]


def _places(episode: Episode) -> set[tuple[str, bool, str]]:
    """Return (thing, held, where) for every place that a thing has at any time of the reference."""
    found: set[tuple[str, bool, str]] = set()
    for state in reference_states(episode):
        found |= {
            (key[1], value[0] == "held", value[1])
            for key, value in state.facts.items()
            if key[0] == "place" and isinstance(value, tuple)
        }
        found |= {
            (key[2], False, key[1]) for key, value in state.facts.items() if key[0] == "contains" and value is True
        }
    return found


def compiled_graph(episode: Episode) -> dict[str, Any]:
    """Return the same entity check of the compiled world, and its inferred operations."""
    known = EntityNames(episode)
    named = [e for e in episode.world.entities.values() if e.type not in kinds_with(Trait.UNSEEN)]
    bad = [e.name for e in named if not e.evidence and not any(known.has(n) for n in (*e.names, e.name))]
    inferred = sum(bool(o["inferred"]) for o in episode.operations)
    return {
        "entities": len(named),
        "entities_hallucinated": len(bad),
        "operations": len(episode.operations),
        "operations_inferred": inferred,
    }


def compare_graphs(
    worlds: Path, client: ModelClient, episodes: Iterable[str] | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Return the hallucination rate of direct graphs beside the compiled worlds, by episode and over all."""
    names = list(episodes or load_manifest(worlds)["episodes"])
    rows = []
    for number, name in enumerate(names, 1):
        episode = load_episode(worlds, name)
        rows.append(check_graph(episode, write_graph(episode, client)) | {"compiled": compiled_graph(episode)})
        if progress:
            progress(name, number, len(names))
    sums = {
        k: sum(r[k] for r in rows)
        for k in ("entities", "entities_hallucinated", "facts", "facts_hallucinated", "calls", "unreadable", "tokens")
    }
    total = sums["entities"] + sums["facts"]
    return {
        "model": client.name,
        "episodes": rows,
        **sums,
        "rate": (sums["entities_hallucinated"] + sums["facts_hallucinated"]) / total if total else None,
        "compiled": {
            k: sum(r["compiled"][k] for r in rows)
            for k in ("entities", "entities_hallucinated", "operations", "operations_inferred")
        },
        "paper_rate": 0.48,
    }


def mock_graph(request: Request) -> str:
    """Write a graph by the narration parser, sentence by sentence and without any reconciliation."""
    entities: dict[str, str] = {}
    facts: list[dict[str, str]] = []
    for line in re.findall(r"^- (.*)$", request.messages[-1].text, re.M):
        for intent in read_intents(line):
            said = {role: [p.head for p in phrases] for role, phrases in intent.phrases}
            for role in ("object", "source", "target", "instrument"):
                entities |= {name: lexicon().kind(name) or "thing" for name in said.get(role, ()) if name != "hand"}
            for relation, role in ((intent.prep, "target"), ("in", "source")):
                if relation in {"in", "on"}:
                    facts += [
                        {"thing": t, "relation": relation, "where": w}
                        for t in said.get("object", ())
                        for w in said.get(role, ())[:1]
                    ]
    return json.dumps({"entities": [{"name": n, "type": k} for n, k in entities.items()], "facts": facts})
