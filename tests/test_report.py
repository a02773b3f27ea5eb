"""Reports: comparisons worked out by hand, traces that tell the truth, the same bytes twice, and pages that keep to
themselves."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conftest import make_world
from ego2world.agents.mock import mock_reply
from ego2world.core.models import MockModel, ModelClient
from ego2world.errors import RecordError
from ego2world.evaluate import score_run
from ego2world.evaluate.collateral import collateral, count_sorts
from ego2world.evaluate.compare import compare_runs, memory_effect, memory_pairs
from ego2world.evaluate.direct_graph import check_graph, compare_graphs, mock_graph, write_graph
from ego2world.evaluate.metrics import read_settings
from ego2world.evaluate.overlap import overlap, overlap_summary
from ego2world.evaluate.replay import RunRecords, replay
from ego2world.evaluate.review import RunReview
from ego2world.report import write_report
from ego2world.run.chat import Budget
from ego2world.run.loop import RunSettings, run
from ego2world.world.episode import Episode, load_episode

EPISODES = ("K01-20250301-080000", "K02-20250410-093000", "K03-20250520-190000")


@pytest.fixture(scope="module")
def runs(sample_worlds: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("reported")
    for planner, memory in (
        ("reference", "persistent"),
        ("symbolic", "persistent"),
        ("symbolic", "reset"),
        ("symbolic", "none"),
        ("random", "persistent"),
    ):
        run(sample_worlds, out / f"{planner}-{memory}", RunSettings(planner, memory))
    for memory in ("persistent", "reset"):
        run(sample_worlds, out / f"llm-{memory}", RunSettings("llm", memory), client=ModelClient(MockModel(mock_reply)))
    return {folder.name: folder for folder in sorted(out.iterdir())}


@pytest.fixture(scope="module")
def report(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    write_report(list(runs.values()), out, resamples=500)
    return out


def traces(page: str, run_number: int) -> dict[str, Any]:
    packed = re.search(rf'<script type="application/gzip" id="trace-{run_number}">([^<]*)</script>', page)
    assert packed
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed.group(1))))
    return found


def test_contrasts_and_pairs(runs: dict[str, Path]) -> None:
    labels = list(runs)
    scores = [score_run(folder) for folder in runs.values()]
    compared = compare_runs(scores, labels, 0, 500)
    assert len(compared["contrasts"]) == 21 * 3
    for c in compared["contrasts"]:
        a, b = (scores[labels.index(c[k])]["metrics"][c["metric"]] for k in ("first", "second"))
        assert c["value"] == pytest.approx(a - b) and c["tie"] == (c["low"] <= 0 <= c["high"])
        assert c["low"] <= c["value"] <= c["high"]
    worst = next(
        c
        for c in compared["contrasts"]
        if (c["metric"], c["first"], c["second"]) == ("gcr", "random-persistent", "reference-persistent")
        or (c["metric"], c["second"], c["first"]) == ("gcr", "random-persistent", "reference-persistent")
    )
    assert not worst["tie"]
    pairs = [(labels[a], labels[b]) for a, b in memory_pairs(scores)]
    assert (
        ("symbolic-persistent", "symbolic-reset") in pairs
        and ("llm-persistent", "llm-reset") in pairs
        and len(pairs) == 4
    )
    assert compare_runs(scores, labels, 0, 500) == compared


def test_a_memory_effect_by_hand(runs: dict[str, Path]) -> None:
    first, second = score_run(runs["symbolic-persistent"]), score_run(runs["symbolic-reset"])
    effect = memory_effect(first, second, None, 0, 500)
    a, b = ({(t["episode"], t["task"]): t for t in s["per_task"]} for s in (first, second))
    assert effect["success"]["only_first"] == sum(a[k]["success"] and not b[k]["success"] for k in a)
    assert effect["success"]["both"] == sum(a[k]["success"] and b[k]["success"] for k in a)
    queries = effect["resources"]["visual_queries"]
    assert (queries["first"], queries["second"]) == tuple(s["resources"]["visual_queries"] for s in (first, second))
    assert queries["change"] == pytest.approx(queries["first"] / queries["second"] - 1) and queries["direction"] == -1
    assert queries["per_group"]["value"] == pytest.approx((queries["first"] - queries["second"]) / first["groups"])
    validity = effect["outcomes"]["action_validity"]
    assert validity["difference"]["value"] == pytest.approx(
        first["metrics"]["action_validity"] - second["metrics"]["action_validity"]
    )
    assert validity["paper"] == "45.94 % against 41.79 %"


def test_incomplete_runs_are_shown_and_not_contrasted(
    sample_worlds: Path, runs: dict[str, Path], tmp_path: Path
) -> None:
    run(
        sample_worlds,
        tmp_path / "part",
        RunSettings("llm", budget=Budget(tokens=15000)),
        client=ModelClient(MockModel(mock_reply)),
    )
    write_report([tmp_path / "part", runs["llm-persistent"]], tmp_path / "rep", resamples=200)
    page = (tmp_path / "rep/index.html").read_text()
    assert "is incomplete" in page and "of 15000 tokens are spent" in page and 'id="contrasts"' not in page


def test_every_condition_is_followed_to_its_end(sample_worlds: Path, runs: dict[str, Path], report: Path) -> None:
    """The traces agree with the scores, condition by condition; in the reference run each was made true by its own
    witness."""
    page = (report / "index.html").read_text()
    for number, (name, folder) in enumerate(runs.items()):
        score, found = score_run(folder), traces(page, number)
        for task in score["per_task"]:
            conditions = found[task["episode"]]["tasks"][task["task"]]["conditions"]
            true = sum(c["truth"] == "true" for c in conditions)
            assert task["success"] == (task["completed"] and true == len(conditions))
            assert all(bool(c["made_true_by"]) >= (c["truth"] == "true") for c in conditions)
            if name == "reference-persistent":
                for c in conditions:
                    assert c["witness"] and c["made_true_by"] and not c["undone_by"]
    episode = load_episode(sample_worlds, EPISODES[0])
    first = traces(page, list(runs).index("reference-persistent"))[EPISODES[0]]["groups"][0]
    assert first["instruction"] == episode.groups[0].instruction and first["span_s"] == list(episode.groups[0].span_s)
    assert all(n in episode.narrations for n in first["narrations"])


def test_traces_show_calls_looks_refusals_and_belief(runs: dict[str, Path], report: Path) -> None:
    page = (report / "index.html").read_text()
    found = traces(page, list(runs).index("llm-reset"))
    groups = [g for e in found.values() for g in e["groups"]]
    steps = [s for g in groups for s in g["steps"]]
    assert sum(len(g["calls"]) for g in groups) == score_run(runs["llm-reset"])["pooled"]["calls"]
    assert {s["kind"] for s in steps} == {"saw", "look", "attempt"}
    refused = [s for s in steps if s["kind"] == "attempt" and not s["accepted"]]
    assert refused and all(s["failures"] and s["told"] for s in refused)
    beliefs = [row for e in found.values() for t in e["tasks"].values() for row in t["belief"]]
    assert {row[4] for row in beliefs} >= {"right", "not known"}
    assert all((row[2] == row[3]) or row[0] == "place" for row in beliefs if row[4] == "right")


def test_the_page_needs_nothing_from_outside(report: Path) -> None:
    page = (report / "index.html").read_text()
    outside = re.findall(r'(?:src|href)="(?!#)([^"]*)"|url\((?!#)[^)]*\)|@import|<link|<iframe', page)
    assert not outside and "http" not in re.sub(
        r'<script type="application/gzip"[^<]*</script>|xmlns(:\w+)?="[^"]*"', "", page
    )
    assert {f.name for f in (report / "figures").iterdir()} == {
        f"{n}.{e}" for n in ("metrics", "endpoints", "contrasts", "quarters", "belief") for e in ("svg", "png")
    }
    for figure in ("metrics", "endpoints", "contrasts", "quarters", "belief"):
        assert f'id="caption-{figure}"' in page and f'aria-labelledby="caption-{figure}"' in page


def test_the_same_records_give_the_same_report(runs: dict[str, Path], report: Path, tmp_path: Path) -> None:
    write_report(list(runs.values()), tmp_path, resamples=500)
    for file in sorted(p.relative_to(report) for p in report.rglob("*") if p.is_file()):
        assert (tmp_path / file).read_bytes() == (report / file).read_bytes(), file


def test_without_the_worlds_the_report_says_what_is_missing(runs: dict[str, Path], tmp_path: Path) -> None:
    write_report([runs["reference-persistent"]], tmp_path, tmp_path / "nowhere", resamples=200)
    page = (tmp_path / "index.html").read_text()
    assert "No traces, collateral and overlap" in page and "--worlds" in page


def review_run(worlds: Path, folder: Path) -> dict[str, Any]:
    """Replay a run's finished episodes and return its collateral and overlap."""
    records, review = RunRecords.read(folder, read_settings(folder)), RunReview.of(score_run(folder)["per_task"])
    for name in records.episodes:
        episode = load_episode(worlds, name)
        review.add(episode, list(replay(episode, records)))
    return review.plain()


