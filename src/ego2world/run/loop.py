"""Running planners over episodes, several at a time, with records appended as they happen and resumed after a kill.

An episode is the unit that is repeated: rows of episodes that were not finished are dropped when a run resumes, and
these episodes run again from their start. Planners, belief and world are deterministic, and a model's replies are
answered from the run's own journal, so a resumed run ends with the same records as one that was never killed, and pays
for nothing twice.

Errors of a model's service and a spent budget are no failures of the agent: the episode stops, its remaining tasks
stay unscored, and the same command resumes from there.
"""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from io import FileIO
from pathlib import Path
from typing import Any

from ego2world import __version__
from ego2world.agents import Belief, Decoding, Planner, PlannerContext, make_memory, make_planner
from ego2world.agents.prompting import prompt_hashes
from ego2world.core.breaker import Breaker
from ego2world.core.canonical import sha256, strict_json
from ego2world.core.cluster import RayPool, tell
from ego2world.core.folder import open_folder
from ego2world.core.journal import Recorder, Records, group_rows, read_rows
from ego2world.core.lock import join, writing
from ego2world.core.models import ModelClient
from ego2world.core.processes import process_pool
from ego2world.core.provenance import Product, code_sha256
from ego2world.errors import ModelError, RecordError, UsageError
from ego2world.run.chat import Budget, BudgetSpent, EpisodeChat, Meter
from ego2world.run.endings import Ending, Halt, Stopped
from ego2world.run.environment import Environment
from ego2world.run.frames import check_frames, open_frames
from ego2world.run.group import Player, run_group
from ego2world.run.ledger import Kept, Ledger
from ego2world.run.quality import BeliefScorer, changes
from ego2world.run.records import JOURNAL, RECORDS, ended_episodes, tidy
from ego2world.tasks.contract import Contract, Event
from ego2world.tasks.suite import Suite, SuiteRule, check_suite, make_suite
from ego2world.world.episode import Episode, TaskRecord, load_episode, load_manifest
from ego2world.world.observation import Proposal

Progress = Callable[[str, int, int], None]
_Waiting = tuple[int, str, list[dict[str, Any]]]  # an episode's number and name, and its rows of the journal
ORACLE = "oracle"  # the planner that is told plans made in the world itself


@dataclass(frozen=True)
class RunSettings:
    """What a run is made with; stored in run.json but for those after ``temperature``, which may change on a resume."""

    planner: str
    memory: str = "persistent"
    limit: int = 80
    seed: int = 0
    no_progress: int = 0
    script: str | None = None
    episodes: tuple[str, ...] = ()
    frames: str | None = None
    max_tokens: int | None = 2048
    temperature: float | None = 0.0
    concurrency: int = 1
    jobs: int = 1
    budget: Budget = field(default_factory=Budget)
    ray: str | None = None  # address of a cluster that plays the episodes, see core.cluster
    accept_code: bool = False  # resume what other code began

    @property
    def apart(self) -> bool:
        """Whether episodes are played in other processes."""
        return self.jobs > 1 or self.ray is not None


def run(
    worlds: Path,
    out: Path,
    settings: RunSettings,
    suite: Suite | None = None,
    progress: Progress | None = None,
    client: ModelClient | None = None,
    connect: Callable[[], ModelClient] | None = None,
    make: Callable[[PlannerContext], Planner] | None = None,
) -> dict[str, Any]:
    """Run a planner over a collection (or a suite of it) and return run.json, with ``stopped`` added: episode -> why.

    Args:
        worlds: a compiled collection.
        out: the run folder; an unfinished run in it is resumed.
        settings: see ``RunSettings``.
        suite: the tasks to score; every task of the chosen episodes by default.
        progress: called with (episode, finished, total).
        client: the model of planner "llm".
        open_door: how each process opens that model, where ``settings.jobs`` asks for several; must be picklable.
        make: makes the planner, of whatever name, in this process.

    Raises:
        UsageError: unknown episodes, or settings that differ from those the run folder was begun with.
        RecordError: the run folder belongs to other worlds, or artefacts were changed.
    """
    if suite is None:
        suite = make_suite(worlds, "all", SuiteRule(), settings.episodes or list(load_manifest(worlds)["episodes"]))
    elif settings.episodes:
        raise UsageError("--suite and --episodes exclude each other; a suite fixes its episodes")
    check_suite(suite, worlds)
    _check(settings, client, connect)
    record = _record(worlds, settings, suite, client)
    with writing(out):
        _open_run(out, record, settings.accept_code)
        finished = ended_episodes(read_rows(out / "tasks.jsonl")) & set(suite.episodes)
        tidy(out, suite.episodes, finished)
        calls = read_rows(out / JOURNAL)
        journal, meter = group_rows(calls, "episode"), Meter(settings.budget, calls)
        records = Records(out)
        work = _Work(worlds, settings, suite, client, records, meter, make or partial(make_planner, settings.planner))
        waiting = [(n, e, journal.get(e, [])) for n, e in enumerate(suite.episodes, 1) if e not in finished]
        try:
            stopped = _play_all(work, waiting, _Hands(work, out, connect), progress)
        finally:
            records.close()
        tidy(out, suite.episodes, suite.episodes)
    return record | {"stopped": {episode: str(why) for episode, why in sorted(stopped.items())}}


