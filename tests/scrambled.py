"""Compile, run and question the sample kitchens with every text that explains a decision replaced by random words.

python tests/scrambled.py OUT [SEED]        without a seed the texts stay as they are
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = (
    "open closed in on held: repeat: unreconciled: unresolved: attempt: statement: power openness the place of is"
    " unknown or nothing cupboard_001 mug_1 agent right_hand left_hand zone_1 needed found limit service_error; true"
    " false needs needed, already"
).split()


def scramble(seed: int) -> None:
    """Replace the wording of refusals, needs, reasons and conditions; to be called before anything else is imported."""
    rng = random.Random(seed)

    def words(*_: Any, **__: Any) -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(1, 9)))

    import ego2world.compiler.wording as wording
    import ego2world.tasks.contract as contract
    import ego2world.world.explain as explain

    replaced: list[tuple[Any, str, Callable[..., str]]] = [
        (explain, name, words) for name in ("needed", "found", "need_text", "explain", "explain_failure")
    ]
    replaced += [(wording, "reason_text", words), (contract, "describe", words)]
    originals = {getattr(module, name): new for module, name, new in replaced}
    for loaded in [m for name, m in sys.modules.items() if name.startswith("ego2world")]:
        for name, value in list(vars(loaded).items()):
            if callable(value) and getattr(value, "__hash__", None) and value in originals:
                setattr(loaded, name, originals[value])


def main(out: Path, seed: str | None = None) -> None:
    """Make worlds, records and questions."""
    if seed is not None:
        scramble(int(seed))
    from ego2world.annotations.hd_epic import read_hd_epic
    from ego2world.collection import build_worlds
    from ego2world.qa.build import QuestionSettings, build
    from ego2world.run.loop import RunSettings, run
    from ego2world.samples import sample_source
    from ego2world.tasks.audit import audit

    worlds = out / "worlds"
    build_worlds(read_hd_epic(sample_source()), worlds)
    print(audit(worlds)["verdict"])
    for planner, memory in (("symbolic", "reset"), ("random", "persistent")):
        run(worlds, out / "runs" / planner, RunSettings(planner, memory))
    build(worlds, out / "qa", QuestionSettings())


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
