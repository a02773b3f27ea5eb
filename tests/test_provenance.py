"""What was made by other code is made again or refused with the reason, never reused without a word."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import ego2world.core.provenance as provenance
from ego2world.core.folder import open_folder
from ego2world.core.provenance import PACKAGE, Product, code_sha256, sources
from ego2world.errors import UsageError
from ego2world.qa.build import QuestionSettings, build
from ego2world.run.loop import RunSettings, run

EPISODE = "K01-20250301-080000"


@pytest.fixture
def other_code(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in for an edited package: the same sources, and one line more in each part."""
    copy = tmp_path_factory.mktemp("package")
    for path in {path for product in Product for path in sources(product)}:
        there = copy / path.relative_to(PACKAGE)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(path.read_bytes() + b"# edited\n")
    monkeypatch.setattr(provenance, "PACKAGE", copy)
    code_sha256.cache_clear()
    yield
    code_sha256.cache_clear()


def test_the_digest_is_of_the_sources_a_product_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {product: code_sha256.__wrapped__(product) for product in Product}
    for path in {path for product in Product for path in sources(product)}:
        there = tmp_path / path.relative_to(PACKAGE)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(path.read_bytes())
    monkeypatch.setattr(provenance, "PACKAGE", tmp_path)
    assert {product: code_sha256.__wrapped__(product) for product in Product} == before, (
        "it depends on where the package lies"
    )
    words = tmp_path / "language" / "verbs.txt"
    words.write_text(words.read_text("utf-8") + "\n", "utf-8")
    changed = {product for product in Product if code_sha256.__wrapped__(product) != before[product]}
    assert changed == {Product.WORLDS, Product.RUN, Product.QUESTIONS}


def test_stages_of_questions_made_by_other_code_are_made_again(
    sample_worlds: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings = QuestionSettings(episodes=(EPISODE,))
    build(sample_worlds, tmp_path, settings)
    stage = next(tmp_path.rglob("candidates.jsonl"))
    before = stage.read_bytes()
    lines = before.splitlines(keepends=True)
    stage.write_bytes(lines[0])  # its head holds, its rows are gone: taken as they are by the same code
    build(sample_worlds, tmp_path, settings)
    assert stage.read_bytes() == lines[0]
    request.getfixturevalue("other_code")
    build(sample_worlds, tmp_path, settings)
    after = stage.read_bytes().splitlines(keepends=True)
    assert after[1:] == lines[1:] and after[0] != lines[0]


def test_a_run_begun_by_other_code_is_refused_or_names_both(
    sample_worlds: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings = RunSettings("reference", episodes=(EPISODE,))
    run(sample_worlds, tmp_path, settings)
    first = json.loads((tmp_path / "run.json").read_bytes())
    records = (tmp_path / "attempts.jsonl").read_bytes()
    run(sample_worlds, tmp_path, settings)
    request.getfixturevalue("other_code")
    with pytest.raises(UsageError, match=r"other code.*--accept-code"):
        run(sample_worlds, tmp_path, settings)
    assert json.loads((tmp_path / "run.json").read_bytes()) == first
    run(sample_worlds, tmp_path, RunSettings("reference", episodes=(EPISODE,), accept_code=True))
    accepted = json.loads((tmp_path / "run.json").read_bytes())
    assert accepted == first | {"accepted_code": [code_sha256(Product.RUN)]}
    assert (tmp_path / "attempts.jsonl").read_bytes() == records
    run(sample_worlds, tmp_path, settings)  # the head lists this code now


def test_heads_of_other_settings_and_damaged_ones(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    head = {"seed": 1, "ego2world": "1", "code_sha256": "a"}
    open_folder(path, head, "a run")
    open_folder(path, head | {"ego2world": "2"}, "a run")
    with pytest.raises(UsageError, match=r"different settings \(seed\)"):
        open_folder(path, head | {"seed": 2}, "a run", accept_code=True)
    for damaged in (b"[]", b"{", b'{"seed": NaN}'):
        path.write_bytes(damaged)
        with pytest.raises(Exception, match=r"run\.json") as caught:
            open_folder(path, head, "a run")
        assert caught.value.exit_code == 7  # type: ignore[attr-defined]
