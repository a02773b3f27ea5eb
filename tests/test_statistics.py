"""Intervals and tests: published examples, known limits, and whether a 95 % interval covers 95 % of the time."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats

from ego2world.core.statistics import cluster_interval, mcnemar_exact, mean_interval, simultaneous_intervals


@pytest.mark.parametrize(
    ("b", "c", "p_value"),
    [
        (9, 2, 0.06542969),  # R's exact2x2, mcnemar.exact(matrix(c(21, 9, 2, 12), 2)): p-value = 0.06543
        (2, 2, 1.0),  # the paper's memory study: two successes each among four discordant tasks
        (0, 0, 1.0),
        (0, 6, 2 * 0.5**6),
    ],
)
def test_mcnemar_exact(b: int, c: int, p_value: float) -> None:
    first = [True] * 21 + [True] * b + [False] * c + [False] * 12
    second = [True] * 21 + [False] * b + [True] * c + [False] * 12
    found = mcnemar_exact(first, second)
    assert (found.both, found.only_first, found.only_second, found.neither) == (21, b, c, 12)
    assert found.p_value == pytest.approx(p_value, abs=1e-8)


def test_pairs_need_the_same_tasks() -> None:
    with pytest.raises(ValueError, match="found 1 and 2 outcomes"):
        mcnemar_exact([True], [True, False])


def test_undefined_is_none_and_constant_is_a_point() -> None:
    assert mean_interval([], 0) is None and cluster_interval([1], [1], 0) is None
    one = mean_interval([1.0] * 9, 0)
    assert one is not None and (one.low, one.value, one.high, one.method) == (1, 1, 1, "point")
    flat = cluster_interval([2, 4, 6], [1, 2, 3], 0)
    assert flat is not None and (flat.low, flat.high, flat.method) == (2, 2, "point")
    same = simultaneous_intervals([[0, 0, 0], [1, 2, 4]], 0)
    assert same[0].tie and (same[0].low, same[0].high) == (0, 0) and same[1].method != "point"
    with pytest.raises(ValueError, match="at least 2"):
        simultaneous_intervals([[1.0]], 0)


def test_the_same_seed_gives_the_same_interval() -> None:
    data = np.random.default_rng(1).random(40)
    assert mean_interval(data, 3) == mean_interval(data, 3) != mean_interval(data, 4)
    assert simultaneous_intervals(data[None], 3) == simultaneous_intervals(data[None], 3)


def test_one_contrast_is_students_t_and_many_are_sidaks() -> None:
    """On much normal data the critical value of one contrast is Student's, and of 45 independent ones Sidak's."""
    data = np.random.default_rng(2).normal(size=(45, 400))
    single = simultaneous_intervals(data[:1], 0)[0]
    t = stats.ttest_1samp(data[0], 0).confidence_interval(0.95)
    assert (single.low, single.high) == pytest.approx((t.low, t.high), abs=0.012)
    many = simultaneous_intervals(data, 0)
    reach = (many[0].high - many[0].value) / (data[0].std(ddof=1) / np.sqrt(400))
    assert reach == pytest.approx(stats.norm.ppf((1 + 0.95 ** (1 / 45)) / 2), abs=0.15)


def test_clusters_of_one_are_tasks() -> None:
    data = np.random.default_rng(3).normal(size=(3, 30))
    alone = simultaneous_intervals(data, 0, clusters=[f"{n:02d}" for n in range(30)])
    for one, other in zip(alone, simultaneous_intervals(data, 0), strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


SIMULATIONS = 1000


def covers(inside: int) -> None:
    """A nominal 95 % interval covers 93 to 97 %, with room for the simulation's own error (0.7 points at 1,000)."""
    assert 0.93 - 0.005 <= inside / SIMULATIONS <= 0.97 + 0.005, inside / SIMULATIONS


@pytest.mark.parametrize(("tasks", "chance"), [(51, 0.12), (105, 0.15), (105, 0.5)])
def test_coverage_over_tasks(tasks: int, chance: float) -> None:
    draw = np.random.default_rng(4)
    inside = 0
    for seed in range(SIMULATIONS):
        found = mean_interval((draw.random(tasks) < chance).astype(float), seed, 600)
        inside += found is not None and found.low <= chance <= found.high
    covers(inside)


def test_coverage_over_episode_clusters() -> None:
    """22 episodes of different sizes whose own level varies, as in a memory study."""
    draw = np.random.default_rng(5)
    inside = 0
    for seed in range(SIMULATIONS):
        sizes = draw.integers(10, 100, 22)
        sums = sizes * draw.normal(0.04, 0.06, 22) + draw.normal(0, 0.3, 22) * np.sqrt(sizes)
        found = cluster_interval(sums, sizes, seed, 600)
        inside += found is not None and found.low <= 0.04 <= found.high
    covers(inside)


def test_simultaneous_coverage_of_all_contrasts() -> None:
    """Six planners without true differences, three metrics, 105 tasks: all 45 intervals hold at once."""
    draw = np.random.default_rng(6)
    inside = 0
    for seed in range(SIMULATIONS):
        level = draw.beta(2, 3, 105)
        scores = (draw.random((3, 6, 105)) < level).astype(float)
        scores[1] = draw.beta(1.2, 1, (6, 105))
        rows = [scores[m, i] - scores[m, j] for m in range(3) for i in range(6) for j in range(i)]
        inside += all(i.tie for i in simultaneous_intervals(rows, seed, resamples=500))
    covers(inside)


def test_ten_thousand_resamples_of_45_contrasts_are_quick() -> None:
    data = np.random.default_rng(7).normal(size=(45, 105))
    start = time.process_time()
    simultaneous_intervals(data, 0, resamples=10_000)
    assert time.process_time() - start < 5