def test_changed_records_do_not_replay(sample_worlds: Path, runs: dict[str, Path], tmp_path: Path) -> None:
    import shutil

    shutil.copytree(runs["symbolic-reset"], tmp_path / "r")
    lines = (tmp_path / "r/attempts.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "r/attempts.jsonl").write_bytes(b"".join(lines[1:]))
    with pytest.raises(RecordError, match="replay"):
        review_run(sample_worlds, tmp_path / "r")


def test_the_reference_leaves_nothing_behind_and_random_does(sample_worlds: Path, runs: dict[str, Path]) -> None:
    reference, random = (review_run(sample_worlds, runs[f"{p}-persistent"]) for p in ("reference", "random"))
    assert reference["collateral"]["counts"] == {"immediate": 0, "latent": 0, "irreversible": 0}
    assert reference["overlap"]["mean_overlap"] == 1.0 and reference["overlap"]["spearman"] is None
    assert random["overlap"]["mean_overlap"] < 0.2


def test_collateral_of_each_sort() -> None:
    kinds = {
        "tap_1": "tap",
        "fridge_1": "fridge",
        "floor_1": "floor",
        "bin_1": "bin",
        "cup_1": "cup",
        "egg_1": "egg",
        "milk_box_1": "bottle",
        "milk_1": "milk",
        "counter_1": "counter",
        "plate_1": "plate",
    }
    zones = dict.fromkeys(("tap_1", "fridge_1", "floor_1", "bin_1", "counter_1"), "zone_1")
    world, start = make_world(
        kinds, zones, {("contains", "milk_box_1", "milk_1"): True, ("openness", "fridge_1"): "closed"}
    )
    episode = Episode("e", world, start, (), (), (), (), {}, {}, "")
    end = type(start).of(
        {
            **start.facts,
            ("power", "tap_1"): "on",
            ("openness", "fridge_1"): "open",
            ("place", "cup_1"): ("on", "floor_1"),
            ("place", "egg_1"): ("in", "bin_1"),
            ("form", "plate_1"): "broken",
            ("contains", "milk_box_1", "milk_1"): False,
        }
    )
    faults = collateral(episode, end, start)
    assert count_sorts(faults) == {"immediate": 1, "latent": 2, "irreversible": 3}
    assert {(f["thing"], f["sort"]) for f in faults} == {
        ("tap_1", "latent"),
        ("fridge_1", "latent"),
        ("cup_1", "immediate"),
        ("egg_1", "irreversible"),
        ("plate_1", "irreversible"),
        ("milk_1", "irreversible"),
    }
    assert collateral(episode, end, end) == [], "what the reference leaves as well is no collateral"


def test_overlap_is_an_f1_of_multisets() -> None:
    done = Counter({("open", "a"): 2, ("cut", "b"): 1})
    assert overlap(done, Counter({("open", "a"): 1, ("cut", "b"): 1})) == pytest.approx(2 * 2 / 5)
    assert overlap(Counter(), Counter()) == 1.0 and overlap(done, Counter()) == 0.0
    tasks = [{"overlap": o, "gcr": g, "success": g == 1} for o, g in ((1.0, 1.0), (0.9, 0.5), (0.4, 0.2), (0.1, 0.0))]
    summary = overlap_summary(tasks)
    assert summary["spearman"] == pytest.approx(1.0) and (
        summary["high_overlap"],
        summary["high_overlap_not_reached"],
    ) == (2, 1)
    assert overlap_summary(tasks[:2])["spearman"] is None


def test_a_direct_graph_is_checked_against_the_annotations(sample_worlds: Path) -> None:
    episode = load_episode(sample_worlds, EPISODES[0])
    mug = next(e for e in episode.world.entities.values() if e.type == "cup")
    place = next(v for k, v in episode.initial.facts.items() if k == ("place", mug.id))
    where = episode.world.entities[place[1]].name  # type: ignore[index]
    said = {
        "entities": [{"name": mug.name, "type": "cup"}, {"name": "unicorn", "type": "animal"}],
        "facts": [
            {"thing": mug.name, "relation": place[0], "where": where},  # type: ignore[index]
            {"thing": mug.name, "relation": "in", "where": "oven of the neighbour"},
            {"thing": "unicorn", "relation": "on", "where": where},
        ],
    }
    replies = [json.dumps(said)]
    client = ModelClient(MockModel(lambda request: replies.pop() if replies else "no graph"))
    checked = check_graph(episode, write_graph(episode, client))
    assert (checked["entities"], checked["entities_hallucinated"], checked["facts"], checked["facts_hallucinated"]) == (
        2,
        1,
        3,
        2,
    )
    assert checked["rate"] == pytest.approx(3 / 5) and checked["hallucinated"]["entities"] == ["unicorn"]
    assert checked["unreadable"] == checked["calls"] - 1
    total = compare_graphs(sample_worlds, ModelClient(MockModel(mock_graph)))
    assert 0 < total["rate"] < 0.5 and total["compiled"]["entities_hallucinated"] == 0
