"""Judges by name, with the model behind them. Stage: judge, backends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from ego2world.core.load import load
from ego2world.core.models import Endpoint, ModelClient, connect
from ego2world.errors import UsageError
from ego2world.judge.backends.base import GateJudge, ScoreJudge
from ego2world.judge.backends.baselines import QuestionList, ScoreTable, SimpleVQA
from ego2world.judge.backends.file import FileAnswers
from ego2world.judge.backends.model import ModelJudge, mock_gate

ASK_A_MODEL = {"model": ModelJudge, "simple-vqa": SimpleVQA, "question-list": QuestionList}
OWN = {"vision": "ego2world.rollouts.detector:make"}  # judges of this package that live above it, reached as yours are
BACKENDS = (
    "answers:FILE (answers of people or another tool), vision (a detector for drawn rollouts), model, simple-vqa,"
    " question-list (with --model), csv:FILE (another tool's scores), or MODULE:NAME of your own (docs/JUDGES.md)."
)


@contextmanager
def open_backends(
    name: str,
    bench: Path,
    model: str | None = None,
    endpoint: Endpoint | None = None,
    rater: str | None = None,
    scale: tuple[float, float] = (0.0, 100.0),
    cache: Path | None = None,
    any_served: bool = False,
) -> Iterator[Sequence[GateJudge | ScoreJudge]]:
    """Open the judges that a name stands for; the model, where there is one, is closed at the end.

    Args:
        name: see ``BACKENDS``.
        bench: the benchmark's folder.
        model: mock, replay:FILE, or PROVIDER/MODEL.
        endpoint, cache, any_served: how the model is reached, see ``core.models.connect``.
        rater: only this rater of a file of answers.
        scale: lowest and highest score of a table.

    Raises:
        UsageError: no such backend, or what it needs is not there.
    """
    needs_model = name in ASK_A_MODEL
    if needs_model and model is None:
        raise UsageError(
            f"backend {name} needs a model (--model); without one there are answers:FILE, vision and csv:FILE"
        )
    asks = needs_model or (":" in name and not name.startswith(("answers:", "csv:")))
    client = (
        connect(model, mock_gate, endpoint or Endpoint(), cache, any_served) if asks and model is not None else None
    )
    with closing(client) if client is not None else nullcontext():
        yield _backends(name, bench, client, rater, scale)


def _backends(
    name: str, bench: Path, client: ModelClient | None, rater: str | None, scale: tuple[float, float]
) -> Sequence[GateJudge | ScoreJudge]:
    if name.startswith("answers:"):
        return list(FileAnswers.read(Path(name.removeprefix("answers:")), rater))
    if name.startswith("csv:"):
        return [ScoreTable(Path(name.removeprefix("csv:")), *scale)]
    if ":" in (path := OWN.get(name, name)):
        made: GateJudge | ScoreJudge = load(path, "judge")(bench, client)
        return [made]
    if name not in ASK_A_MODEL or client is None:
        raise UsageError(f"no backend {name!r}; there are: {BACKENDS}")
    return [ASK_A_MODEL[name](client)]
