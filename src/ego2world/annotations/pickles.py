"""Reading a pickled table without running anything in it, and without the pandas that wrote it.

Only the shapes that a pickled DataFrame is made of are let through, as inert stand-ins: no class of the file is
imported, so a table written by any pandas from 1.0 on is read the same way, and a hostile file reaches nothing.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ego2world.errors import AnnotationError, Problem


class _Index:
    """Stand-in for every pandas index."""

    def __init__(self, *args: Any) -> None:
        self.data: Any = args[0] if args else None

    def __setstate__(self, state: Any) -> None:
        self.data = state

    def values(self) -> list[Any]:
        data = self.data
        if isinstance(data, dict):
            if "start" in data:
                return list(range(data["start"], data["stop"], data["step"]))
            data = data.get("data")
        if isinstance(data, tuple):
            data = data[0]
        if isinstance(data, _Index):
            return data.values()
        return list(data.data if isinstance(data, _Strings) else data)


class _Manager:
    """Stand-in for pandas' BlockManager: keeps the blocks and axes it is given."""

    def __init__(self, *args: Any) -> None:
        self.blocks: Any = args[0] if args else ()
        self.axes: Any = args[1] if len(args) > 1 else ()

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple) and len(state) >= 4 and isinstance(state[3], dict):
            inner = state[3]["0.14.1"]
            self.axes = inner["axes"]
            self.blocks = [(block["values"], block["mgr_locs"]) for block in inner["blocks"]]


class _Frame:
    """Stand-in for a DataFrame."""

    def __init__(self, *args: Any) -> None:
        self.manager: _Manager | None = args[0] if args and isinstance(args[0], _Manager) else None

    def __setstate__(self, state: Any) -> None:
        found = state.get("_mgr", state.get("_data")) if isinstance(state, dict) else None
        if isinstance(found, _Manager):
            self.manager = found


class _Strings:
    """Stand-in for pandas' array of strings, which wraps a NumPy array."""

    def __init__(self, *args: Any) -> None:
        self.data: Any = args[0] if args else None

    def __setstate__(self, state: Any) -> None:
        parts = state if isinstance(state, tuple) else (state,)
        self.data = next((part for part in parts if isinstance(part, np.ndarray)), None)


def _strings(_cls: Any, _checksum: Any, state: Any) -> _Strings:
    made = _Strings()
    if state is not None:
        made.__setstate__(state)
    return made


class _Dtype:
    """Stand-in for pandas' string dtype."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __setstate__(self, _state: Any) -> None: ...


def _new_index(_cls: Any, data: Any) -> _Index:
    return _Index(data)


def _block(values: Any, placement: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
    return values, placement


def _reconstruct(_subtype: Any, _shape: Any, _dtype: Any) -> Any:
    return np.ndarray.__new__(np.ndarray, (0,), dtype="b")


def _encode(text: str, encoding: str = "latin1") -> bytes:
    if encoding not in {"latin1", "latin-1", "utf-8", "ascii"}:
        raise pickle.UnpicklingError(f"encoding {encoding!r} is not allowed")
    return text.encode(encoding)


_ALLOWED: dict[tuple[str, str], Any] = {
    ("pandas.core.frame", "DataFrame"): _Frame,
    ("pandas", "DataFrame"): _Frame,
    ("pandas", "Index"): _Index,
    ("pandas", "RangeIndex"): _Index,
    ("pandas.arrays", "StringArray"): _Strings,
    ("pandas.core.arrays.string_", "StringArray"): _Strings,
    ("pandas", "StringDtype"): _Dtype,
    ("pandas.core.arrays.string_", "StringDtype"): _Dtype,
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"): _strings,
    ("pandas.core.internals.managers", "BlockManager"): _Manager,
    ("pandas.core.internals", "BlockManager"): _Manager,
    ("pandas._libs.internals", "_unpickle_block"): _block,
    ("pandas.core.internals.blocks", "new_block"): _block,
    ("pandas.core.indexes.base", "_new_Index"): _new_index,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("builtins", "slice"): slice,
    ("_codecs", "encode"): _encode,
}
for _numpy in ("numpy.core", "numpy._core"):
    _ALLOWED[(f"{_numpy}.multiarray", "_reconstruct")] = _reconstruct
    _ALLOWED[(f"{_numpy}.multiarray", "scalar")] = np._core.multiarray.scalar  # type: ignore[attr-defined]
    _ALLOWED[(f"{_numpy}.numeric", "_frombuffer")] = np._core.numeric._frombuffer  # type: ignore[attr-defined]


class _TableUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        if (module, name) in _ALLOWED:
            found: Callable[..., Any] = _ALLOWED[(module, name)]
            return found
        if module.startswith("pandas.core.indexes.") and name.endswith("Index"):
            return _Index
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a plain table")


def read_table(path: Path) -> dict[str, list[Any]]:
    """Read a pickled DataFrame as columns.

    Args:
        path: a pickle of one DataFrame.

    Returns:
        Column name -> values, all of one length, in the file's order. NaN stays NaN here.

    Raises:
        AnnotationError: the file is cut, is no table, or holds anything that a plain table does not need.
    """
    advice = "Save the table as CSV with the pandas that wrote it (df.to_csv(..., index=False)) and read that."
    try:
        with path.open("rb") as file:
            frame = _TableUnpickler(file).load()
    except pickle.UnpicklingError as error:
        if "truncated" in str(error):
            error = pickle.UnpicklingError(f"a file of {path.stat().st_size} bytes that ends early or is damaged")
        raise AnnotationError(
            [Problem(str(path), None, None, str(error), "a pickled table of plain values")], advice
        ) from None
    except (EOFError, ValueError, KeyError, IndexError, TypeError, AttributeError, MemoryError, UnicodeError) as error:
        found = f"a file of {path.stat().st_size} bytes that ends early or is damaged ({type(error).__name__})"
        raise AnnotationError([Problem(str(path), None, None, found, "a whole pickled table")], advice) from None
    if not isinstance(frame, _Frame) or frame.manager is None:
        raise AnnotationError(
            [Problem(str(path), None, None, f"a pickled {type(frame).__name__}", "a DataFrame")], advice
        )
    columns = [str(name) for name in frame.manager.axes[0].values()]
    table: dict[str, list[Any]] = {}
    for values, placement in frame.manager.blocks:
        if isinstance(values, _Strings):
            values = values.data
        if not isinstance(values, np.ndarray):
            found = f"a column stored as {type(values).__name__}"
            raise AnnotationError([Problem(str(path), None, None, found, "plain NumPy columns")], advice)
        rows = np.atleast_2d(values)
        places = range(len(columns))[placement] if isinstance(placement, slice) else list(placement)
        for place, row in zip(places, rows, strict=True):
            table[columns[int(place)]] = row.tolist()
    return {name: table[name] for name in columns}
