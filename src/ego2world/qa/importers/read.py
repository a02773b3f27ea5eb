"""Which format a file or folder of questions is in, and its items. Stage: qa, input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ego2world.errors import AnnotationError, Problem, UsageError
from ego2world.qa.build import FILES, read_manifest, read_records
from ego2world.qa.importers.egosound import read_egosound
from ego2world.qa.importers.egotempo import read_egotempo
from ego2world.qa.importers.egotom import read_egotom
from ego2world.qa.importers.hd_epic_vqa import read_hd_epic_vqa
from ego2world.qa.items import Item, items_of
from ego2world.qa.records import QuestionGroup

Reader = Callable[[Path, list[Problem]], list[Item]]


def _own(path: Path, problems: list[Problem]) -> list[Item]:
    read_manifest(path)
    groups: list[QuestionGroup] = read_records(path / FILES["accepted"], QuestionGroup)
    return list(items_of(groups))


def _items(path: Path, problems: list[Problem]) -> list[Item]:
    items: list[Item] = read_records(path, Item)
    return items


FORMATS: dict[str, Reader] = {
    "ego2world": _own,
    "hd-epic-vqa": read_hd_epic_vqa,
    "egotempo": read_egotempo,
    "egotom": read_egotom,
    "egosound": read_egosound,
    "items": _items,
}


def find_format(path: Path) -> str:
    """Return the name of the format that a path looks like.

    Raises:
        UsageError: it looks like none.
    """
    if path.is_dir():
        if (path / "groups.jsonl").is_file():
            return "ego2world"
        if any(path.glob("egotom_*.csv")):
            return "egotom"
        if any(path.glob("*.json")) or (path / "vqa-benchmark").is_dir():
            return "egotempo" if any(path.glob("egotempo*.json")) else "hd-epic-vqa"
    elif path.suffix == ".csv":
        return "egotom"
    elif path.suffix == ".jsonl":
        return "items"
    elif path.suffix == ".json":
        head = path.read_bytes()[:4000]
        if b'"correct_idx"' in head and b'"inputs"' in head:
            return "hd-epic-vqa"
        return "egotempo" if b'"annotations"' in head and b'"clip_id"' in head else "egosound"
    raise UsageError(
        f"{path}: no questions found; give a folder of questions or a file, and --format ({', '.join(FORMATS)})"
    )


def read_items(path: Path, form: str | None = None) -> list[Item]:
    """Read questions in any known format.

    Args:
        path: a file or folder.
        form: one of FORMATS; found by looking where None.

    Raises:
        UsageError: no such path or format.
        AnnotationError: rows cannot be used; all of them are listed.
    """
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    name = form or find_format(path)
    if name not in FORMATS:
        raise UsageError(f"no format {name!r}; there are: {', '.join(FORMATS)}")
    problems: list[Problem] = []
    items = FORMATS[name](path, problems)
    if problems:
        raise AnnotationError(problems)
    return items
