"""The README's commands run, and what it says of the commands is true."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from conftest import console_commands

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_readme_commands_run(tmp_path: Path) -> None:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    commands = [c for c in console_commands(ROOT / "README.md") if not c.startswith("make ")]
    assert len(commands) >= 5
    for command in commands:
        done = subprocess.run(
            shlex.split(command), cwd=tmp_path, env=env, capture_output=True, text=True, input="look\nquit\n"
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_readme_opens_with_the_two_commands() -> None:
    head = README[:3000]
    assert "make demo" in head and "make test" in head


def test_linked_files_exist() -> None:
    for link in re.findall(r"\]\(((?!http)[^)#]+)\)", README):
        assert (ROOT / link).exists(), link
