"""Subgoals from a goal and its initial scene, by rule or by a model; validated, and measured for their stability.
Stage: judge.

The rule reads the goal's clauses; it knows no step that the goal does not name. A model sees the scene and may add
them. What is not a valid plan is asked for again, then kept as a plan without subgoals and with its error: its videos
have no score, and are counted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from ego2world.core.breaker import Breaker
from ego2world.core.canonical import canonical_json, sha256
from ego2world.core.journal import rewrite
from ego2world.core.models import Image, Message, ModelClient, Request, Text, json_object
from ego2world.core.prompting import prompt, prompts_sha256
from ego2world.errors import ModelError, RecordError
from ego2world.judge.benchmark import Benchmark, Progress, read_lines
from ego2world.judge.records import Case, Clutter, Setting, Subgoal, SubgoalCategory, SubgoalPlan

HERE = "ego2world.judge"
PROMPTS = ("plan_system.txt", "plan_user.txt.j2")
MOST_SUBGOALS = 12
RULE = "rule"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["subgoals"],
    "properties": {
        "subgoals": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_SUBGOALS,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "objects", "post_state", "category"],
                "properties": {
                    "text": {"type": "string"},
                    "objects": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                    "post_state": {"type": "string"},
                    "category": {"type": "string", "enum": [c.value for c in SubgoalCategory]},
                },
            },
        }
    },
}


@dataclass(frozen=True)
class SubgoalPlanner:
    """Who plans: the rule, or a model.

    per_video: one plan a video, as the paper does, instead of one a case.
    attempts: replies asked for where they are no valid plan.
    """

    client: ModelClient | None = None
    per_video: bool = False
    attempts: int = 2
    temperature: float | None = 0.0
    max_tokens: int | None = 1200
    concurrency: int = 4

    @property
    def backbone(self) -> str:
        """Its name in plans."""
        return RULE if self.client is None else self.client.name

    @property
    def prompt_sha(self) -> str:
        """Hash of the prompts; "" for the rule."""
        return "" if self.client is None else prompts_sha256(HERE, PROMPTS)


def make_plans(
    bench: Benchmark, out: Path, planner: SubgoalPlanner, progress: Progress | None = None
) -> list[SubgoalPlan]:
    """Write plans.jsonl, and return the plans; those that the file has already, made alike, are kept.

    Args:
        bench: the cases and their videos.
        out: the file.
        planner: see ``SubgoalPlanner``.
        progress: called with (case or video, done, total).
    """
    wanted = _wanted(bench, planner)
    before = {plan.plan_id: plan for plan in read_lines(out, SubgoalPlan)} if out.is_file() else {}
    done: dict[str, SubgoalPlan] = {}
    todo = []
    for case, video, plan_id in wanted:
        old = before.get(plan_id)
        alike = old is not None and (old.backbone, old.prompt_sha, old.scene_sha256, old.error) == (
            planner.backbone,
            planner.prompt_sha,
            case.scene_sha256,
            "",
        )
        if alike and old is not None:
            done[plan_id] = old
        else:
            todo.append((case, video, plan_id))
    if todo:
        breaker = Breaker()
        with ThreadPoolExecutor(planner.concurrency if planner.client else 1) as pool:
            made = pool.map(lambda one: _plan(bench, planner, breaker, *one), todo)
            for number, plan in enumerate(made, 1):
                done[plan.plan_id] = plan
                if progress:
                    progress(plan.plan_id, number, len(todo))
                if number % 20 == 0 or number == len(todo):
                    rewrite(out, (done[i].plain() for _, _, i in wanted if i in done))
    plans = [done[plan_id] for _, _, plan_id in wanted]
    rewrite(out, (plan.plain() for plan in plans))
    return plans


def _wanted(bench: Benchmark, planner: SubgoalPlanner) -> list[tuple[Case, str | None, str]]:
    if not planner.per_video:
        return [(case, None, f"{case.case_id}.plan") for case in bench.cases]
    cases = bench.by_case
    return [(cases[v.case_id], v.video_id, f"{v.video_id}.plan") for v in bench.videos]


def _plan(
    bench: Benchmark, planner: SubgoalPlanner, breaker: Breaker, case: Case, video: str | None, plan_id: str
) -> SubgoalPlan:
    subgoals: tuple[Subgoal, ...] = ()
    error, attempt = "", 1
    if planner.client is None:
        subgoals = by_rule(case)
        error = "" if subgoals else "the goal has no clause that names something to be true"
    else:
        for attempt in range(1, planner.attempts + 1):
            if breaker.is_open:
                error = f"not asked any more: {breaker.reason}"
                break
            try:
                found = read_plan(planner.client.generate(_request(bench, planner, case, plan_id, attempt)).text)
                breaker.note(False)
            except ModelError as failed:
                error = str(failed)
                breaker.note(True, error)
                break
            if isinstance(found, tuple):
                subgoals, error = found, ""
                break
            error = found
    return SubgoalPlan(
        plan_id=plan_id,
        case_id=case.case_id,
        video_id=video,
        subgoals=subgoals,
        backbone=planner.backbone,
        prompt_sha=planner.prompt_sha,
        scene_sha256=case.scene_sha256,
        attempts=attempt,
        error=error,
    )


def _request(bench: Benchmark, planner: SubgoalPlanner, case: Case, plan_id: str, attempt: int) -> Request:
    path = bench.root / case.scene_image
    parts: list[Text | Image] = [Text(prompt(HERE, "plan_user.txt.j2", goal=case.goal, objects=list(case.objects)))]
    if case.scene_image and path.is_file():
        kind = "image/jpeg" if path.suffix.lower() in (".jpg", ".jpeg") else f"image/{path.suffix[1:].lower()}"
        parts.append(Image(path.read_bytes(), kind))
    messages = (Message("system", (Text(prompt(HERE, "plan_system.txt")),)), Message("user", tuple(parts)))
    return Request(messages, _SCHEMA, "plan", planner.temperature, attempt - 1, planner.max_tokens, plan_id)


def read_plan(text: str) -> tuple[Subgoal, ...] | str:
    """Read a model's plan; return its subgoals, or what is wrong with it."""
    data = json_object(text)
    rows = data.get("subgoals") if data is not None else None
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_SUBGOALS:
        return f"needed 1 to {MOST_SUBGOALS} subgoals"
    found = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            return f"subgoal {number} is no object"
        what, done, objects = row.get("text"), row.get("post_state"), row.get("objects")
        if not isinstance(what, str) or not what.strip() or not isinstance(done, str) or not done.strip():
            return f"subgoal {number} lacks its text or what is seen once it is done"
        if not isinstance(objects, list) or not objects or not all(isinstance(o, str) and o.strip() for o in objects):
            return f"subgoal {number} names no objects"
        if row.get("category") not in set(SubgoalCategory):
            return f"subgoal {number}: no category {row.get('category')!r}"
        found.append(
            Subgoal(
                sid=f"s{number}",
                text=what.strip(),
                objects=tuple(o.strip() for o in objects),
                post_state=done.strip(),
                category=SubgoalCategory(row["category"]),
            )
        )
    if len({one.text.casefold() for one in found}) < len(found):
        return "two subgoals are the same"
    return tuple(found)


