"""Build questions on a collection, check them anew, and look at one of each category.

python examples/build_questions.py WORLDS OUT        WORLDS: a compiled collection, such as demo/worlds
"""

import json
import sys
from pathlib import Path

import ego2world as e2w


def main(worlds: str, out: str) -> None:
    """Build, check, show."""
    made = e2w.build_questions(worlds, out)
    checked = e2w.check_questions(out)
    print(f"{made['totals']['accepted']} groups of questions; checked anew: {checked['verdict']}")
    groups = [json.loads(line) for line in (Path(out) / "groups.jsonl").read_text("utf-8").splitlines()]
    for category in sorted({group["category"] for group in groups}):
        turn = next(group for group in groups if group["category"] == category)["turns"][0]
        print(f"\n{category}\n  {turn['question']}\n  {turn['answer']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
