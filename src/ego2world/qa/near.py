"""Near duplicates by MinHash with banding: linear in the items, then exact Jaccard on what fell together. Stage: qa,
audit."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 0.9  # Jaccard similarity of word triples
BANDS, ROWS = 16, 4  # pairs at 0.9 fall together in some band with probability 1 - (1 - 0.9^4)^16 > 0.9999
_PRIME = np.uint64((1 << 31) - 1)


def near_duplicates(items: Iterable[tuple[str, str, str]], threshold: float = THRESHOLD) -> Iterator[tuple[str, str]]:
    """Yield (earlier id, later id) of texts within one bucket that hardly differ.

    Args:
        items: (id, bucket, text); only texts of one bucket are compared.
        threshold: Jaccard similarity of their word triples.
    """
    rng = np.random.default_rng(20260921)
    a = rng.integers(1, int(_PRIME), (BANDS * ROWS, 1), dtype=np.uint64)
    b = rng.integers(0, int(_PRIME), (BANDS * ROWS, 1), dtype=np.uint64)
    buckets: dict[str, list[tuple[str, frozenset[int]]]] = defaultdict(list)
    for identifier, bucket, text in items:
        buckets[bucket].append((identifier, _shingles(text)))
    for members in buckets.values():
        bands: dict[tuple[int, bytes], list[int]] = defaultdict(list)
        blamed: set[int] = set()
        for n, (_, shingles) in enumerate(members):
            signature = _signature(shingles, a, b)
            for band in range(BANDS):
                bands[(band, signature[band * ROWS : (band + 1) * ROWS].tobytes())].append(n)
        for together in bands.values():
            first = together[0]
            for other in together[1:]:
                if other not in blamed and _jaccard(members[first][1], members[other][1]) >= threshold:
                    blamed.add(other)
                    yield members[first][0], members[other][0]


def _shingles(text: str) -> frozenset[int]:
    words = text.lower().split()
    return frozenset(
        zlib.crc32(" ".join(words[i : i + 3]).encode()) % int(_PRIME) for i in range(max(1, len(words) - 2))
    )


def _signature(shingles: frozenset[int], a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = np.fromiter(shingles, np.uint64, len(shingles))
    lowest: NDArray[np.uint64] = ((a * values + b) % _PRIME).min(axis=1)
    return lowest


def _jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / max(1, len(one | other))
