"""Agreement of judges with people: a made-up panel of known noise, by a second implementation; and the detector on
drawn rollouts."""

from __future__ import annotations

import html
import json
import math
import re
import subprocess
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pingouin
import pytest
from msgspec.structs import replace
from scipy import stats

from conftest import once
from ego2world.core.journal import read_as, rewrite
from ego2world.errors import RecordError, UsageError
from ego2world.judge.agree import AgreementSettings, agree
from ego2world.judge.backends import FileAnswers
from ego2world.judge.benchmark import Benchmark, read_benchmark, write_benchmark
from ego2world.judge.gates import gate_errors, planted_faults
from ego2world.judge.planning import read_plans
from ego2world.judge.policy import PHYSICS, TASK
from ego2world.judge.records import GateAnswer
from ego2world.judge.report import write_report
from ego2world.judge.run import JudgeSettings, judge, read_answers
from ego2world.judge.sampling import FrameSampling
from ego2world.judge.score import by_subgoal
from ego2world.rollouts import FAULTS
from ego2world.rollouts.detector import Detector
from judge_data import MODELS, simulated

COMMAND = str(Path(sys.executable).parent / "ego2world")
PEOPLE = ("anna", "ben", "cem")


def run_of(bench: Benchmark, answers: Path, out: Path, all_gates: bool = True) -> Path:
    plans = read_plans(bench.folder / "plans.jsonl", bench)
    judge(bench, plans, out, FileAnswers.read(answers), JudgeSettings(all_gates=all_gates))
    return out


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> tuple[Benchmark, Path]:
    """150 videos of 10 cases, three people with few slips and a judge with many."""
    folder = tmp_path_factory.mktemp("panel")
    bench, answers = simulated(folder / "bench", 10, (101, 202), 2)
    return bench, run_of(bench, answers, folder / "run")


def final_scores(run: Path, independent: bool = False) -> dict[str, dict[str, float]]:
    """Return S by rater and video, by the definition."""
    gates: dict[tuple[str, str], dict[str, dict[str, bool]]] = defaultdict(lambda: defaultdict(dict))
    for row in map(json.loads, (run / "answers.jsonl").read_text().splitlines()):
        gates[row["rater"]["id"], row["video_id"]][row["sid"]][row["gate"]] = row["answer"] == "pass"
    out: dict[str, dict[str, float]] = defaultdict(dict)
    for (rater, video), subgoals in gates.items():
        task, physics = [], []
        for one in subgoals.values():
            t, p = [one[g] for g in TASK], [one[g] for g in PHYSICS]
            task.append(sum(t) / 3 if independent else [*t, False].index(False) / 3)
            if t[0]:
                physics.append(sum(p) / 4 if independent else [*p, False].index(False) / 4)
        out[rater][video] = round(100 * math.sqrt(np.mean(task) * np.mean(physics)), 2) if physics else 0.0
    return out


