"""Check an installation without extras: every command's help, what README says, the demo, and what is said where an
extra is missing.

python tools/check_base.py COMMAND, where COMMAND is the ego2world of an environment that has nothing but the package
itself.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MISSING = {  # commands that need an extra, with a package that its message has to name
    "ego2world serve demo/runs/symbolic-persistent": "fastapi",
    "ego2world serve-mcp demo/worlds --out mcp": "mcp",
    "ego2world audit demo/worlds --solve": "unified-planning",
    "ego2world export demo/worlds --to gymnasium-spec --out specs": "gymnasium",
    "ego2world export demo/worlds --to parquet --out tables": "pyarrow",
    "ego2world export demo/runs/symbolic-persistent --to inspect --out log": "inspect-ai",
    "ego2world run demo/worlds --planner llm --model openai/some-model --out runs/llm": "inspect-ai",
    "ego2world run demo/worlds --planner oracle --out runs/oracle": "unified-planning",
    "ego2world run demo/worlds --planner symbolic --ray --out runs/ray": "ray",
    "ego2world qa export demo/qa --to huggingface --out hub": "pyarrow",
    "ego2world qa select SOURCE --out chosen.csv": "scikit-learn",
}


def main() -> None:
    """Run the checks; exit 1 when one fails."""
    command = Path(sys.argv[1]).absolute()
    failed: list[str] = []
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)

        def run(line: str) -> subprocess.CompletedProcess[str]:
            words = [str(command), *shlex.split(line)[1:]]
            return subprocess.run(words, cwd=there, capture_output=True, text=True, input="look\nquit\n", timeout=600)

        def check(line: str, ok: bool, seen: str) -> None:
            nonlocal passed
            passed += ok
            if not ok:
                failed.append(line)
            print(f"{'ok    ' if ok else 'FAILED'} {line}", *([] if ok else [seen]), flush=True)

        for line in _commands(run):
            done = run(f"{line} --help")
            check(f"{line} --help", done.returncode == 0 and "Usage:" in done.stdout, done.stdout + done.stderr)
        for line in _of_the_readme():
            done = run(line)
            check(line, done.returncode == 0, done.stdout + done.stderr)
        check("demo/index.html leads to every page", _links_hold(there / "demo"), "a link leads nowhere")
        for line, package in MISSING.items():
            done = run(line.replace("SOURCE", str(ROOT / "src" / "ego2world" / "samples" / "kitchens")))
            said = done.stderr.strip().splitlines()
            clear = done.returncode == 2 and len(said) == 1 and "-m pip install" in said[0] and package in said[0]
            check(line, clear, f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


def _commands(run: object) -> list[str]:
    """Return every command and subcommand, as the help texts list them."""
    found = []
    for name in _listed(run("ego2world --help").stdout):  # type: ignore[operator]
        found.append(f"ego2world {name}")
        if name in {"qa", "judge", "suite"}:
            found += [f"ego2world {name} {sub}" for sub in _listed(run(f"ego2world {name} --help").stdout)]  # type: ignore[operator]
    return found


def _listed(text: str) -> list[str]:
    _, _, commands = text.partition("Commands")
    return re.findall(r"^│ ([a-z][a-z-]*) ", commands, re.M)


def _of_the_readme() -> list[str]:
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.S)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ego2world")]
    if len(lines) < 5:
        raise SystemExit("README.md shows fewer than five commands")
    return lines


def _links_hold(demo: Path) -> bool:
    links = re.findall(r'(?:href|src)="([^"#]+)"', (demo / "index.html").read_text("utf-8"))
    return len(links) > 6 and all((demo / link).is_file() for link in links)


if __name__ == "__main__":
    main()
