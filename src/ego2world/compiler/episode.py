"""One video's records to a scene: narration by narration, intent by intent. Stages normalise, bind, infer,
reconcile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ego2world.annotations.records import Dataset, Narration
from ego2world.compiler.act import Actor
from ego2world.compiler.ahead import Ahead
from ego2world.compiler.bind import Binder
from ego2world.compiler.normalise import normalise
from ego2world.compiler.reason import Executed, NotDone, Outcome, Repeat, Why, Withheld, because
from ego2world.compiler.reconcile import Better, OperationEvidence, Reconciler
from ego2world.compiler.scene import Operation, Scene
from ego2world.errors import CompileError, Ego2WorldError
from ego2world.language.roles import Intent, NotActed
from ego2world.world.actions import BY_NAME
from ego2world.world.fluents import NarrationOutcome

PASSES = 4


@dataclass
class Compiled:
    """A compiled video before zoning: the scene and which narrations gave what."""

    video_id: str
    scene: Scene
    outcomes: dict[str, NarrationOutcome] = field(default_factory=dict)


def read_video(video_id: str, dataset: Dataset) -> list[tuple[Intent, ...]]:
    """Return the intents of a video's narrations."""
    return [normalise(narration, dataset.vocabulary) for narration in dataset.narrations[video_id]]


def compile_video(video_id: str, dataset: Dataset, read: Sequence[tuple[Intent, ...]] | None = None) -> Compiled:
    """Compile one video's narrations and tracks into a scene.

    Args:
        video_id: a video of the data set.
        dataset: the records; the order of its rows does not matter.
        read: the intents of each narration; None reads them.

    Raises:
        CompileError: a narration could not be handled; it names the narration and its text.
    """
    narrations = dataset.narrations[video_id]
    read = read_video(video_id, dataset) if read is None else read
    ahead = Ahead([(n.start_s, intent) for n, intents in zip(narrations, read, strict=True) for intent in intents])
    better = Better()
    for _ in range(PASSES):  # a hand that nobody names is guessed; later acts tell better, and it is done again
        scene = Scene()
        scene.start()
        binder = Binder(scene, dataset.associations.get(video_id, ()), dataset.vocabulary)
        reconciler = Reconciler(scene, binder, ahead, better)
        worker = _Worker(Actor(scene, binder, reconciler), Compiled(video_id, scene))
        note_overlaps(scene, narrations)
        for narration, intents in zip(narrations, read, strict=True):
            try:
                worker.narration(narration, intents)
            except Ego2WorldError:
                raise
            except Exception as error:
                where = f"{narration.id} '{narration.text}'"
                raise CompileError("bind", where, f"{type(error).__name__}: {error}") from error
        if not better.learn(reconciler):
            break
    return worker.out


def note_overlaps(scene: Scene, narrations: Sequence[Narration]) -> None:
    """Note every pair of neighbouring narrations whose segments overlap; all are kept, in order of their starts."""
    for index, one in enumerate(narrations):
        for other in narrations[index + 1 :]:
            if other.start_s >= one.end_s:
                break
            scene.note("normalise", because(Why.OVERLAP), (one.id, other.id))


def _outcome(said: Sequence[Operation], outcomes: Sequence[Outcome]) -> NarrationOutcome:
    """Return what became of a narration: the best of what became of its intents."""
    if any(not BY_NAME[operation.action.name].event_only for operation in said):
        return NarrationOutcome.ACTED
    if said:
        return NarrationOutcome.EVENT_ONLY
    if any(isinstance(outcome, Repeat) for outcome in outcomes):
        return NarrationOutcome.REPEAT
    withheld = [outcome.reason.why for outcome in outcomes if isinstance(outcome, Withheld)]
    if len(withheld) < len(outcomes):
        return NarrationOutcome.LOST
    for why, outcome in (
        (Why.ONLY_TRIED, NarrationOutcome.ATTEMPT),
        (Why.OTHER_PERSON, NarrationOutcome.OTHER_PERSON),
    ):
        if why in withheld:
            return outcome
    return NarrationOutcome.STATEMENT


@dataclass
class _Worker:
    actor: Actor
    out: Compiled

    def narration(self, narration: Narration, intents: Sequence[Intent]) -> None:
        scene, hands = self.actor.scene, self.actor.reconciler.hands
        hands.intents = len(intents)
        hands.end_idle(OperationEvidence((narration.id,), (narration.start_s, narration.end_s)))
        before = len(scene.operations)
        outcomes = []
        for intent in intents:
            hands.now += 1
            hands.together = "same" in intent.hands
            outcomes.append(self.outcome(intent, narration))
        undone = [outcome for outcome in outcomes if not isinstance(outcome, Executed)]
        for outcome in undone:
            stage = "reconcile" if isinstance(outcome, NotDone) else "normalise"
            scene.note(stage, outcome.reason, (narration.id,))
        said = [operation for operation in scene.operations[before:] if not operation.inferred]
        self.out.outcomes[narration.id] = _outcome(said, outcomes)

    def outcome(self, intent: Intent, narration: Narration) -> Outcome:
        """Execute one intent, unless it says that nothing was done."""
        match intent.not_acted:
            case None:
                return self.actor.act(intent, narration)
            case NotActed.ATTEMPT:
                return Withheld(because(Why.ONLY_TRIED))
            case NotActed.STATEMENT:
                return Withheld(because(Why.NOTHING_DONE))
            case NotActed.OTHER_PERSON:
                return Withheld(because(Why.OTHER_PERSON))
