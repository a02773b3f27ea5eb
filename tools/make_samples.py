"""Write the sample kitchens in HD-EPIC's official layout from tools/sample_kitchens.txt.

    python tools/make_samples.py            # writes src/ego2world/samples/kitchens

Lines: "R" recipes, "=" videos, "#" activities, "%S01" a recipe step (until the next "%"), "~S01" its preparation
(until the next "~"), "^w oats" and "^a oats" an ingredient that is weighed or added (until the next "^"), everything
else a narration with object tracks after "|": "+name@fixture" is picked up there, "-name@fixture" is put down there.
Everything is invented for this project. Real-life awkwardness is put in on purpose: segments that overlap, rows out of
order, an open end, fixtures that are not known, a movement stored twice, a placeholder track, leading blanks and
missing full stops.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
OUT = ROOT.parent / "src" / "ego2world" / "samples" / "kitchens"
COLUMNS = (
    "unique_narration_id participant_id video_id narration start_timestamp end_timestamp nouns verbs pairs main_actions"
    " verb_classes noun_classes pair_classes main_action_classes hands narration_timestamp"
).split()
SOUNDS = {
    "pour": "water",
    "close": "open / close",
    "open": "open / close",
    "put": "clang / clatter",
    "turn": "click",
    "cut": "cut / chop",
    "slice": "cut / chop",
    "chop": "cut / chop",
    "wash": "water",
    "rinse": "water",
}


def identifier(*parts: object) -> str:
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:16]


def table(rows: list[list[object]], header: list[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def clock(seconds: float) -> str:
    return f"{int(seconds // 3600):02d}:{int(seconds // 60 % 60):02d}:{seconds % 60:06.3f}"


def main() -> None:
    narrations: list[list[object]] = []
    activities: dict[str, list[list[object]]] = {}
    recipes: dict[str, dict] = {}
    tracks: dict[str, dict[str, dict]] = {}
    masks: dict[str, dict[str, dict]] = {}
    sounds: list[list[object]] = []
    video = participant = ""
    number, now = 0, 0.0
    open_tracks: dict[str, list] = {}
    step: tuple[str, float] | None = None
    activity: list | None = None
    preparation: tuple[str, float] | None = None
    handling: tuple[str, str, float] | None = None

    def mask(at_s: float, fixture: str | None) -> str:
        key = identifier(video, "mask", at_s, fixture, len(masks[video]))
        value = "Null" if fixture is None else f"{participant}_{fixture}"
        masks[video][key] = {"frame_number": round(at_s * 30), "3d_location": None, "bbox": None, "fixture": value}
        return key

    def end_track(name: str, at_s: float, fixture: str | None) -> None:
        start_s, start_fixture = open_tracks.pop(name, [max(0.0, at_s - 1.0), None])
        entry = tracks[video].setdefault(identifier(video, name), {"name": name, "tracks": []})
        segment = {
            "track_id": identifier(video, name, start_s),
            "time_segment": [round(start_s, 3), round(at_s, 3)],
            "masks": [mask(start_s, start_fixture), mask(at_s, fixture)],
        }
        entry["tracks"].append(segment)

    def close_step(at_s: float) -> None:
        nonlocal step
        if step is not None and activity is not None:
            recipe = f"{participant}_{activity[1]}"
            recipes[recipe]["captures"][0]["step_times"][f"{recipe}_{step[0]}"].append(
                {"video": video, "start": round(step[1], 3), "end": round(at_s, 3)}
            )
            if video not in recipes[recipe]["captures"][0]["videos"]:
                recipes[recipe]["captures"][0]["videos"].append(video)
        step = None

    def close_preparation(at_s: float) -> None:
        nonlocal preparation
        if preparation is not None and activity is not None:
            recipe = f"{participant}_{activity[1]}"
            recipes[recipe]["captures"][0]["prep_times"].setdefault(f"{recipe}_{preparation[0]}", []).append(
                {"video": video, "start": round(preparation[1], 3), "end": round(at_s, 3)}
            )
        preparation = None

    def close_handling(at_s: float) -> None:
        nonlocal handling
        if handling is not None and activity is not None:
            ingredients = recipes[f"{participant}_{activity[1]}"]["captures"][0]["ingredients"]
            row = next(one for one in ingredients.values() if one["name"] == handling[1])
            row[{"w": "weigh", "a": "add"}[handling[0]]].append(
                {"video": video, "start": round(handling[2], 3), "end": round(at_s, 3)}
            )
        handling = None

    def close_video() -> None:
        if not video:
            return
        close_step(now)
        for name in sorted(open_tracks):
            end_track(name, open_tracks[name][0] + 3.0, None)
        if activity is not None:
            activities[participant].append([video, activity[1], activity[0], round(activity[2], 1), "end"])

    for line in (ROOT / "sample_kitchens.txt").read_text("utf-8").splitlines():
        if line.startswith("R K"):
            head, steps, ingredients = [part.strip() for part in line[2:].split("|")]
            key, name = head.split(" ", 1)
            listed = dict(item.strip().split(" ", 1) for item in steps.split(";"))
            found: dict[str, Any] = {}
            for i, item in enumerate(ingredients.split(";"), 1):
                words, amount, unit = re.fullmatch(r"\s*(.+?) (\S+) (small tub|\S+)", item).groups()
                found[f"{key}_I{i:02d}"] = {
                    "name": words,
                    "amount": 0 if amount == "0" else amount,
                    "amount_unit": "" if unit == "-" else unit,
                    "calories": "N/A",
                    "carbs": "N/A",
                    "fat": "N/A",
                    "protein": "N/A",
                    "weigh": [],
                    "add": [],
                }
            recipes[key] = {
                "participant": key[:3],
                "name": name,
                "type": "own",
                "source": "",
                "steps": {f"{key}_{s}": t for s, t in listed.items()},
                "captures": [
                    {
                        "videos": [],
                        "ingredients": found,
                        "step_times": {f"{key}_{s}": [] for s in listed},
                        "prep_times": {},
                    }
                ],
            }
        elif line.startswith("= "):
            close_video()
            video = line[2:].strip()
            participant = video[:3]
            tracks[video], masks[video] = {}, {}
            tracks[video][identifier(video, "skipped")] = {"name": "Track 3 (skipped)", "tracks": []}
            activities.setdefault(participant, [])
            number, now, activity, step = 0, 1.0, None, None
            open_tracks.clear()
        elif line.startswith("# "):
            close_step(now)
            if activity is not None:
                activities[participant].append(
                    [video, activity[1], activity[0], round(activity[2], 1), round(now - 0.1, 1)]
                )
            label, _, recipe = line[2:].partition(";")
            activity = [label.strip(), recipe.strip(), now - 0.1]
        elif line.startswith("%"):
            close_step(now - 0.05)
            if line[1:].strip():
                step = (line[1:].strip(), now - 0.05)
        elif line.startswith("~"):
            close_preparation(now - 0.05)
            if line[1:].strip():
                preparation = (line[1:].strip(), now - 0.05)
        elif line.startswith("^"):
            close_handling(now - 0.05)
            if line[1:].strip():
                kind, name = line[1:].strip().split(" ", 1)
                handling = (kind, name, now - 0.05)
        elif line.strip():
            text, _, marks = (part.strip() for part in line.partition("|"))
            number += 1
            length = 1.2 + 0.02 * len(text)
            start_s, end_s = now, now + length
            now = end_s + (-0.3 if number % 7 == 3 else 0.6)
            for sign, name, fixture in re.findall(r"([+-])(.+?)@(\S+)", marks):
                if sign == "+":
                    if name in open_tracks:
                        end_track(name, open_tracks[name][0] + 3.0, None)
                    open_tracks[name] = [start_s + 0.3, fixture]
                else:
                    end_track(name, end_s - 0.2, fixture)
            hands = [
                f"{hand} hand{'s' if hand == 'both' else ''}"
                for hand in re.findall(r"\b(left|right|both) hands?\b", text)
            ]
            shown = " " + text if number % 5 == 0 else text.rstrip(".") if number % 11 == 0 else text
            stamp = "" if number % 6 == 0 else round(start_s + 0.4, 2)
            narrations.append(
                [
                    f"{video}-{number}",
                    participant,
                    video,
                    shown,
                    round(start_s, 2),
                    round(end_s, 2),
                    "",
                    "",
                    "",
                    "",
                    "",
                    "",
                    "",
                    "",
                    str(list(dict.fromkeys(hands))),
                    stamp,
                ]
            )
            sound = SOUNDS.get(text.lower().split()[0])
            if sound:
                sounds.append(
                    [
                        participant,
                        video,
                        clock(round(start_s + 0.2, 3)),
                        clock(round(end_s, 3)),
                        round((round(start_s + 0.2, 3)) * 48000),
                        round(round(end_s, 3) * 48000),
                        sound,
                        sorted(set(SOUNDS.values())).index(sound),
                    ]
                )
    close_video()
    first = next(iter(tracks))
    repeated = next(item for item in tracks[first].values() if item["tracks"])
    repeated["tracks"].append({**repeated["tracks"][0], "track_id": identifier(first, "again"), "masks": []})

    def write(name: str, text: str) -> None:
        path = OUT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    narrations.sort(key=lambda row: (row[2], str(row[0])))  # text order of the ids: 10 before 2
    write("narrations-and-action-segments/HD_EPIC_Narrations.csv", table(narrations, COLUMNS))
    for person, rows in activities.items():
        write(
            f"high-level/activities/{person}_recipe_timestamps.csv",
            table(rows, ["video_id", "recipe_id", "high_level_activity_label", "start_time", "end_time"]),
        )
    write("high-level/complete_recipes.json", json.dumps(recipes, indent=1) + "\n")
    write("scene-and-object-movements/assoc_info.json", json.dumps(tracks, indent=1) + "\n")
    write("scene-and-object-movements/mask_info.json", json.dumps(masks, indent=1) + "\n")
    write(
        "audio-annotations/HD_EPIC_Sounds.csv",
        table(
            sounds,
            [
                "participant_id",
                "video_id",
                "start_timestamp",
                "stop_timestamp",
                "start_sample",
                "stop_sample",
                "class",
                "class_id",
            ],
        ),
    )
    print(
        f"{len(narrations)} narrations, {len(tracks)} videos, {sum(len(v) for v in tracks.values())} objects -> {OUT}"
    )


if __name__ == "__main__":
    main()
