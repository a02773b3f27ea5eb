"""Which videos to make questions from: clusters of what is narrated, a quota of each. Stage: qa, sources. Source: the
paper's B.4.

Narrations are cleaned and de-duplicated per video; TF-IDF, truncated SVD, L2 norm and MiniBatch K-Means put videos
with similar content together. Each cluster gives a minimum, the rest goes by what clusters have left; within a cluster
the order is by distance to the centre, then density of narration, then id. Everything is fixed by the seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ego2world.errors import UsageError

_MARKUP = re.compile(r"<[^>]+>|#\w+|[{}\[\]|*_`]")
SEED = 42


@dataclass(frozen=True)
class VideoSketch:
    """A video as its narrations tell of it; ``duration_s`` is the last time that they name."""

    id: str
    texts: tuple[str, ...]
    duration_s: float

    @property
    def text(self) -> str:
        """The narrations, cleaned, each once."""
        return ". ".join(dict.fromkeys(cleaned for text in self.texts if (cleaned := clean(text))))

    @property
    def density(self) -> float:
        """Narrations a second."""
        return len(self.texts) / self.duration_s if self.duration_s > 0 else 0.0


@dataclass(frozen=True)
class SelectionRule:
    """How many videos, from how many clusters, at least how many of each, and of which length (seconds)."""

    count: int
    clusters: int = 160
    least: int = 2
    shortest_s: float = 180.0
    longest_s: float = 3600.0
    seed: int = SEED
    components: int = 100

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "count": self.count,
            "clusters": self.clusters,
            "least": self.least,
            "shortest_s": self.shortest_s,
            "longest_s": self.longest_s,
            "seed": self.seed,
            "components": self.components,
        }


def clean(text: str) -> str:
    """Return a narration without markup, with single spaces, in small letters."""
    return " ".join(_MARKUP.sub(" ", text).lower().split())


def select(videos: Iterable[VideoSketch], rule: SelectionRule) -> dict[str, Any]:
    """Cluster and choose.

    Returns:
        selected: ids in order; clusters: per cluster its size, how many are eligible and selected, key words, the
            videos nearest to
        the centre; coverage: how many clusters are covered, and the least and most selected of them; videos: id ->
        cluster, distance.

    Raises:
        UsageError: too few videos for the clusters.
    """
    from sklearn.cluster import MiniBatchKMeans  # an optional dependency's single entry
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    every = sorted((video for video in videos if video.text), key=lambda video: video.id)
    if len(every) < 2 or rule.clusters > len(every):
        raise UsageError(
            f"{len(every)} videos with narrations for {rule.clusters} clusters; choose fewer clusters (--clusters)"
        )
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=1)
    counts = vectorizer.fit_transform([video.text for video in every])
    size = max(1, min(rule.components, counts.shape[0] - 1, counts.shape[1] - 1))
    reduced = normalize(TruncatedSVD(size, random_state=rule.seed).fit_transform(counts))
    model = MiniBatchKMeans(rule.clusters, random_state=rule.seed, n_init=3, batch_size=1024).fit(reduced)
    distance = np.linalg.norm(reduced - model.cluster_centers_[model.labels_], axis=1)
    members: dict[int, list[int]] = {c: [] for c in range(rule.clusters)}
    for number, label in enumerate(model.labels_):
        members[int(label)].append(number)
    ranked = {
        c: sorted(
            (n for n in rows if rule.shortest_s <= every[n].duration_s <= rule.longest_s),
            key=lambda n: (round(float(distance[n]), 9), -every[n].density, every[n].id),
        )
        for c, rows in members.items()
    }
    quota = quotas({c: len(rows) for c, rows in ranked.items()}, rule.count, rule.least)
    chosen = sorted(every[n].id for c, rows in ranked.items() for n in rows[: quota[c]])
    terms = np.array(vectorizer.get_feature_names_out())
    report = []
    for c in range(rule.clusters):
        weights = np.asarray(counts[members[c]].sum(axis=0)).ravel() if members[c] else np.zeros(len(terms))
        words = [str(terms[i]) for i in np.lexsort((terms, -weights))[:6] if weights[i] > 0]
        report.append(
            {
                "cluster": c,
                "videos": len(members[c]),
                "eligible": len(ranked[c]),
                "selected": quota[c],
                "keywords": words,
                "nearest": [every[n].id for n in ranked[c][:3]],
            }
        )
    per = [count for count in quota.values() if count]
    return {
        "method": "tfidf_svd_minibatch_kmeans",
        "rule": rule.plain(),
        "videos": len(every),
        "eligible": sum(len(rows) for rows in ranked.values()),
        "selected": chosen,
        "clusters": report,
        "coverage": {
            "clusters": rule.clusters,
            "covered": len(per),
            "least": min(per, default=0),
            "most": max(per, default=0),
        },
        "assignment": {
            every[n].id: {"cluster": int(model.labels_[n]), "distance": round(float(distance[n]), 6)}
            for n in range(len(every))
        },
    }


def quotas(capacity: Mapping[int, int], count: int, least: int) -> dict[int, int]:
    """Return how many each cluster gives: the minimum where it has that, then by what is left, the largest first."""
    given = {c: min(least, size) for c, size in capacity.items()}
    while sum(given.values()) > count:  # not even the minimum of all
        most = max(given, key=lambda c: (given[c], c))
        given[most] -= 1
    left = count - sum(given.values())
    while left > 0:
        room = {c: capacity[c] - given[c] for c in capacity if capacity[c] > given[c]}
        total = sum(room.values())
        if not room:
            break
        shares = {c: left * size / total for c, size in room.items()}
        added = {c: min(room[c], int(share)) for c, share in shares.items()}
        rest = left - sum(added.values())
        for c in sorted(room, key=lambda c: (-(shares[c] % 1), -room[c], c))[:rest]:
            added[c] += added[c] < room[c]
        for c, more in added.items():
            given[c] += more
        left = count - sum(given.values())
    return given


def videos_of(rows: Sequence[tuple[str, str, float]]) -> list[VideoSketch]:
    """Return videos of (video id, narration, time in seconds) rows, in any order."""
    texts: dict[str, list[tuple[float, str]]] = {}
    for video, text, time_s in rows:
        texts.setdefault(video, []).append((time_s, text))
    return [
        VideoSketch(video, tuple(text for _, text in sorted(found)), max(time_s for time_s, _ in found))
        for video, found in sorted(texts.items())
    ]
