"""The audit of a set of questions: blind guessers per prototype, key positions, duplicates, faulty options. Stage: qa,
audit.

A set is flagged where the lower end of Wilson's interval of a guesser's rate is more than five points above chance,
and the excess holds after Holm's correction over all guessers and prototypes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import binomtest

from ego2world.qa.audit.heuristics import guesses
from ego2world.qa.checks.collection import position_findings
from ego2world.qa.checks.items import item_findings
from ego2world.qa.items import Item
from ego2world.qa.near import near_duplicates

MARGIN = 0.05
ALPHA = 0.05


@dataclass(frozen=True)
class Guess:
    """What a blind guesser reaches on the items of a prototype; rates are shares of 1."""

    prototype: str
    guesser: str
    items: int
    rate: float
    chance: float
    low: float
    p: float
    flagged: bool
    caught: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "code": "SHORTCUT_ITEMSET" if self.flagged else "",
            "prototype": self.prototype,
            "guesser": self.guesser,
            "items": self.items,
            "rate": round(self.rate, 4),
            "chance": round(self.chance, 4),
            "wilson_low": round(self.low, 4),
            "p_holm": self.p,
            "flagged": self.flagged,
            "caught": list(self.caught) if self.flagged else [],
        }


def blind(items: Sequence[Item]) -> list[Guess]:
    """Return what each guesser reaches on each prototype, and on all multiple choice together, flagged where it beats
    chance."""
    credit: dict[tuple[str, str], float] = defaultdict(float)
    chance: dict[str, float] = defaultdict(float)
    count: Counter[str] = Counter()
    caught: dict[tuple[str, str], list[str]] = defaultdict(list)
    seen: set[str] = set()
    for item, guesser, right in guesses(items):
        sets = [f"{item.dataset}/{item.prototype}", f"{item.dataset}/all"]
        if item.id not in seen:
            seen.add(item.id)
            for name in sets:
                count[name] += 1
                chance[name] += 1 / len(item.options or {1: ""})
        for name in sets:
            credit[(name, guesser)] += right
            if right == 1.0:
                caught[(name, guesser)].append(item.id)
    rows = []
    for (name, guesser), total in sorted(credit.items()):
        n, p0 = count[name], min(1.0, chance[name] / count[name] + MARGIN)
        test = binomtest(round(total), n, p0, alternative="greater")
        low = float(test.proportion_ci(1 - ALPHA, method="wilson").low)
        rows.append((name, guesser, n, total / n, chance[name] / n, low, float(test.pvalue)))
    adjusted = holm([row[-1] for row in rows])
    return [
        Guess(name, guesser, n, rate, base, low, p, p < ALPHA and low > base + MARGIN, tuple(caught[(name, guesser)]))
        for (name, guesser, n, rate, base, low, _), p in zip(rows, adjusted, strict=True)
    ]


def holm(values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the order given."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    out, running = [0.0] * len(values), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, values[i] * (len(values) - rank)))
        out[i] = running
    return out


def audit(items: Sequence[Item]) -> dict[str, Any]:
    """Return the report: verdict, blind guessers, positions, near duplicates, findings of single items, all with their
    ids."""
    rows = blind(items)
    flagged = [row for row in rows if row.flagged]
    votes: Counter[str] = Counter(one for row in flagged if not row.prototype.endswith("/all") for one in row.caught)
    positions = position_findings((len(item.options), item.key) for item in items if item.options)
    pairs = list(
        near_duplicates(
            (
                item.id,
                f"{' '.join(item.videos)} {item.prototype} {item.start_s}",
                f"{item.question} {item.answer} {list((item.options or {}).values())}",
            )
            for item in items
        )
    )
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for item_id, findings in item_findings(items).items():
        for finding in findings:
            found[finding.code].append({"item": item_id, "path": finding.path, "message": finding.message})
    return {
        "items": len(items),
        "multiple_choice": sum(bool(item.options) for item in items),
        "verdict": "shortcuts" if flagged else "pass",
        "blind": [row.plain() for row in rows],
        "shortcut_items": {"code": "SHORTCUT_ITEM", "items": dict(sorted(votes.items()))},
        "positions": [{"code": f.code, "message": f.message} for f in positions],
        "near_duplicates": {"code": "DUP_NEAR", "pairs": [list(pair) for pair in pairs]},
        "findings": {code: rows_ for code, rows_ in sorted(found.items())},
    }