def _check(settings: RunSettings, client: ModelClient | None, connect: Callable[[], ModelClient] | None) -> None:
    """Refuse settings that no run can begin with."""
    check_frames(settings.frames)
    make_memory(settings.memory)
    if settings.planner == ORACLE:
        import_module("ego2world.planning.solve")  # says now, and not in the middle, that an extra is missing
    if settings.apart and settings.budget != Budget():
        raise UsageError("a budget is counted in one process; use --concurrency instead of --jobs or --ray with it")
    if settings.apart and client is not None and connect is None:
        raise UsageError("several processes need a model that each of them can open")


def _record(worlds: Path, settings: RunSettings, suite: Suite, client: ModelClient | None) -> dict[str, Any]:
    """Return run.json."""
    return {
        "planner": settings.planner,
        "memory": make_memory(settings.memory).name,
        "limit": settings.limit,
        "no_progress": settings.no_progress,
        "seed": settings.seed,
        "suite": suite.name,
        "suite_sha256": suite.sha256,
        "suite_tasks": list(suite.tasks),
        "script_sha256": sha256(Path(settings.script).read_bytes()) if settings.script else None,
        "model": client.name if client is not None else None,
        "prompts_sha256": prompt_hashes() if client is not None else None,
        "max_tokens": settings.max_tokens if client is not None else None,
        "temperature": settings.temperature if client is not None else None,
        "frames": settings.frames,
        "episodes": list(suite.episodes),
        "episode_sha256": dict(suite.episode_sha256),
        "worlds": str(worlds),
        "ego2world": __version__,
        "code_sha256": code_sha256(Product.RUN),
        "python": platform.python_version(),
    }


def _play_all(work: _Work, waiting: list[_Waiting], hands: _Hands, progress: Progress | None) -> dict[str, Stopped]:
    """Play the waiting episodes and return why some of them stopped."""
    stopped: dict[str, Stopped] = {}
    total = len(work.suite.episodes)
    done = total - len(waiting)
    if work.settings.apart:  # the longest first, so that no process is left alone with it at the end
        totals = load_manifest(work.worlds)["episodes"]
        waiting.sort(key=lambda one: -totals[one[1]]["totals"]["operations"])
    if progress:
        progress("", done, total)
    with hands.pool:
        futures: dict[Future[Any], str] = {}
        breaker = Breaker()  # of episodes that the service failed in

        def halt() -> None:
            work.halt.set()
            for future in list(futures):
                future.cancel()

        def watch(future: Future[Any]) -> None:  # called by the thread that played, before it takes up another episode
            if future.cancelled() or future.exception():
                return
            why = _why(future.result())
            if (why is None or why.halt is Halt.SERVICE_ERROR) and breaker.note(why is not None):
                halt()

        try:
            for one in waiting:
                future = hands.submit(*one)
                futures[future] = one[1]
                future.add_done_callback(watch)
            for future in as_completed(futures):
                why = Stopped(Halt.INTERRUPTED) if future.cancelled() else hands.reason(future.result())
                if why is not None:
                    stopped[futures[future]] = why
                else:
                    done += 1
                if progress:
                    progress(futures[future], done, total)
        except BaseException:
            halt()
            raise
    return stopped