def test_agreement_is_that_of_a_second_implementation(panel: tuple[Benchmark, Path]) -> None:
    bench, run = panel
    found = agree(bench, [run], AgreementSettings(resamples=100))
    scores = final_scores(run)
    videos = [v.video_id for v in bench.videos]
    consensus = np.array([np.mean([scores[p][v] for p in PEOPLE]) for v in videos])
    mine = np.array([scores["judge"][v] for v in videos])
    one = found["judges"]["judge"]["S"]
    assert one["pearson"]["value"] == pytest.approx(stats.pearsonr(mine, consensus).statistic, abs=1e-6)
    assert one["kendall"]["value"] == pytest.approx(stats.kendalltau(mine, consensus).statistic, abs=1e-6)
    assert one["spearman"]["value"] == pytest.approx(stats.spearmanr(mine, consensus).statistic, abs=1e-6)
    assert one["mae"]["value"] == pytest.approx(np.abs(mine - consensus).mean(), abs=1e-6)
    scale = np.cov(mine, consensus, bias=True)
    lin = 2 * scale[0, 1] / (scale[0, 0] + scale[1, 1] + (mine.mean() - consensus.mean()) ** 2)
    assert one["ccc"]["value"] == pytest.approx(lin, abs=1e-6)
    assert all(one[name]["low"] < one[name]["value"] < one[name]["high"] for name in ("pearson", "kendall", "ccc"))
    rows = [(v, p, scores[p][v]) for v in videos for p in PEOPLE]
    data = {name: [row[n] for row in rows] for n, name in enumerate(("video", "rater", "score"))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas about pingouin
        table = pingouin.intraclass_corr(pd.DataFrame(data), "video", "rater", "score").set_index("Type")["ICC"]
    icc = found["annotators"]["S"]["icc"]
    assert found["icc"] == icc["ICC(2,k)"]["value"] == pytest.approx(table.filter(regex=r"2,?k|A,?k").iloc[0], abs=1e-6)
    means = {m: np.mean([consensus[n] for n, v in enumerate(bench.videos) if v.model == m]) for m in MODELS}
    assert {m: row["consensus"] for m, row in one_means(found).items()} == pytest.approx(means)
    first, second = ([row[who] for row in one_means(found).values()] for who in ("judge", "consensus"))
    rho = found["judges"]["judge"]["models"]["spearman"]["value"]
    assert rho == pytest.approx(stats.spearmanr(first, second).statistic)
    for row in found["ablations"]["judge"][:2]:
        other = final_scores(run, row["name"] == "independent")["judge"]
        assert row["mean_S"] == pytest.approx(np.mean([other[v] for v in videos]), abs=0.02)


def one_means(found: dict) -> dict:
    return found["judges"]["judge"]["models"]["means"]


def test_noise_that_is_put_in_is_found(panel: tuple[Benchmark, Path]) -> None:
    found = agree(*(panel[0], [panel[1]]), AgreementSettings(resamples=100))
    gates = found["annotators"]["gates"]
    expected = 0.97**2 + 0.03**2  # two people who slip in 3 of 100 answers
    for gate in (*TASK, *PHYSICS):
        assert gates[gate]["agreement"] == pytest.approx(expected, abs=0.02) and gates[gate]["single_rater"] == 0
    assert found["annotators"]["S"]["icc"]["ICC(2,k)"]["value"] > found["annotators"]["S"]["icc"]["ICC(2,1)"]["value"]
    assert found["judges"]["judge"]["models"]["spearman"]["value"] > 0.8


def test_missing_ratings_are_counted_and_never_zero(panel: tuple[Benchmark, Path], tmp_path: Path) -> None:
    bench, run = panel
    rows = read_answers(run)
    gone = {v.video_id for v in bench.videos[:5]}
    some = [r for r in rows if not (r.rater.id == "cem" and r.video_id in gone)]
    alone = bench.videos[5].video_id
    some = [r for r in some if not (r.rater.id in ("ben", "cem") and r.video_id == alone)]
    rewrite(tmp_path / "some.jsonl", (r.plain() for r in some))
    found = agree(bench, [run_of(bench, tmp_path / "some.jsonl", tmp_path / "run")], AgreementSettings(resamples=100))
    assert found["panel"]["with_consensus"] == len(bench.videos) - 1 and found["panel"]["too_few_raters"] == 1
    assert found["annotators"]["S"]["icc"]["ICC(2,1)"]["dropped"] == 6
    assert found["judges"]["judge"]["S"]["pearson"]["n"] == len(bench.videos) - 1
    scores = final_scores(run)
    row = next(r for r in found["videos"] if r["video_id"] == bench.videos[0].video_id)
    assert row["consensus"][2] == pytest.approx(np.mean([scores[p][row["video_id"]] for p in ("anna", "ben")]))


def test_videos_that_cannot_be_judged_stay_in_every_count(panel: tuple[Benchmark, Path], tmp_path: Path) -> None:
    bench, run = panel
    bad = set(sorted(v.video_id for v in bench.videos if v.model == "aster")[1:])
    rows = [replace(v, status="damaged", reason="cut") if v.video_id in bad else v for v in bench.videos]
    other = write_benchmark(tmp_path / "bench", ".", bench.cases, rows, {})
    (tmp_path / "bench/plans.jsonl").write_bytes((bench.folder / "plans.jsonl").read_bytes())
    with pytest.raises(RecordError, match="other videos"):
        agree(other, [run], AgreementSettings())
    made = run_of(other, bench.folder / "answers.jsonl", tmp_path / "run")
    found = agree(other, [made], AgreementSettings(resamples=100))
    aster = found["by_judge"]["judge"]["summary"]["by_origin"]["aster"]
    assert aster["videos"] == 20 and aster["scored"] == 20 - len(bad) and not aster["complete"]
    assert aster["S_missing_as_0"] < aster["S"]
    assert found["consensus"]["summary"]["by_origin"]["aster"]["videos"] == 20
    assert found["panel"]["with_consensus"] == len(bench.videos) - len(bad) and found["panel"]["unusable"] == len(bad)
    assert found["panel"]["videos"] == len(bench.videos)


def test_a_judge_that_says_one_thing_is_undefined_not_zero(panel: tuple[Benchmark, Path], tmp_path: Path) -> None:
    bench, run = panel
    rows = [r for r in read_answers(run) if r.rater.id != "judge"]
    yes = [r for r in read_as(run / "answers.jsonl", GateAnswer) if r.rater.id == "judge"]
    rewrite(tmp_path / "a.jsonl", [r.plain() for r in rows] + [r.plain() | {"answer": "pass"} for r in yes])
    found = agree(bench, [run_of(bench, tmp_path / "a.jsonl", tmp_path / "run")], AgreementSettings(resamples=100))
    one = found["judges"]["judge"]["S"]
    assert one["pearson"]["value"] is None and one["pearson"]["note"] == "constant judge scores"
    assert one["ccc"]["value"] == 0 and one["mae"]["value"] > 0
    write_report(bench, found, tmp_path / "report")
    text = (tmp_path / "report/agreement.json").read_text()
    assert "NaN" not in text and "Infinity" not in text and json.loads(text)["pearson"] is None
    page = (tmp_path / "report/index.html").read_text()
    assert "undefined" in page and "constant judge scores" in page and ">nan" not in page.lower()


def test_names_are_text_in_page_figures_and_tables(panel: tuple[Benchmark, Path], tmp_path: Path) -> None:
    bench, run = panel
    name = "j$\\frac$ <b>x</b> [red]</script>"
    rows = [r.plain() for r in read_answers(run)]
    for row in rows:
        row["rater"]["id"] = name if row["rater"]["id"] == "judge" else row["rater"]["id"]
    rewrite(tmp_path / "a.jsonl", rows)
    made = run_of(bench, tmp_path / "a.jsonl", tmp_path / "run")
    done = subprocess.run(
        [COMMAND, "judge", "agree", bench.folder, made, "--resamples", "100", "--out", tmp_path / "report"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and name in done.stdout, done.stderr
    page = (tmp_path / "report/index.html").read_text()
    assert "<b>x" not in page and "</script>" not in page and html.escape(name, quote=False) in page
    assert "&lt;b&gt;x" in (tmp_path / "report/figures/scatter.svg").read_text()


def test_who_is_held_against_whom(panel: tuple[Benchmark, Path]) -> None:
    bench, run = panel
    with pytest.raises(UsageError, match="no rater of kind 'oracle'"):
        agree(bench, [run], AgreementSettings(reference="oracle"))
    with pytest.raises(UsageError, match="give each run once"):
        agree(bench, [run, run, run], AgreementSettings())


def test_the_commands_make_one_page_without_a_network(panel: tuple[Benchmark, Path], tmp_path: Path) -> None:
    bench, run = panel

    def command(*words: str | Path) -> str:
        done = subprocess.run([COMMAND, "judge", *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = command("agree", bench.folder, run, "--resamples", "100", "--out", tmp_path / "a")
    assert "have a consensus of anna, ben, cem" in said and "ICC(2,k)" in said and "alpha (interval)" in said
    command("agree", bench.folder, run, "--resamples", "100", "--out", tmp_path / "b")
    names = sorted(str(p.relative_to(tmp_path / "a")) for p in (tmp_path / "a").rglob("*") if p.is_file())
    assert {"agreement.json", "index.html"} < set(names) and sum(n.endswith(".svg") for n in names) >= 5
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    page = (tmp_path / "a/index.html").read_text()
    assert not re.search(r"""(src|href)=["'](https?:)?//""", page) and "<script" not in page
    for heading in ("Judges against the consensus", "Annotators against each other", "Models", "Ablations", "Method"):
        assert heading in page
    assert json.loads(command("agree", bench.folder, run, "--resamples", "100", "--json"))["pearson"] > 0.5
    independent = json.loads(command("agree", bench.folder, run, "--independent", "--resamples", "100", "--json"))
    assert independent["settings"]["policy"]["independent"] is True


# --- the detector on drawn rollouts ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def seen(rendered: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Agreement of the detector at 32 frames with the truth, all gates asked."""
    bench = read_benchmark(rendered)

    def make(out: Path) -> None:
        plans = read_plans(rendered / "plans.jsonl", bench)
        settings = JudgeSettings(FrameSampling(frames=32), all_gates=True)
        judge(bench, plans, out / "vision", [Detector(rendered)], settings)
        judge(bench, plans, out / "truth", FileAnswers.read(rendered / "truth.jsonl"), JudgeSettings(all_gates=True))

    out = once(tmp_path_factory, "seen", make)
    return agree(bench, [out / "vision", out / "truth"], AgreementSettings("oracle", 1, resamples=100))


def test_the_detector_agrees_with_the_truth(seen: dict) -> None:
    one = seen["judges"]["vision"]
    assert one["S"]["pearson"]["n"] == 120 and one["S"]["pearson"]["dropped"] == 0
    assert one["T"]["pearson"]["value"] > 0.85 and one["S"]["pearson"]["value"] > 0.6
    assert one["S"]["kendall"]["value"] > 0.5 and one["S"]["ccc"]["value"] > 0.55 and one["S"]["mae"]["value"] < 10
    assert one["models"]["spearman"]["value"] > 0.7


def test_errors_are_counted_gate_by_gate_and_fault_by_fault(seen: dict, rendered: Path) -> None:
    right = by_subgoal(read_as(rendered / "truth.jsonl", GateAnswer))["oracle"]
    videos = [v.video_id for v in read_benchmark(rendered).videos]
    planted = planted_faults(rendered, right, videos)
    assert sum(one["planted"] for one in planted) == sum(one["found"] for one in planted) == 120
    assert {one["fault"]: (one["gate"], one["type"]) for one in planted} == {
        fault.value: (expected.gate, expected.failure) for fault, expected in FAULTS.items()
    }
    same = gate_errors(right, [right])
    assert all(one["missed"] == one["false_alarm"] == 0 for one in same.values())
    mine = seen["judges"]["vision"]
    for gate, one in mine["gates"].items():
        assert one["both_fail"] + one["missed"] == same[gate]["both_fail"]
        assert one["both_pass"] + one["false_alarm"] == same[gate]["both_pass"]
    assert [one["planted"] for one in mine["planted"]] == [one["planted"] for one in planted]
    assert sum(one["found"] for one in mine["planted"]) > 80
    nobody = planted_faults(rendered, right, [])
    assert nobody == [] and gate_errors(right, [])["T1"]["both_pass"] == 0


def test_gates_in_order_agree_better_than_gates_apart_and_than_fewer_gates(seen: dict) -> None:
    rows = {row["name"]: row for row in seen["ablations"]["vision"]}
    base = rows["sequential"]
    apart = rows["independent"]
    assert apart["delta_S"] > 3 and apart["pearson"] < base["pearson"] and apart["ccc"] < base["ccc"]
    assert rows["without P1"]["delta_mae"] > 1 and rows["without P1"]["pearson"] < base["pearson"]
    assert rows["T1 bypassed"]["delta_mae"] > 1 and rows["T1 bypassed"]["ccc"] < base["ccc"]
