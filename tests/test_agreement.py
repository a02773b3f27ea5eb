"""Agreement statistics against published tables, SciPy and other packages; undefined values are said to be, never NaN
or 0."""

from __future__ import annotations

import json
import math
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ego2world.core.agreement import ICC_FORMS, alpha, ccc, cluster_bounds, icc, icc_figures, pair_agreement, paired
from ego2world.errors import UsageError

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
N = None
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
ANSCOMBE = ([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5], [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68])


def test_icc_of_shrout_and_fleiss_1979() -> None:
    found = {form: figure.value for form, figure in icc_figures(SHROUT_FLEISS).items()}
    assert list(found) == list(ICC_FORMS)
    assert [round(value, 4) for value in found.values()] == [0.1657, 0.2898, 0.7148, 0.4428, 0.6201, 0.9093]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(st.integers(0, 10), min_size=3, max_size=3), min_size=4, max_size=12))
def test_icc_is_that_of_pingouin(rows: list[list[int]]) -> None:
    pd, pg = pytest.importorskip("pandas"), pytest.importorskip("pingouin", reason="only a second opinion")
    data = np.array(rows, float)
    if data.std(0).min() == 0 or data.std(1).max() == 0 or np.unique(data.mean(1)).size < 2:
        return
    table = pd.DataFrame(
        [(u, r, v) for u, row in enumerate(rows) for r, v in enumerate(row)], columns=["unit", "rater", "value"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pg.intraclass_corr(table, targets="unit", raters="rater", ratings="value")
    ours = icc(data)
    for form, value in zip(ICC_FORMS, theirs["ICC"], strict=True):
        assert math.isnan(value) or math.isinf(value) or ours[form] == pytest.approx(value, abs=1e-9), form


def test_alpha_of_krippendorff_2011() -> None:
    units = [list(column) for column in zip(*KRIPPENDORFF, strict=True)]
    found = {level: alpha(units, level) for level in ("nominal", "ordinal", "interval")}
    assert {level: round(figure.value, 4) for level, figure in found.items()} == {
        "nominal": 0.7434,
        "ordinal": 0.8154,
        "interval": 0.8491,
    }
    assert found["nominal"].n == 11 and found["nominal"].dropped == 1  # one unit has a single rating


@given(
    st.lists(st.lists(st.sampled_from([None, 0, 1, 1, 2.5, 7]), min_size=3, max_size=3), min_size=3, max_size=12),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
@settings(deadline=None)
def test_alpha_is_that_of_the_krippendorff_package(rows: list[list[float | None]], level: str) -> None:
    figure = alpha(rows, level)
    if figure.value is None:
        return
    data = np.array([[math.nan if v is None else v for v in row] for row in rows], float).T
    assert figure.value == pytest.approx(krippendorff.alpha(data, level_of_measurement=level), abs=1e-9)


def test_ccc_and_anscombe() -> None:
    x = np.arange(1.0, 6.0)
    assert round(ccc(x, 2 * x), 6) == 0.421053
    assert round(paired("pearson", *ANSCOMBE).value, 7) == 0.8164205
    assert round(paired("kendall", *ANSCOMBE).value, 7) == 0.6363636
    assert paired("ccc", [3.0] * 4, [3.0] * 4).value is None
    assert paired("mae", [3.0] * 4, [3.0] * 4).value == 0


def test_c118_a_constant_vector_is_undefined_with_its_reason() -> None:
    first = paired("pearson", [3, 3, 3, 3], [1, 2, 3, 4], names=("judge", "human"))
    assert first.value is None and first.note == "constant judge scores"
    second = paired("kendall", [1, 2, 2, 3], [1, 2, 3, 3])
    assert second.value == pytest.approx(0.8)
    assert "NaN" not in json.dumps([first.plain(), second.plain()], allow_nan=False)


def test_c120_nearly_perfect_agreement_and_a_single_rater() -> None:
    units = [[1.0, 1.0], [1.0, 1.0], [1.0, N], [1.0, 0.0]]
    figure = alpha(units, "nominal")
    assert figure.value == 0.0 and 2 * figure.n == 6
    assert pair_agreement(units)["agreement"] == pytest.approx(2 / 3)
    with pytest.raises(UsageError, match="needs two raters"):
        alpha([[1.0], [2.0]], "nominal")
    with pytest.raises(UsageError, match="needs two raters"):
        icc_figures([[1.0], [2.0]])
    assert alpha([[1.0, 1.0]] * 3).value is None and "the same" in alpha([[1.0, 1.0]] * 3).note


def test_c121_a_missing_rating_drops_its_unit() -> None:
    found = icc_figures([[4, 4], [2, 3], [5, 5], [1, 2], [3, N]])
    assert found["ICC(1,1)"].n == 4 and found["ICC(1,1)"].dropped == 1
    assert [round(found[f].value, 4) for f in ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)")] == [0.9016, 0.9032, 0.9333]


def test_c123_ties() -> None:
    judge, human = [1, 2, 2, 3], [1, 2, 3, 3]
    assert [round(paired(s, judge, human).value, 4) for s in ("kendall", "kendall_c", "spearman")] == [
        0.8,
        0.75,
        0.8333,
    ]


def test_c124_missing_pairs_are_as_if_they_had_never_been() -> None:
    with_gap = paired("spearman", [1, 2, 2.5, 2, math.nan], [1, 3, 2.5, 4, math.nan])
    assert round(with_gap.value, 4) == 0.3162 and (with_gap.n, with_gap.dropped) == (4, 1)
    assert with_gap.value == paired("spearman", [1, 2, 2.5, 2], [1, 3, 2.5, 4]).value


def test_c125_one_vote_agrees_with_nobody() -> None:
    found = pair_agreement([["A"], ["A", "B"], ["A", "A"]])
    assert (found["agreement"], found["units"], found["single_rater"]) == (0.5, 2, 1)


def test_c127_identical_values() -> None:
    low, high, note = cluster_bounds(lambda drawn: 1.0, [str(n) for n in range(10)], seed=0, resamples=2000)
    assert (low, high, note) == (1.0, 1.0, "no variation")
    low, high, note = cluster_bounds(lambda drawn: math.nan, ["a", "b"], seed=0, resamples=50)
    assert (low, high) == (None, None) and "undefined" in note
    assert cluster_bounds(lambda drawn: 1.0, ["a", "a"], seed=0)[2] == "1 cases, needed at least 2 for an interval"


def test_intervals_resample_whole_cases_and_repeat() -> None:
    values = np.array([10.0, 10, 15, 25, 60, 60])
    cases = ["a", "a", "b", "b", "c", "c"]
    drawn: list[float] = []

    def mean(picked: np.ndarray) -> float:
        drawn.append(float(values[picked].mean()))
        return drawn[-1]

    first = cluster_bounds(mean, cases, seed=1, resamples=4000)
    assert np.std(drawn) == pytest.approx(12.472, rel=0.03)  # the published standard error of {10,10},{15,25},{60,60}
    again = drawn.copy()
    drawn.clear()
    assert first == cluster_bounds(mean, cases, seed=1, resamples=4000) and drawn == again
    drawn.clear()
    cluster_bounds(mean, cases, seed=2, resamples=4000)
    assert drawn != again


def test_an_interval_covers_what_it_should() -> None:
    """A correlation that is known, in clustered data: the interval holds it about as often as it says."""
    rng = np.random.default_rng(5)
    hits = 0
    for trial in range(60):
        shared = rng.normal(size=(40, 1))
        x = (shared + rng.normal(size=(40, 4))).ravel()
        y = 0.6 * x + math.sqrt(1 - 0.36) * math.sqrt(2) * rng.normal(size=160)
        figure = paired("pearson", x.tolist(), y.tolist(), [str(n // 4) for n in range(160)], seed=trial, resamples=300)
        assert figure.low is not None and figure.high is not None
        hits += figure.low <= 0.6 <= figure.high
    assert 50 <= hits <= 60


def test_correlations_are_scipys() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    assert paired("pearson", x.tolist(), y.tolist()).value == stats.pearsonr(x, y).statistic
    assert paired("spearman", x.tolist(), y.tolist()).value == stats.spearmanr(x, y).statistic