_Rows = list[tuple[str, Mapping[str, Any]]]  # files' names and what is recorded in them
_Result = Stopped | None | tuple[Stopped | None, _Rows]


def _why(result: _Result) -> Stopped | None:
    """Return why an episode stopped, None where it did not."""
    return result[0] if isinstance(result, tuple) else result


class _Hands:
    """Who plays: threads of this process, processes that each open records and model for themselves, or tasks on a
    cluster."""

    def __init__(self, work: _Work, out: Path, connect: Callable[[], ModelClient] | None) -> None:
        self._work, self._connect, settings = work, connect, work.settings
        self._ledger: Any = None
        self.pool: Executor
        if settings.ray is not None:
            cluster = self.pool = RayPool(settings.ray, settings.jobs)
            self._ledger = cluster.keep(Ledger, out) if work.client is not None else None
        elif settings.jobs > 1:
            self.pool = process_pool(settings.jobs, _begin_here, (work.worlds, out, settings, work.suite, connect))
        else:
            self.pool = ThreadPoolExecutor(settings.concurrency)

    def submit(self, number: int, name: str, journal: list[dict[str, Any]]) -> Future[Any]:
        """Start an episode."""
        work = self._work
        if work.settings.ray is not None:
            episode = load_episode(work.worlds, name)
            return self.pool.submit(
                _episode_far, work.settings, work.suite, self._connect, number, episode, journal, self._ledger
            )
        play = _episode_here if work.settings.jobs > 1 else work.episode
        return self.pool.submit(play, number, name, journal)

    def reason(self, result: _Result) -> Stopped | None:
        """Return why an episode stopped; what a far one recorded is recorded here, whole."""
        for name, row in result[1] if isinstance(result, tuple) else ():
            self._work.records.add(name, row)
        return _why(result)


def _episode_far(
    settings: RunSettings,
    suite: Suite,
    connect: Callable[[], ModelClient] | None,
    number: int,
    episode: Episode,
    journal: Sequence[Mapping[str, Any]],
    ledger: Any,
) -> tuple[Stopped | None, _Rows]:
    """Play an episode on another machine; return why it stopped, and its rows."""
    kept = Kept(ledger)
    before = [*journal, *(tell(ledger, "rows", episode.id) if ledger is not None else ())]
    client = connect() if connect is not None else None
    work = _Work(
        Path(), settings, suite, client, kept, Meter(settings.budget, []), partial(make_planner, settings.planner)
    )
    return work.play(number, episode, before), kept.rows


_here: list[tuple[_Work, FileIO]] = []  # the work of a worker process, and its hold on the run folder


def _begin_here(
    worlds: Path, out: Path, settings: RunSettings, suite: Suite, connect: Callable[[], ModelClient] | None
) -> None:
    client = connect() if connect is not None else None
    make = partial(make_planner, settings.planner)
    _here.append((_Work(worlds, settings, suite, client, Records(out), Meter(settings.budget, []), make), join(out)))


def _episode_here(number: int, episode_id: str, journal: Sequence[Mapping[str, Any]]) -> Stopped | None:
    return _here[0][0].episode(number, episode_id, journal)


def _open_run(out: Path, record: Mapping[str, Any], accept_code: bool) -> None:
    path = out / "run.json"
    if path.is_file():
        known = strict_json(path.read_bytes()).get("episode_sha256", {})
        if any(known.get(episode, digest) != digest for episode, digest in record["episode_sha256"].items()):
            raise RecordError(
                str(path), "this run was made on other worlds (hashes differ); choose another --out folder"
            )
    elif out.is_dir() and any((out / name).exists() for name in RECORDS):
        raise RecordError(str(out), "records without run.json; choose another --out folder")
    open_folder(path, record, "a run", accept_code, told=("worlds",))


