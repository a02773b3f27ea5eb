"""Human review: the store appends and loses nothing, the pages are safe, and a whole session goes through a real
browser."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from msgspec.structs import replace

from browser import BROWSER, Server, until
from ego2world.core.canonical import json_lines
from ego2world.errors import UsageError
from ego2world.qa.build import FILES, read_records
from ego2world.qa.records import QuestionGroup, plain
from ego2world.qa.review import (
    DECISIONS,
    SEED,
    ReviewStore,
    StaleVersion,
    Suggestion,
    agreement,
    covers,
    make_cohort,
    original_hash,
    read_reviews,
    summary,
)
from ego2world.web import review_app
from ego2world.web.pages import script_json


@pytest.fixture
def cohort(sample_questions: Path, tmp_path: Path) -> Path:
    make_cohort(sample_questions, tmp_path / "review", 20, ["anna", "ben"], double=0.5)
    return tmp_path / "review"


# --- the store -----------------------------------------------------------------------------------------------


def test_a_cohort_is_drawn_without_replacement_by_a_fixed_seed(sample_questions: Path, tmp_path: Path) -> None:
    made = make_cohort(sample_questions, tmp_path / "a", 30, ["anna", "ben", "cem"], double=0.2)
    assert made["seed"] == SEED == 20260921 and len(set(made["items"])) == 30 and len(made["double"]) == 6
    assert make_cohort(sample_questions, tmp_path / "b", 30, ["anna", "ben", "cem"], double=0.2) == made
    assert (tmp_path / "a/cohort.json").read_bytes() == (tmp_path / "b/cohort.json").read_bytes()
    places = [item for queue in made["queues"].values() for item in queue]
    assert len(places) == 36 and {item for item in places if places.count(item) == 2} == set(made["double"])
    assert max(map(len, made["queues"].values())) - min(map(len, made["queues"].values())) <= 1
    with pytest.raises(UsageError, match="another cohort"):
        make_cohort(sample_questions, tmp_path / "a", 31, ["anna", "ben"])
    for names in ([], ["../x"], ["a b"]):
        with pytest.raises(UsageError, match="reviewers"):
            make_cohort(sample_questions, tmp_path / "c", 3, names)


def test_decisions_are_appended_undone_and_superseded(cohort: Path, sample_questions: Path) -> None:
    before = {path.name: path.read_bytes() for path in sample_questions.iterdir() if path.is_file()}
    store = ReviewStore(cohort)
    item = store.cohort["queues"]["anna"][0]
    turn = store.groups[item].turns[0]
    suggestion = Suggestion(turn=0, field="answer", text="Better words.", original_hash=original_hash(turn, "answer"))
    first = store.save(item, "anna", 0, "accept")
    second = store.save(item, "anna", 1, "reject", ["answer_wrong"], "look again", [suggestion], [(0.0, 1e6)])
    assert second.supersedes == first.id and second.media_verified and not first.media_verified
    assert store.current(item, "anna") == second and store.current(item, "ben") is None
    undone = store.undo(item, "anna")
    assert undone and undone.undoes == second.id and store.current(item, "anna") == first
    store.undo(item, "anna")
    assert store.current(item, "anna") is None and store.undo(item, "anna") is None
    store.close()
    assert len(read_reviews(cohort)) == 4  # nothing was taken out
    assert {path.name: path.read_bytes() for path in sample_questions.iterdir() if path.is_file()} == before


def test_c133_a_stale_tab_overwrites_nobody(cohort: Path) -> None:
    store = ReviewStore(cohort)
    item = store.cohort["double"][0]
    for version in range(3):
        store.save(item, "anna", version, "uncertain")
    store.save(item, "anna", 3, "accept")
    with pytest.raises(StaleVersion) as error:
        store.save(item, "ben", 3, "reject")
    assert error.value.version == 5
    store.close()
    kept = {row["reviewer"]: row for row in summary(cohort)["reviews"] if row["item"] == item}
    assert kept["anna"]["decision"] == "accept" and kept["ben"]["decision"] == "reject" and kept["ben"]["stale"]


def test_bad_decisions_are_refused_with_one_line(cohort: Path) -> None:
    store = ReviewStore(cohort)
    item, other = (
        store.cohort["queues"]["anna"][0],
        next(i for i in store.cohort["queues"]["ben"] if i not in store.cohort["queues"]["anna"]),
    )
    for arguments, words in (
        ((item, "carl", 0, "accept"), "no reviewer"),
        ((other, "anna", 0, "accept"), "not in the queue"),
        ((item, "anna", 0, "maybe"), "no decision"),
        ((item, "anna", 0, "accept", ["nonsense"]), "no issue"),
        (
            (item, "anna", 0, "accept", [], "", [Suggestion(turn=9, field="answer", text="", original_hash="")]),
            "no field",
        ),
        (
            (item, "anna", 0, "accept", [], "", [Suggestion(turn=0, field="answer", text="", original_hash="old")]),
            "another one now",
        ),
    ):
        with pytest.raises(UsageError, match=words):
            store.save(*arguments)
    assert read_reviews(cohort) == []


def test_a_line_that_a_kill_tore_is_dropped_and_the_next_is_whole(cohort: Path) -> None:
    store = ReviewStore(cohort)
    items = store.cohort["queues"]["anna"]
    store.save(items[0], "anna", 0, "accept")
    store.close()
    with (cohort / "reviews.jsonl").open("ab") as file:
        file.write(b'{"id":"review_000002","item":')
    store = ReviewStore(cohort)
    store.save(items[1], "anna", 0, "reject")
    store.close()
    assert [one.decision for one in read_reviews(cohort)] == ["accept", "reject"]


def test_agreement_is_that_of_the_library_and_of_a_hand_count() -> None:
    from ego2world.qa.review import ReviewDecision

    def pair(n: int, a: str, b: str) -> list[ReviewDecision]:
        return [
            ReviewDecision(id=f"{n}{who}", item=str(n), reviewer=who, version=0, decision=decision)
            for who, decision in (("x", a), ("y", b))
        ]

    rows = {
        str(n): pair(n, *ab)
        for n, ab in enumerate([("accept", "accept")] * 6 + [("reject", "reject")] * 2 + [("accept", "reject")] * 2)
    }
    # nominal alpha by hand: coincidences o_aa = 12, o_rr = 4, o_ar = o_ra = 2; n_a = 14, n_r = 6, n = 20
    # 1 - (n - 1) * sum(o_ck, c != k) / sum(n_c n_k, c != k) = 1 - 19 * 4 / 168
    found = agreement(rows)
    assert found["items"] == 10 and found["same"] == 8 and found["alpha"] == pytest.approx(1 - 19 * 4 / 168)
    assert agreement({"0": pair(0, "accept", "accept")})["alpha"] is None


def test_what_counts_as_played(sample_questions: Path) -> None:
    group: QuestionGroup = read_records(sample_questions / FILES["accepted"], QuestionGroup)[0]
    start_s, end_s = group.clip.start_s, group.clip.end_s
    half = (start_s + end_s) / 2
    assert covers([(start_s, half), (half - 1, end_s)], group) and covers([(start_s - 5, end_s + 5)], group)
    assert (
        not covers([(start_s, half), (start_s, half)], group)
        and not covers([], group)
        and not covers([(end_s, start_s)], group)
    )


def test_a_changed_question_makes_its_review_stale(sample_questions: Path, tmp_path: Path) -> None:
    qa = tmp_path / "qa"
    shutil.copytree(sample_questions, qa)
    make_cohort(qa, tmp_path / "r", 3, ["anna"])
    store = ReviewStore(tmp_path / "r")
    item = store.cohort["items"][0]
    store.save(item, "anna", 0, "accept")
    store.close()
    groups: list[QuestionGroup] = read_records(qa / FILES["accepted"], QuestionGroup)
    changed = [
        g if g.id != item else replace(g, turns=(replace(g.turns[0], question="Another question?"), *g.turns[1:]))
        for g in groups
    ]
    (qa / FILES["accepted"]).write_bytes(json_lines(plain(group) for group in changed))
    assert {row["code"] for row in summary(tmp_path / "r")["findings"]} == {"REVIEW_STALE", "REVIEW_MEDIA_UNVERIFIED"}


# --- the pages -----------------------------------------------------------------------------------------------


@pytest.fixture
def media(tmp_path: Path) -> Path:
    folder = tmp_path / "videos"
    folder.mkdir()
    (folder / "v1.mp4").write_bytes((bytes(range(256)) * 655)[:167_554])
    private = tmp_path / "videos_private"
    private.mkdir()
    (private / "x.mp4").write_bytes(b"secret")
    return folder


def test_c129_parts_of_a_video_are_served(cohort: Path, media: Path) -> None:
    size = (media / "v1.mp4").stat().st_size
    data = (media / "v1.mp4").read_bytes()
    assert size == 167_554
    with TestClient(review_app(cohort, media)) as client:
        for asked, status, content_range, body in (
            ("bytes=0-1", 206, f"bytes 0-1/{size}", data[:2]),
            ("bytes=100-199", 206, f"bytes 100-199/{size}", data[100:200]),
            (f"bytes={size}-", 416, f"bytes */{size}", None),
            ("bytes=-10", 206, f"bytes {size - 10}-{size - 1}/{size}", data[-10:]),
        ):
            got = client.get("/media/v1", headers={"Range": asked})
            assert (
                got.status_code == status
                and got.headers["content-range"] == content_range
                and got.headers["accept-ranges"] == "bytes"
            ), asked
            assert body is None or got.content == body
        whole = client.get("/media/v1")
        assert whole.status_code == 200 and whole.content == data and whole.headers["accept-ranges"] == "bytes"


def test_c130_nothing_outside_of_the_folder_is_served(cohort: Path, media: Path) -> None:
    with TestClient(review_app(cohort, media)) as client:
        for path in (
            "/media/../videos_private/x.mp4",
            "/media/..%2fvideos_private%2fx.mp4",
            "/media//etc/passwd",
            "/media/x",
            "/media/",
            "/static/../app.py",
            "/static/..%2fapp.py",
            "/static/item.html.j2",
        ):
            got = client.get(path)
            assert got.status_code in (403, 404) and b"secret" not in got.content and b"root:" not in got.content, path


def test_c132_awkward_file_names(sample_questions: Path, tmp_path: Path) -> None:
    name = "pan+lid #2 100% é"
    qa = tmp_path / "qa"
    shutil.copytree(sample_questions, qa)
    groups: list[QuestionGroup] = read_records(qa / FILES["accepted"], QuestionGroup)[:1]
    (qa / FILES["accepted"]).write_bytes(
        json_lines([plain(replace(groups[0], clip=replace(groups[0].clip, video=name)))])
    )
    make_cohort(qa, tmp_path / "r", 1, ["anna"])
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / (unicodedata.normalize("NFD", name) + ".mp4")).write_bytes(b"the same bytes")
    with TestClient(review_app(tmp_path / "r", tmp_path / "media")) as client:
        page = client.get("/r/anna/0").text
        link = re.search(r'<video[^>]* src="([^"#]+)', page)
        assert link and " " not in link[1] and client.get(link[1]).content == b"the same bytes"
        assert client.get("/export.json").status_code == 200


def test_c135_c136_texts_stay_texts(sample_questions: Path, tmp_path: Path) -> None:
    nasty = '<scratch>pan</scratch> " onmouseover="x </script><b>hi</b> {{ 7*7 }}'
    qa = tmp_path / "qa"
    shutil.copytree(sample_questions, qa)
    group: QuestionGroup = read_records(qa / FILES["accepted"], QuestionGroup)[0]
    bad = replace(
        group, turns=(replace(group.turns[0], question=nasty, answer=nasty, options={"A": nasty}, key=("A",)),)
    )
    (qa / FILES["accepted"]).write_bytes(json_lines([plain(bad)]))
    make_cohort(qa, tmp_path / "r", 1, ["anna"])
    with TestClient(review_app(tmp_path / "r")) as client:
        saved = client.post("/r/anna/0", json={"version": 0, "decision": "reject", "note": "</script><b>hi</b>"})
        assert saved.status_code == 200
        page = client.get("/r/anna/0")
        assert (
            "<scratch>" not in page.text
            and "<b>hi</b>" not in page.text
            and "&lt;scratch&gt;" in page.text
            and "49" not in re.findall(r"question\">(.*?)<", page.text)[0]
        )
        assert 'onmouseover="x' not in page.text
        embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.text, re.S)
        assert embedded and json.loads(embedded[1])["current"]["note"] == "</script><b>hi</b>"
        assert (
            "script-src 'self'" in page.headers["content-security-policy"]
            and "unsafe-inline" not in page.headers["content-security-policy"]
        )
    assert json.loads(script_json({"a": "</script>&<!--"})) == {"a": "</script>&<!--"} and "<" not in script_json(
        "</script>"
    )


def test_other_pages_cannot_use_the_server(cohort: Path) -> None:
    with TestClient(review_app(cohort)) as client:
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
        body = {"version": 0, "decision": "accept"}
        assert client.post("/r/anna/0", json=body, headers={"Origin": "http://evil.example"}).status_code == 403
        assert (
            client.post("/r/anna/0", content=json.dumps(body), headers={"Content-Type": "text/plain"}).status_code
            == 415
        )
        for path in ("/docs", "/openapi.json", "/r/nobody", "/r/anna/999", "/r/anna/-1"):
            assert client.get(path).status_code in (404, 422), path
        for bad in (
            {"version": 0},
            {"version": 0, "decision": "maybe"},
            {"version": "x", "decision": "accept"},
            {"version": 0, "decision": "accept", "more": 1},
        ):
            got = client.post("/r/anna/0", json=bad)
            assert got.status_code == 400 and got.json()["error"], bad
    assert read_reviews(cohort) == []


def test_reviewers_do_not_see_each_others_decisions(cohort: Path) -> None:
    store = ReviewStore(cohort)
    item = store.cohort["double"][0]
    place = {name: store.cohort["queues"][name].index(item) for name in ("anna", "ben")}
    store.close()
    with TestClient(review_app(cohort)) as client:
        assert (
            client.post(
                f"/r/anna/{place['anna']}", json={"version": 0, "decision": "reject", "note": "anna thinks so"}
            ).status_code
            == 200
        )
        page = client.get(f"/r/ben/{place['ben']}").text
        assert "anna thinks so" not in page and '"current": null' in page
        stale = client.post(f"/r/ben/{place['ben']}", json={"version": 0, "decision": "accept"})
        assert stale.status_code == 409 and stale.json()["version"] == 2 and stale.json()["review"]["reviewer"] == "ben"


# --- a session in a browser ----------------------------------------------------------------------------------


@pytest.fixture
def server(cohort: Path, sample_clips: Path) -> Iterator[Server]:
    made = Server(cohort, "--media", sample_clips)
    yield made
    made.kill()


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (apt install chromium)")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_review_session_in_a_browser(server: Server, cohort: Path, sample_clips: Path) -> None:
    """Two reviewers at once over 20 groups: every decision by button and key, undo, a kill in between; nothing is
    lost."""
    from playwright.sync_api import Page, sync_playwright

    queues = json.loads((cohort / "cohort.json").read_text())["queues"]
    expected: dict[tuple[str, str], str] = {}
    problems: list[str] = []

    def decide(page: Page, reviewer: str, number: int, by_key: bool) -> None:
        decision = DECISIONS[number % 4]
        until(page, "typeof decide === 'function'")  # the page's script has run
        before = page.evaluate("document.body.dataset.saved || ''")
        if by_key:
            page.keyboard.press({"accept": "a", "needs_revision": "n", "reject": "r", "uncertain": "u"}[decision])
        else:
            page.click(f"button[data-decision={decision}]")
        until(page, f"document.body.dataset.saved && document.body.dataset.saved !== {json.dumps(before)}")
        expected[(queues[reviewer][number], reviewer)] = decision

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        pages = {}
        for reviewer in ("anna", "ben"):
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on(
                "console",
                lambda message: (
                    problems.append(message.text) if message.type == "error" and "409" not in message.text else None
                ),
            )
            page.on(
                "request", lambda request: problems.append(request.url) if str(server.port) not in request.url else None
            )
            page.goto(f"http://127.0.0.1:{server.port}/")
            page.click(f"text={reviewer}")
            page.wait_for_selector("#status")
            pages[reviewer] = page
        total = max(map(len, queues.values()))
        for number in range(total):
            for reviewer, page in pages.items():
                if number >= len(queues[reviewer]):
                    continue
                if number:
                    page.keyboard.press("j")
                    until(page, f"JSON.parse(document.getElementById('data').textContent).number === {number}")
                decide(page, reviewer, number, by_key=number % 2 == 0)
                if number == 3:  # undone, and decided again with an issue, a note and other words
                    page.keyboard.press("z")
                    until(page, "document.getElementById('status').textContent === 'undone'")
                    assert page.locator(".decision[aria-pressed=true]").count() == 0
                    page.check("#issues input[value=wording]")
                    page.fill("#note", f"<b>{reviewer}</b> was here")
                    page.click("article summary")
                    page.fill("article textarea[data-field=answer]", "In other words.")
                    page.click("button[data-decision=needs_revision]")
                    until(page, "document.getElementById('status').textContent.startsWith('saved')")
                    expected[(queues[reviewer][number], reviewer)] = "needs_revision"
            if number == total // 2:
                server.kill()
                page = pages["anna"]
                page.click("button[data-decision=reject]")
                until(page, "document.getElementById('status').textContent.includes('not saved')")
                problems.clear()  # the browser rightly complains that nobody answered
                server.start()
                page.click("button[data-decision=reject]")
                until(page, "/^saved|in between/.test(document.getElementById('status').textContent)")
                expected[(queues["anna"][number], "anna")] = "reject"
        page = pages["anna"]
        here = {path.stem for path in sample_clips.glob("*.mp4")}
        groups = {g.id: g for g in ReviewStore(cohort).groups.values()}
        seen = next((n for n, item in enumerate(queues["anna"]) if groups[item].clip.video in here), None)
        assert seen is not None
        page.goto(f"http://127.0.0.1:{server.port}/r/anna/{seen}")
        until(page, "document.getElementById('video').readyState >= 1")
        assert (
            page.evaluate("document.getElementById('video').currentTime")
            >= groups[queues["anna"][seen]].clip.start_s - 0.6
        )
        assert page.locator(".decision[aria-pressed=true]").count() == 1  # what was decided is shown again
        browser.close()
    assert problems == []
    kept = {(row["item"], row["reviewer"]): row for row in summary(cohort)["reviews"]}
    assert {key: row["decision"] for key, row in kept.items()} == expected and len({item for item, _ in expected}) == 20
    assert set(expected.values()) == set(DECISIONS)
    noted = [row for row in kept.values() if row.get("note")]
    assert {row["note"] for row in noted} == {"<b>anna</b> was here", "<b>ben</b> was here"}
    assert [(row["suggestions"][0]["text"], row["issues"]) for row in noted] == [("In other words.", ("wording",))] * 2
    assert [one.id for one in read_reviews(cohort)] == [
        f"review_{n:06d}" for n in range(1, len(read_reviews(cohort)) + 1)
    ]