_CATEGORY_WORDS = (
    (
        SubgoalCategory.ATTACHMENT,
        r"\b(cover|covered|lid|attach|attached|connect|connected|plug|plugged|screw|clip|cap|zip|button|tied|fasten)",
    ),
    (SubgoalCategory.ARTICULATION, r"\b(open|closed|close|shut|drawer is|door is)\b"),
    (
        SubgoalCategory.TRANSFER,
        r"\b(water|milk|oil|juice|coffee|tea|soup|sauce|sugar|salt|flour|rice|poured|mixed|stirred|filled|full|contains)\b",
    ),
    (SubgoalCategory.RELOCATION, r"\b(in|on|into|onto|under|beside|between|inside|next to|arranged|stacked)\b"),
)


def by_rule(case: Case) -> tuple[Subgoal, ...]:
    """Return a subgoal a clause of the goal; its objects are those of the case that it names, else its nouns by
    position."""
    clauses = [
        c.strip(" .")
        for c in re.split(r"[;.\n]|,? and (?=(?:the|a|an|it|they|all|both)\b)|, (?=(?:the|a|an)\b)", case.goal)
        if c.strip(" .")
    ]
    found = []
    for number, clause in enumerate(dict.fromkeys(clauses), 1):
        lowered = clause.casefold()
        named = tuple(o for o in case.objects if re.search(rf"\b{re.escape(o.casefold())}\b", lowered))
        category = next((c for c, words in _CATEGORY_WORDS if re.search(words, lowered)), SubgoalCategory.OTHER)
        found.append(
            Subgoal(
                sid=f"s{number}",
                text=f"make this true: {clause}",
                objects=named or (clause,),
                post_state=clause,
                category=category,
            )
        )
    return tuple(found[:MOST_SUBGOALS])


