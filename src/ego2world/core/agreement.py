"""Agreement of two raters, or of several: what is undefined is None with its reason, never NaN and never 0. Stage:
core.

Pairs with a missing value are dropped and counted. Correlations are SciPy's. Lin's CCC, the mean squares behind the
ICC and Krippendorff's alpha are written here: the packages that have them are under the GPL, and a bootstrap over
cases needs them fast; the tests hold them against the published tables and against those packages, pingouin and
krippendorff.

Sources: Lin 1989 (CCC, variances with 1/n); Shrout and Fleiss 1979 (ICC forms); Krippendorff 2011 (alpha).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ego2world.errors import UsageError

Floats = NDArray[np.float64]
Level = Literal["interval", "ordinal", "nominal"]
LEVELS: tuple[Level, ...] = ("interval", "ordinal", "nominal")
ICC_FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")
RESAMPLES = 1000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Figure:
    """One statistic: ``value`` is None where it is undefined, and ``note`` says why; ``n`` units were used,
    ``dropped`` were not."""

    value: float | None
    n: int
    dropped: int = 0
    low: float | None = None
    high: float | None = None
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "value": self.value,
            "n": self.n,
            "dropped": self.dropped,
            "low": self.low,
            "high": self.high,
            "note": self.note,
        }


def ccc(first: Floats, second: Floats) -> float:
    """Return Lin's concordance correlation coefficient, with variances over n; NaN where both are one constant."""
    spread = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    return float(2 * ((first - first.mean()) * (second - second.mean())).mean() / spread) if spread > 0 else math.nan


def mae(first: Floats, second: Floats) -> float:
    """Return the mean absolute difference."""
    return float(np.abs(first - second).mean())


def _pearson(first: Floats, second: Floats) -> float:
    return float(stats.pearsonr(first, second).statistic)


def _kendall(first: Floats, second: Floats) -> float:
    return float(stats.kendalltau(first, second, variant="b", method="asymptotic").statistic)


def _kendall_c(first: Floats, second: Floats) -> float:
    return float(stats.kendalltau(first, second, variant="c", method="asymptotic").statistic)


def _spearman(first: Floats, second: Floats) -> float:
    return float(stats.spearmanr(first, second).statistic)


PAIRED: dict[str, Callable[[Floats, Floats], float]] = {
    "pearson": _pearson,
    "kendall": _kendall,
    "kendall_c": _kendall_c,
    "spearman": _spearman,
    "ccc": ccc,
    "mae": mae,
}
_NEEDS_SPREAD = ("pearson", "kendall", "kendall_c", "spearman")


def paired(
    name: str,
    first: Sequence[float | None],
    second: Sequence[float | None],
    clusters: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    names: tuple[str, str] = ("first", "second"),
) -> Figure:
    """Return a statistic of pairs, with an interval where clusters are given.

    Args:
        name: one of ``PAIRED``; "kendall" is tau-b.
        first, second: the two raters' values; a pair with a missing one is dropped, and counted.
        clusters: the case of each pair; cases are resampled whole.
        seed: of the resampling.
        resamples: how many.
        names: of the two, for the reason why something is undefined.
    """
    kept = [n for n, (a, b) in enumerate(zip(first, second, strict=True)) if _number(a) and _number(b)]
    x, y = (np.array([values[n] for n in kept], float) for values in (first, second))
    n, dropped = len(kept), len(first) - len(kept)
    if n < 2:
        return Figure(None, n, dropped, note=f"{n} pairs, needed at least 2")
    constant = [who for who, values in zip(names, (x, y), strict=True) if np.all(values == values[0])]
    if name in _NEEDS_SPREAD and constant:
        return Figure(None, n, dropped, note=f"constant {' and '.join(constant)} scores")
    value = PAIRED[name](x, y)
    if math.isnan(value):
        return Figure(None, n, dropped, note="both are one constant value")
    if clusters is None:
        return Figure(value, n, dropped)

    def again(picked: NDArray[np.int64]) -> float:
        a, b = x[picked], y[picked]
        if name in _NEEDS_SPREAD and (np.all(a == a[0]) or np.all(b == b[0])):
            return math.nan
        return PAIRED[name](a, b)

    low, high, note = cluster_bounds(again, [clusters[n] for n in kept], seed, resamples)
    return Figure(value, n, dropped, low, high, note)


