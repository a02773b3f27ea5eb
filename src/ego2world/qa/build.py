"""Worlds to checked questions, stage by stage. Stage: qa, the engine.

    interactions -> evidence -> stages -> relations -> candidates -> checked        each a file per episode
    all episodes -> groups.jsonl, rejected.jsonl, review.jsonl, manifest.json

A stage's file begins with its provenance: what made it, from what, under which settings. A file whose provenance still
holds is used again, so an interrupted run resumes where it stopped, and an episode that did not change costs nothing.
A stage that fails says so in its file; the other episodes go on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ego2world import __version__
from ego2world.core.canonical import canonical_json, json_lines, pretty_json, sha256, write_atomic
from ego2world.core.cluster import workers
from ego2world.core.journal import read_versioned
from ego2world.core.load import load, source_sha256
from ego2world.core.models import ModelClient
from ego2world.core.provenance import Product, code_sha256
from ego2world.errors import Ego2WorldError, RecordError, UsageError
from ego2world.qa.checks import CheckContext, check_group
from ego2world.qa.checks.collection import collection_findings
from ego2world.qa.checks.repairs import repair_findings
from ego2world.qa.choose import Quota, blocks, choose, groups_of
from ego2world.qa.codes import Severity
from ego2world.qa.enrich import divided, meant, related
from ego2world.qa.evidence import evidence_of
from ego2world.qa.interactions import interactions_of
from ego2world.qa.propose import identity, observations, propose, validated
from ego2world.qa.recipes import RECIPES, RecipeContext
from ego2world.qa.recording import Recording
from ego2world.qa.records import (
    Evidence,
    Finding,
    GroupStatus,
    Interaction,
    QuestionGroup,
    QuestionRecord,
    Relation,
    Stage,
)
from ego2world.qa.repair import ROUNDS, repaired
from ego2world.qa.replay import EpisodeReplayer
from ego2world.qa.stages import episodes_of, relations_of
from ego2world.qa.taxonomy import Category, Level, Modality
from ego2world.world.episode import load_manifest

SCHEMA_VERSION = 1
Progress = Callable[[str, int, int], None]
STAGES: dict[str, type[QuestionRecord]] = {
    "interactions": Interaction,
    "evidence": Evidence,
    "stages": Stage,
    "relations": Relation,
    "candidates": QuestionGroup,
    "proposals": QuestionGroup,
    "checked": QuestionGroup,
}
FILES = {"accepted": "groups.jsonl", "rejected": "rejected.jsonl", "review": "review.jsonl"}


@dataclass(frozen=True)
class QuestionSettings:
    """What questions are made with; stored in the manifest. ``test_share``: of the videos, for the split "test"."""

    plan: Quota = field(default_factory=Quota)
    test_share: float = 0.2
    episodes: tuple[str, ...] = ()
    recipes: tuple[str, ...] = ()  # further ones as "module:name"

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return self.plan.plain() | {"test_share": self.test_share, "recipes": self.made_by}

    @cached_property
    def made_by(self) -> dict[str, str]:
        """Further recipes by name, each with the digest of its source."""
        return {name: source_sha256(name, "recipe") for name in self.recipes}


def build(
    worlds: Path,
    out: Path,
    settings: QuestionSettings,
    jobs: int = 1,
    progress: Progress | None = None,
    ray: str | None = None,
    connect: Callable[[], ModelClient] | None = None,
) -> dict[str, Any]:
    """Make and check questions on a collection of worlds, and return the manifest that is written.

    Args:
        worlds: a compiled collection.
        out: the folder of the questions; what is in it and still holds is used again.
        settings: see ``QuestionSettings``.
        jobs: processes.
        progress: called with (episode, finished, total).
        ray: address of a cluster that does the episodes, see core.cluster; worlds and ``out`` must be at the same
            paths there.
        connect: opens a model that proposes questions too; must be picklable with several processes.

    Raises:
        UsageError: no such episode, or no worlds.
        RecordError: the worlds were changed after they were compiled.
    """
    for recipe in settings.recipes:
        load(recipe, "recipe")  # one that is not there is told before anything is written
    manifest = load_manifest(worlds)
    unknown = [one for one in settings.episodes if one not in manifest["episodes"]]
    if unknown:
        raise UsageError(f"{worlds} has no episode {', '.join(unknown)}; it has: {', '.join(manifest['episodes'])}")
    names = list(settings.episodes) or list(manifest["episodes"])
    failed = _all_episodes(worlds, out, names, settings, jobs, progress, ray, connect)
    groups = [group for name in names if name not in failed for group in read_stage(out, name, "checked")]
    sorted_out = _sorted_out([group for group in groups if isinstance(group, QuestionGroup)], settings)
    for status, file in FILES.items():
        write_atomic(out / file, json_lines(msgspec.to_builtins(group) for group in sorted_out[status]))
    made = _manifest(worlds, manifest, names, failed, settings, sorted_out)
    write_atomic(out / "manifest.json", pretty_json(made))
    return made


def _all_episodes(
    worlds: Path,
    out: Path,
    names: Sequence[str],
    settings: QuestionSettings,
    jobs: int,
    progress: Progress | None,
    ray: str | None,
    connect: Callable[[], ModelClient] | None,
) -> dict[str, dict[str, str]]:
    """Run the stages of all episodes; return the failures, as episode -> {code, message}."""
    failed: dict[str, dict[str, str]] = {}
    if progress:
        progress("", 0, len(names))
    if jobs <= 1 and ray is None:
        for done, name in enumerate(names, 1):
            failure = build_episode(worlds, out, name, settings, connect)
            if failure:
                failed[name] = failure
            if progress:
                progress(name, done, len(names))
        return failed
    with workers(min(jobs, len(names)), ray) as pool:
        futures = {pool.submit(build_episode, worlds, out, name, settings, connect): name for name in names}
        for done, future in enumerate(as_completed(futures), 1):
            failure = future.result()
            if failure:
                failed[futures[future]] = failure
            if progress:
                progress(futures[future], done, len(names))
    return dict(sorted(failed.items()))


def build_episode(
    worlds: Path, out: Path, name: str, settings: QuestionSettings, connect: Callable[[], ModelClient] | None = None
) -> dict[str, str] | None:
    """Run the stages of one episode; return why it failed, None when it did not."""
    try:
        _Episode(worlds, out, name, settings, connect).run()
    except RecordError:
        raise
    except Ego2WorldError as error:
        return {"code": type(error).__name__, "message": str(error)}
    return None


class _Episode:
    """One episode on its way through the stages; what a stage needs is made only where its file does not hold."""

    def __init__(
        self,
        worlds: Path,
        out: Path,
        name: str,
        settings: QuestionSettings,
        connect: Callable[[], ModelClient] | None = None,
    ) -> None:
        self.connect = connect
        self.worlds, self.out, self.name, self.settings = worlds, out, name, settings
        self.frozen: str = load_manifest(worlds)["episodes"][name]["sha256"]
        self.config = sha256(canonical_json([settings.plan.plain(), settings.made_by]))

    @cached_property
    def context(self) -> RecipeContext:
        return RecipeContext(Recording.load(self.worlds, self.name))

    @cached_property
    def replayer(self) -> EpisodeReplayer:
        return EpisodeReplayer(self.context.recording.episode)

    def run(self) -> None:
        """Run all stages; a model, where there is one, is asked for more at each."""
        with closing(self.connect()) if self.connect is not None else nullcontext() as client:
            self._run(client)

    def _run(self, client: ModelClient | None) -> None:
        who = identity(client) if client is not None else None

        def records() -> Sequence[Interaction]:
            found = interactions_of(self.context, self._notes())
            return found if client is None else meant(self.context, found, client)

        def stages() -> Sequence[Stage]:
            found = episodes_of(self.context, interactions)
            return found if client is None else divided(self.context, found, interactions, client)

        def relations() -> Sequence[Relation]:
            found = relations_of(self.context, parts)
            return found if client is None else related(self.context, self.replayer, found, parts, client)

        interactions = self.stage("interactions", (), records, who)
        evidence = self.stage("evidence", (), lambda: evidence_of(self.context.recording))
        parts = self.stage("stages", ("interactions",), stages, who)
        known = {one.id: one for one in self.stage("relations", ("stages",), relations, who)}
        pool = {one.id: one for one in evidence}
        candidates = self.stage("candidates", ("evidence", "relations"), lambda: self._candidates(pool, known))
        parents: tuple[str, ...] = ("candidates",)
        if client is not None:
            candidates = [
                *candidates,
                *self.stage("proposals", ("evidence", "relations"), lambda: propose(self.context, client), who),
            ]
            parents = ("candidates", "proposals")
        self.stage("checked", parents, lambda: self._checked(candidates, pool, known, client), who)

    def stage(
        self,
        name: str,
        parents: tuple[str, ...],
        make: Callable[[], Sequence[Any]],
        model: Mapping[str, str] | None = None,
    ) -> list[Any]:
        """Return a stage's records: those of its file where its provenance holds, else newly made and written."""
        path = stage_path(self.out, self.name, name)
        inputs = sha256(
            canonical_json([self.frozen, *(sha256(stage_path(self.out, self.name, p).read_bytes()) for p in parents)])
        )
        head = {
            "record": "provenance",
            "record_id": f"{self.name}/{name}",
            "parents": [f"{self.name}/{parent}" for parent in parents],
            "producer": {
                "name": f"ego2world.qa.{name}",
                "version": __version__,
                "code_sha256": code_sha256(Product.QUESTIONS),
                "kind": "model" if model else "rule",
                **(model or {}),
            },
            "input_hash": inputs,
            "config_hash": self.config,
            "status": "ok",
        }
        if path.is_file():
            with path.open("rb") as file:
                if file.readline() == canonical_json(head) + b"\n":
                    return read_stage(self.out, self.name, name)
        rows = list(make())
        write_atomic(path, json_lines([head, *(msgspec.to_builtins(row) for row in rows)]))
        return rows

    def _notes(self) -> list[dict[str, Any]]:
        text = (self.worlds / "episodes" / self.name / "notes.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def _candidates(self, evidence: Mapping[str, Evidence], relations: Mapping[str, Relation]) -> list[QuestionGroup]:
        plan = self.settings.plan
        recipes = (*RECIPES, *(load(name, "recipe") for name in self.settings.recipes))
        drafts = choose((draft for recipe in recipes for draft in recipe(self.context)), plan, self.replayer)
        return groups_of(self.name, drafts, blocks(drafts, CheckContext(self.replayer, evidence, relations), plan))

    def _checked(
        self,
        candidates: Sequence[QuestionGroup],
        evidence: Mapping[str, Evidence],
        relations: Mapping[str, Relation],
        client: ModelClient | None,
    ) -> list[QuestionGroup]:
        case = CheckContext(self.replayer, evidence, relations)
        out = []
        for candidate in candidates:
            group = checked(candidate, case)
            if (
                client is not None
                and group.producer != "rule"
                and group.status in (GroupStatus.ACCEPTED, GroupStatus.REPAIRED)
            ):
                text = observations(self.context, group.clip.start_s, group.clip.end_s)
                findings = (*group.validation, *validated(group, text, client))
                group = replace(group, validation=findings, status=_status(findings, bool(group.repairs)))
            out.append(group)
        return out


def checked(group: QuestionGroup, case: CheckContext) -> QuestionGroup:
    """Return a candidate with its findings and its status, repaired where that is allowed."""
    findings = check_group(group, case)
    after, rounds = group, 0
    while any(f.severity == Severity.ERROR for f in findings) and rounds < ROUNDS:
        mended = repaired(after, findings, case)
        if mended is None:
            break
        again = [*check_group(mended, case), *repair_findings(group, mended)]
        if {f.code for f in again} >= {f.code for f in findings if f.severity == Severity.ERROR}:
            break
        after, findings, rounds = mended, again, rounds + 1
    return replace(after, status=_status(findings, bool(after.repairs)), validation=tuple(findings))


def _status(findings: Sequence[Finding], mended: bool) -> GroupStatus:
    severities = {f.severity for f in findings}
    if Severity.ERROR in severities:
        return GroupStatus.REJECTED
    if Severity.REVIEW in severities:
        return GroupStatus.REVIEW
    return GroupStatus.REPAIRED if mended else GroupStatus.ACCEPTED


def _sorted_out(groups: Sequence[QuestionGroup], settings: QuestionSettings) -> dict[str, list[QuestionGroup]]:
    """Return the groups by what becomes of them, after the checks that need all of them; the split goes by video."""
    alive = [group for group in groups if group.status is not GroupStatus.REJECTED]
    found = collection_findings(alive)
    out: dict[str, list[QuestionGroup]] = {"accepted": [], "rejected": [], "review": []}
    seen: Counter[str] = Counter()
    for group in groups:
        if group.status is GroupStatus.REJECTED:
            out["rejected"].append(group)
            continue
        seen[group.id] += 1
        more = [f for f in found.get(group.id, ()) if f.code != "ID_DUP" or seen[group.id] > 1]
        findings = (*group.validation, *more)
        status = _status(findings, bool(group.repairs))
        split = "test" if int(sha256(group.clip.video.encode())[:8], 16) / 0xFFFFFFFF < settings.test_share else "train"
        group = replace(group, validation=findings, status=status, split=split)
        out["accepted" if status is GroupStatus.REPAIRED else status.value].append(group)
    return out


def _manifest(
    worlds: Path,
    manifest: Mapping[str, Any],
    names: Sequence[str],
    failed: Mapping[str, Any],
    settings: QuestionSettings,
    sorted_out: Mapping[str, Sequence[QuestionGroup]],
) -> dict[str, Any]:
    accepted = sorted_out["accepted"]

    def counts(name: str, all_of: Sequence[str] = ()) -> dict[str, int]:
        found = Counter(str(getattr(group, name)) for group in accepted)
        return {key: found[key] for key in (*all_of, *sorted(set(found) - set(all_of)))}

    codes = Counter(
        f.code
        for group in sorted_out["rejected"]
        for f in {f.code: f for f in group.validation if f.severity == "error"}.values()
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "ego2world": __version__,
        "code_sha256": code_sha256(Product.QUESTIONS),
        "settings": settings.plain(),
        "worlds": str(worlds),
        "episodes": {name: manifest["episodes"][name]["sha256"] for name in names},
        "failed": dict(failed),
        "by_producer": counts("producer"),
        "totals": {
            "accepted": len(accepted),
            "rejected": len(sorted_out["rejected"]),
            "review": len(sorted_out["review"]),
            "repaired": sum(group.status is GroupStatus.REPAIRED for group in accepted),
            "turns": sum(len(group.turns) for group in accepted),
        },
        "by_category": counts("category", [one.value for one in Category]),
        "by_level": counts("level", [one.value for one in Level]),
        "by_modality": counts("modality", [one.value for one in Modality]),
        "by_turns": dict(sorted(Counter(str(len(group.turns)) for group in accepted).items())),
        "by_format": counts("format"),
        "by_split": counts("split"),
        "by_template": counts("template"),
        "rejected_by_code": dict(sorted(codes.items())),
    }


def stage_path(out: Path, episode: str, stage: str) -> Path:
    """Return where a stage of an episode is kept."""
    return out / "episodes" / episode / f"{stage}.jsonl"


def read_stage(out: Path, episode: str, stage: str) -> list[Any]:
    """Read a stage's records.

    Raises:
        RecordError: a line is no such record.
    """
    return read_records(stage_path(out, episode, stage), STAGES[stage], skip=1)


def read_records(path: Path, kind: type[QuestionRecord], skip: int = 0) -> list[Any]:
    """Read a file of records, one a line.

    Raises:
        RecordError: the file is missing, or a line is no such record.
    """
    if not path.is_file():
        raise RecordError(str(path), "missing; make it with: ego2world qa build WORLDS --out QA")
    decoder = msgspec.json.Decoder(kind)
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if number <= skip:
            continue
        try:
            found.append(decoder.decode(line))
        except msgspec.MsgspecError as error:
            raise RecordError(str(path), f"{error}; restore the file or build again", number) from None
    return found


def read_manifest(qa: Path) -> dict[str, Any]:
    """Read the manifest of a folder of questions.

    Raises:
        UsageError: there is none.
        RecordError: it is damaged or of another version.
    """
    missing = f"{qa} contains no questions (no manifest.json); make some with: ego2world qa build WORLDS --out {qa}"
    return read_versioned(qa / "manifest.json", SCHEMA_VERSION, missing, "build again")
