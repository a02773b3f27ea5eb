"""Source formats by name, and your own readers by MODULE:NAME. Stage: annotations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ego2world.annotations.captaincook import read_captaincook
from ego2world.annotations.ego4d import read_ego4d
from ego2world.annotations.epic_kitchens import read_epic_kitchens, read_epic_kitchens_55
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset
from ego2world.annotations.table import read_table_source
from ego2world.core.load import load
from ego2world.errors import AnnotationError, UsageError

Reader = Callable[[Path, Sequence[str] | None], Dataset]
READERS: Mapping[str, Reader] = {
    "hd-epic": read_hd_epic,
    "epic-kitchens": read_epic_kitchens,
    "epic-kitchens-55": read_epic_kitchens_55,
    "ego4d": read_ego4d,
    "captaincook4d": read_captaincook,
    "table": read_table_source,
}


def read_source(
    source: str | Path, form: str = "hd-epic", videos: Sequence[str] | None = None, strict: bool = False
) -> Dataset:
    """Read annotations.

    Args:
        source: the annotations directory.
        form: a name of ``READERS``, or MODULE:NAME of a function that takes the directory and the wanted videos (None:
            all) and returns a ``Dataset``.
        videos: only these.
        strict: stop at malformed rows, instead of leaving them out.

    Raises:
        UsageError: no such directory or format.
        AnnotationError: nothing can be read, or, if ``strict``, rows are malformed; all of them are listed.
    """
    folder = Path(source)
    if not folder.is_dir() and not (folder.is_file() and form in {"table", "ego4d"}):
        raise UsageError(f"{folder} is not a directory; pass the annotations directory (layout: docs/DATA.md)")
    if ":" in form:
        own: Reader = load(form, "format")
        return _checked(own(folder, videos), strict)
    if form not in READERS:
        raise UsageError(f"no format {form!r}; there are: {', '.join(READERS)}, or MODULE:NAME of your own")
    return _checked(READERS[form](folder, videos), strict)


def _checked(dataset: Dataset, strict: bool) -> Dataset:
    if strict and dataset.left_out:
        raise AnnotationError(list(dataset.left_out), "Mend or remove these rows, or compile without --strict.")
    return dataset