def _number(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def cluster_bounds(
    statistic: Callable[[NDArray[np.int64]], float], clusters: Sequence[str], seed: int, resamples: int = RESAMPLES
) -> tuple[float | None, float | None, str]:
    """Return the percentile interval of a statistic with clusters resampled whole (SciPy's bootstrap), and a note.

    Args:
        statistic: of the numbers of the units drawn; NaN where it is undefined for them.
        clusters: the cluster of each unit.
        seed: of the resampling.
        resamples: how many.
    """
    names = sorted(set(clusters))
    if len(names) < 2:
        return None, None, f"{len(names)} cases, needed at least 2 for an interval"
    members = [np.flatnonzero(np.array([c == name for c in clusters])) for name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # no variation, or undefined: said below
        found = stats.bootstrap(
            (np.arange(len(names)),),
            lambda drawn: statistic(np.concatenate([members[n] for n in drawn])),
            vectorized=False,
            n_resamples=resamples,
            confidence_level=CONFIDENCE,
            method="percentile",
            rng=np.random.default_rng(seed),
        ).bootstrap_distribution
    defined = found[~np.isnan(found)]
    if defined.size == 0:
        return None, None, "undefined in every resample"
    low, high = np.quantile(defined, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    notes = [f"undefined in {found.size - defined.size} of {found.size} resamples"] if defined.size < found.size else []
    notes += ["no variation"] if low == high else []
    return float(low), float(high), "; ".join(notes)


def icc(ratings: Floats) -> dict[str, float]:
    """Return the six forms of Shrout and Fleiss 1979; NaN where nothing varies.

    Args:
        ratings: shape (units, raters), complete, at least two of each.
    """
    n, k = ratings.shape
    mean = ratings.mean()
    between = k * ((ratings.mean(1) - mean) ** 2).sum() / (n - 1)
    judges = n * ((ratings.mean(0) - mean) ** 2).sum() / (k - 1)
    total = ((ratings - mean) ** 2).sum()
    within = (total - between * (n - 1)) / (n * (k - 1))
    rest = (total - between * (n - 1) - judges * (k - 1)) / ((n - 1) * (k - 1))

    def share(top: float, bottom: float) -> float:
        return float(top / bottom) if bottom else math.nan

    return {
        "ICC(1,1)": share(between - within, between + (k - 1) * within),
        "ICC(2,1)": share(between - rest, between + (k - 1) * rest + k * (judges - rest) / n),
        "ICC(3,1)": share(between - rest, between + (k - 1) * rest),
        "ICC(1,k)": share(between - within, between),
        "ICC(2,k)": share(between - rest, between + (judges - rest) / n),
        "ICC(3,k)": share(between - rest, between),
    }


def icc_figures(
    ratings: Sequence[Sequence[float | None]],
    clusters: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Figure]:
    """Return every form of the ICC over the units that all raters rated.

    Args:
        ratings: a row a unit, a value a rater; a unit with a missing value is dropped, and counted.
        clusters, seed, resamples: as in ``paired``.

    Raises:
        UsageError: fewer than two raters.
    """
    raters = len(ratings[0]) if ratings else 0
    if raters < 2:
        raise UsageError(f"agreement of annotators needs two raters, found {raters}")
    kept = [n for n, row in enumerate(ratings) if all(_number(v) for v in row)]
    dropped = len(ratings) - len(kept)
    data = np.array([ratings[n] for n in kept], float).reshape(len(kept), raters)
    if len(kept) < 2 or np.all(data == data.flat[0]):
        why = f"{len(kept)} complete units, needed at least 2" if len(kept) < 2 else "all ratings are the same"
        return {form: Figure(None, len(kept), dropped, note=why) for form in ICC_FORMS}
    out = {}
    for form, value in icc(data).items():
        low = high = None
        note = ""
        if clusters is not None:

            def again(picked: NDArray[np.int64], form: str = form) -> float:
                return icc(data[picked])[form] if picked.size > 1 else math.nan

            low, high, note = cluster_bounds(again, [clusters[n] for n in kept], seed, resamples)
        defined = None if math.isnan(value) else value
        out[form] = Figure(
            defined, len(kept), dropped, low, high, note if defined is not None else "nothing varies between units"
        )
    return out


def alpha(
    ratings: Sequence[Sequence[float | None]],
    level: Level = "interval",
    clusters: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Figure:
    """Return Krippendorff's alpha; missing values stay missing.

    1 minus the ratio of within-unit to total disagreement. At every level it is a sum of squared differences: of the
    values (interval), of their midranks (ordinal), of their indicators halved (nominal). So sums over units are
    enough, and memory stays linear; the krippendorff package, which tests hold this against, needs values squared
    times units.

    Args:
        ratings: a row a unit, a value a rater.
        level: of measurement: "interval", "ordinal" or "nominal".
        clusters, seed, resamples: as in ``paired``.

    Raises:
        UsageError: fewer than two raters.
    """
    raters = len(ratings[0]) if ratings else 0
    if raters < 2:
        raise UsageError(f"alpha needs two raters, found {raters}")
    data = np.array([[v if _number(v) else math.nan for v in row] for row in ratings], float)
    usable = np.flatnonzero((~np.isnan(data)).sum(1) >= 2)
    dropped = len(ratings) - usable.size
    data = data[usable]
    if usable.size == 0:
        return Figure(None, 0, dropped, note="no unit has two ratings")
    if np.unique(data[~np.isnan(data)]).size < 2:
        return Figure(None, int(usable.size), dropped, note="all ratings are the same")
    value = _alpha(data, level)
    if clusters is None:
        return Figure(value, int(usable.size), dropped)
    low, high, note = cluster_bounds(
        lambda drawn: _alpha(data[drawn], level), [clusters[int(n)] for n in usable], seed, resamples
    )
    return Figure(value, int(usable.size), dropped, low, high, note)


def _alpha(data: Floats, level: Level) -> float:
    """Return alpha of units with two ratings at least, NaN for none; NaN where all are the same."""
    there = ~np.isnan(data)
    if level == "ordinal":
        data = stats.rankdata(data, nan_policy="omit").reshape(data.shape)
    seen = np.unique(data[there]) if level == "nominal" else ()
    within = overall = 0.0
    for column in [(data == value).astype(float) for value in seen] or [data]:
        x = np.where(there, column, 0.0)
        many, total, square = there.sum(1), x.sum(1), (x * x).sum(1)
        within += float(((many * square - total**2) / (many - 1)).sum())
        overall += float((many.sum() * square.sum() - total.sum() ** 2) / (many.sum() - 1))
    return 1 - within / overall if overall > 0 else math.nan


def pair_agreement(ratings: Sequence[Sequence[Any]], min_raters: int = 2) -> dict[str, Any]:
    """Return the share of equal pairs over units with enough ratings; a unit with one rating agrees with nobody,
    itself included.

    Args:
        ratings: the ratings of each unit, None where one is missing.
        min_raters: units with fewer are left out, and counted.
    """
    given = [[value for value in row if value is not None] for row in ratings]
    used = [row for row in given if len(row) >= max(2, min_raters)]
    shares = [sum(a == b for a, b in combinations(row, 2)) / math.comb(len(row), 2) for row in used]
    return {
        "agreement": sum(shares) / len(shares) if shares else None,
        "units": len(used),
        "single_rater": sum(len(row) == 1 for row in given),
        "unrated": sum(not row for row in given),
    }