def read_plans(path: Path, bench: Benchmark) -> dict[str, SubgoalPlan]:
    """Read plans; return the plan of every video that has one, its own before its case's.

    Raises:
        RecordError: lines are no plans, or plans of other scenes than the benchmark's.
    """
    plans = read_lines(path, SubgoalPlan)
    cases = bench.by_case
    stale = [p.plan_id for p in plans if p.case_id in cases and p.scene_sha256 != cases[p.case_id].scene_sha256]
    if stale:
        raise RecordError(
            str(path), f"{len(stale)} plans are of another scene than the benchmark's, such as {stale[0]}; plan again"
        )
    own = {plan.video_id: plan for plan in plans if plan.video_id is not None}
    shared = {plan.case_id: plan for plan in plans if plan.video_id is None}
    return {
        v.video_id: found for v in bench.videos if (found := own.get(v.video_id) or shared.get(v.case_id)) is not None
    }


def plans_sha256(plans: Sequence[SubgoalPlan]) -> str:
    """Return the hash of what is asked about."""
    return sha256(canonical_json(sorted([p.plan_id, [s.plain() for s in p.subgoals]] for p in plans)))


def stability(plans: Sequence[SubgoalPlan]) -> dict[str, Any]:
    """Return how alike the plans of a case are: the share of pairs with as many subgoals, and how far they name the
    same objects.

    Objects are compared without case and articles, as sets over the whole plan (Jaccard). None where no case has two
    plans.
    """
    by_case: dict[str, list[SubgoalPlan]] = defaultdict(list)
    for plan in plans:
        if plan.subgoals:
            by_case[plan.case_id].append(plan)
    same, alike, modal, total = 0, 0.0, 0, 0
    pairs = 0
    for rows in by_case.values():
        counts = [len(plan.subgoals) for plan in rows]
        modal += max(counts.count(c) for c in set(counts)) if len(rows) > 1 else 0
        total += len(rows) if len(rows) > 1 else 0
        for a, b in combinations(rows, 2):
            one, two = _objects(a), _objects(b)
            pairs += 1
            same += len(a.subgoals) == len(b.subgoals)
            alike += len(one & two) / len(one | two) if one | two else 1.0
    return {
        "plans": len(plans),
        "without_subgoals": sum(not plan.subgoals for plan in plans),
        "cases": len(by_case),
        "pairs": pairs,
        "same_count": same / pairs if pairs else None,
        "same_objects": alike / pairs if pairs else None,
        "usual_count": modal / total if total else None,
    }


def _objects(plan: SubgoalPlan) -> set[str]:
    return {re.sub(r"^(the|a|an) ", "", o.casefold().strip()) for s in plan.subgoals for o in s.objects}


def mock_plan(request: Request) -> str:
    """Plan without a model, for trying things out: the clauses of the goal."""
    found = re.search(r"Goal: <data>(.*?)</data>", request.messages[-1].text)
    case = Case(
        case_id="",
        domain=Setting.OTHER,
        goal=found[1] if found else "",
        scene_image="",
        scene_sha256="",
        clutter=Clutter.LOW,
        objects=(),
    )
    rows = [
        {"text": s.text, "objects": list(s.objects), "post_state": s.post_state, "category": s.category.value}
        for s in by_rule(case)
    ]
    return canonical_json({"subgoals": rows}).decode()
