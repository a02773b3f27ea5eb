"""Source formats by name, and your own readers by MODULE:NAME. Stage: annotations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ego2world.annotations.epic_kitchens import read_epic_kitchens
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset
from ego2world.core.load import load
from ego2world.errors import UsageError

Reader = Callable[[Path, Sequence[str] | None], Dataset]
READERS: Mapping[str, Reader] = {"hd-epic": read_hd_epic, "epic-kitchens": read_epic_kitchens}


def read_source(source: str | Path, form: str = "hd-epic", videos: Sequence[str] | None = None) -> Dataset:
    """Read annotations.

    Args:
        source: the annotations directory.
        form: a name of ``READERS``, or MODULE:NAME of a function that takes the directory and the wanted videos (None:
            all) and returns a ``Dataset``.
        videos: only these.

    Raises:
        UsageError: no such directory or format.
        AnnotationError: rows are malformed; all of them are listed.
    """
    folder = Path(source)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a directory; pass the annotations directory (layout: docs/DATA.md)")
    if ":" in form:
        own: Reader = load(form, "format")
        return own(folder, videos)
    if form not in READERS:
        raise UsageError(f"no format {form!r}; there are: {', '.join(READERS)}, or MODULE:NAME of your own")
    return READERS[form](folder, videos)
