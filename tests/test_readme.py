"""What the README says of the project is true. Its commands run in the base installation: ``make test-base``."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import console_commands

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_readme_opens_with_the_two_commands() -> None:
    head = README[:3000]
    assert "make demo" in head and "make test" in head
    assert sum(command.startswith("ego2world ") for command in console_commands(ROOT / "README.md")) >= 5


def test_linked_files_exist() -> None:
    for link in re.findall(r"\]\(((?!http)[^)#]+)\)", README):
        assert (ROOT / link).exists(), link