@dataclass
class _Work:
    """What the episodes of a run share."""

    worlds: Path
    settings: RunSettings
    suite: Suite
    client: ModelClient | None
    records: Recorder
    meter: Meter
    make: Callable[[PlannerContext], Planner]
    halt: threading.Event = field(default_factory=threading.Event)

    def episode(self, number: int, episode_id: str, journal: Sequence[Mapping[str, Any]]) -> Stopped | None:
        """Run one episode; return why it stopped early, None when it did not."""
        if self.halt.is_set():
            return Stopped(Halt.INTERRUPTED)
        return self.play(number, load_episode(self.worlds, episode_id), journal)

    def play(self, number: int, episode: Episode, journal: Sequence[Mapping[str, Any]]) -> Stopped | None:
        """Play an episode; return why it stopped early, None when it did not."""
        player = self._player(number, episode, journal)
        try:
            play_episode(player, set(self.suite.tasks), self.halt)
        except ModelError as error:
            stopped = Stopped(Halt.SERVICE_ERROR, str(error))
        except BudgetSpent as error:
            stopped = Stopped(Halt.BUDGET, str(error))
            self.halt.set()
        except Interrupted:
            return Stopped(Halt.INTERRUPTED)
        else:
            return None
        group = player.belief.group
        self.records.add(
            "tasks.jsonl",
            {
                "type": "episode_stop",
                "episode": episode.id,
                "group": group,
                "reason": stopped.halt.value,
                "message": stopped.message,
            },
        )
        return stopped

    def _player(self, number: int, episode: Episode, journal: Sequence[Mapping[str, Any]]) -> Player:
        settings = self.settings
        recorded = {
            g.id: [Proposal(a.name, dict(a.roles)) for a in episode.actions[g.first : g.last + 1]]
            for g in episode.groups
        }
        chat = None
        if self.client is not None:
            chat = EpisodeChat(episode.id, self.client, self.meter, self.records, journal)
        script = Path(settings.script) if settings.script else None
        sampling = Decoding(settings.max_tokens, settings.seed + number, settings.temperature)
        environment = Environment(episode)
        oracle = _oracle(environment) if settings.planner == ORACLE else None
        planner = self.make(
            PlannerContext(episode.id, recorded, settings.seed + number, script, chat, sampling, oracle)
        )
        return Player(
            environment,
            planner,
            Belief(),
            make_memory(settings.memory),
            BeliefScorer(episode.world),
            self.records,
            settings.limit,
            settings.no_progress,
            chat,
            open_frames(settings.frames, episode),
            sampling,
        )


def _oracle(environment: Environment) -> Callable[[str], Sequence[Proposal]]:
    from ego2world.run.oracle import Oracle  # an optional dependency's single entry

    return Oracle(environment).plan


class Interrupted(Exception):
    """Another episode ended the run; this one stops between two groups."""


def play_episode(player: Player, tasks: set[str], halt: threading.Event | None = None) -> None:
    """Play all groups of an episode and record them, and each task of the suite when its last group has ended."""
    episode, records = player.environment.episode, player.records
    endings: list[Ending] = []
    events: list[list[Event]] = []
    known = dict(player.belief.entries)
    for number, group in enumerate(episode.groups):
        if halt is not None and halt.is_set():
            raise Interrupted
        ending, accepted, row = run_group(player, group)
        endings.append(ending)
        events.append(accepted)
        head = {
            "episode": episode.id,
            "group": group.id,
            "number": number,
            "quarter": 1 + 4 * number // len(episode.groups),
        }
        records.add("groups.jsonl", head | row)
        now = dict(player.belief.entries)
        records.add("beliefs.jsonl", {"episode": episode.id, "group": group.id, **changes(known, now)})
        known = now
        for task in episode.tasks:
            if task.last_group == number and f"{episode.id}/{task.id}" in tasks:
                records.add("tasks.jsonl", _task_row(player.environment, task, endings, events))
    records.add(
        "tasks.jsonl", {"type": "episode_end", "episode": episode.id, "state_sha256": player.environment.state.digest()}
    )


def _task_row(
    environment: Environment, task: TaskRecord, endings: Sequence[Ending], events: Sequence[Sequence[Event]]
) -> dict[str, Any]:
    contract = Contract.of(task)
    own = [event for group in events[task.first_group : task.last_group + 1] for event in group]
    truths = contract.each(environment.state, own)
    completed = all(ending is Ending.COMPLETED for ending in endings[task.first_group : task.last_group + 1])
    return {
        "type": "task",
        "episode": environment.episode.id,
        "task": task.id,
        "tier": task.tier,
        "completed": completed,
        "first_group": task.first_group,
        "last_group": task.last_group,
        "endings": list(endings[task.first_group : task.last_group + 1]),
        "conditions": [t.value for t in truths],
        "contract_sha256": task.contract_sha256,
    }
