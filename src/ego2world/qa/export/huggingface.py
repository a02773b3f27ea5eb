"""A data set in Hugging Face's layout: a Parquet file a split, a card, and Croissant metadata. Stage: qa, export.

Ids and times stand for videos: licensed media is never copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ego2world.core.canonical import pretty_json, sha256_file, write_atomic
from ego2world.qa.export.rows import accepted, by_split, rows

_TYPES = {
    "question_id": "text",
    "group_id": "text",
    "round": "int",
    "rounds": "int",
    "video_id": "text",
    "task": "text",
    "level": "text",
    "subtype": "text",
    "format": "text",
    "question": "text",
    "standalone_question": "text",
    "options": "texts",
    "answer_idx": "int",
    "answer": "text",
    "key_points": "texts",
    "clip_start_s": "float",
    "clip_end_s": "float",
    "cutoff_safe": "bool",
    "modality": "text",
    "evidence": "texts",
    "anchors": "texts",
    "status": "text",
    "producer": "text",
}
_SAYS = {
    "question_id": "id of the turn",
    "group_id": "id of the dialogue",
    "round": "turn, from 0",
    "rounds": "turns of the dialogue",
    "video_id": "the video, by the data set's own id",
    "task": "category",
    "clip_start_s": "start of the clip in seconds of the video",
    "clip_end_s": "end of the clip in seconds of the video",
    "answer_idx": "position of the right option, -1 for open questions",
    "cutoff_safe": "whether the clip ends before what is asked for",
    "evidence": "ids of the evidence that the answer rests on",
    "modality": "what the answer needs: visual, audio, audio-visual",
}


def to_huggingface(qa: Path, out: Path) -> dict[str, Any]:
    """Write the data set; return what was written.

    Raises:
        RecordError: a text holds an unfilled place (EXP_PLACEHOLDER).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    manifest, groups = accepted(qa)
    types = {
        "text": pa.string(),
        "int": pa.int32(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "texts": pa.list_(pa.string()),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in _TYPES.items()])
    out.mkdir(parents=True, exist_ok=True)
    files: dict[str, dict[str, Any]] = {}
    for split, members in by_split(groups).items():
        path = out / "data" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.tmp")
        pq.write_table(pa.Table.from_pylist(list(rows(members)), schema=schema), temporary)
        temporary.replace(path)
        files[split] = {
            "path": str(path.relative_to(out)),
            "sha256": sha256_file(path),
            "groups": len(members),
            "turns": sum(len(g.turns) for g in members),
        }
    write_atomic(out / "README.md", _card(manifest, files).encode())
    write_atomic(out / "croissant.json", pretty_json(_croissant(files)))
    return {
        "target": "huggingface",
        "splits": files,
        "files": ["README.md", "croissant.json", *(row["path"] for row in files.values())],
    }


def _card(manifest: dict[str, Any], files: dict[str, dict[str, Any]]) -> str:
    lines = [
        "---",
        "task_categories:",
        "- question-answering",
        "- visual-question-answering",
        "language:",
        "- en",
        "configs:",
        "- config_name: default",
        "  data_files:",
    ]
    for split, row in files.items():
        lines += [f"  - split: {split}", f"    path: {row['path']}"]
    lines += [
        "---",
        "",
        "# Questions on the ego-action-world loop",
        "",
        (
            "Made from compiled annotations: every answer is bound to rows of the annotations, and was derived again by"
            " executing the world that they describe. An answer that passes all checks is sound with respect to the"
            " annotations; it is not a claim about pixels."
        ),
        "",
        "Videos are named by their data set's ids and times in seconds. They are not part of this data set.",
        "",
        "| category | groups |",
        "| --- | --- |",
    ]
    lines += [f"| {name} | {count} |" for name, count in manifest["by_category"].items()]
    lines += ["", "| split | groups | turns |", "| --- | --- | --- |"]
    lines += [f"| {split} | {row['groups']} | {row['turns']} |" for split, row in files.items()]
    return "\n".join([*lines, ""])


def _croissant(files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return Croissant 1.1 metadata."""
    kinds = {"text": "sc:Text", "int": "sc:Integer", "float": "sc:Float", "bool": "sc:Boolean", "texts": "sc:Text"}
    resources: Sequence[dict[str, Any]] = [
        {
            "@type": "cr:FileObject",
            "@id": f"{split}.parquet",
            "name": f"{split}.parquet",
            "contentUrl": row["path"],
            "encodingFormat": "application/x-parquet",
            "sha256": row["sha256"],
        }
        for split, row in files.items()
    ]
    record_sets = [
        {
            "@type": "cr:RecordSet",
            "@id": split,
            "name": split,
            "field": [
                {
                    "@type": "cr:Field",
                    "@id": f"{split}/{name}",
                    "name": f"{split}/{name}",
                    "description": _SAYS.get(name, name.replace("_", " ")),
                    "dataType": kinds[kind],
                    **({"isArray": True, "arrayShape": "-1"} if kind == "texts" else {}),
                    "source": {"fileObject": {"@id": f"{split}.parquet"}, "extract": {"column": name}},
                }
                for name, kind in _TYPES.items()
            ],
        }
        for split in files
    ]
    return {
        "@context": {
            "@language": "en",
            "@vocab": "https://schema.org/",
            "sc": "https://schema.org/",
            "cr": "http://mlcommons.org/croissant/",
            "rai": "http://mlcommons.org/croissant/RAI/",
            "dct": "http://purl.org/dc/terms/",
            "citeAs": "cr:citeAs",
            "column": "cr:column",
            "conformsTo": "dct:conformsTo",
            "data": {"@id": "cr:data", "@type": "@json"},
            "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
            "examples": {"@id": "cr:examples", "@type": "@json"},
            "extract": "cr:extract",
            "field": "cr:field",
            "fileObject": "cr:fileObject",
            "fileProperty": "cr:fileProperty",
            "fileSet": "cr:fileSet",
            "format": "cr:format",
            "includes": "cr:includes",
            "isLiveDataset": "cr:isLiveDataset",
            "jsonPath": "cr:jsonPath",
            "key": "cr:key",
            "md5": "cr:md5",
            "parentField": "cr:parentField",
            "path": "cr:path",
            "recordSet": "cr:recordSet",
            "references": "cr:references",
            "regex": "cr:regex",
            "repeated": "cr:repeated",
            "replace": "cr:replace",
            "separator": "cr:separator",
            "source": "cr:source",
            "subField": "cr:subField",
            "transform": "cr:transform",
            "isArray": "cr:isArray",
            "arrayShape": "cr:arrayShape",
        },
        "@type": "sc:Dataset",
        "name": "ego2world_questions",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "description": (
            "Questions on the ego-action-world loop, with evidence, made from compiled annotations of egocentric video."
        ),
        "version": "0.1.0",
        "license": "see the source data set",
        "citeAs": "see the source data set",
        "distribution": list(resources),
        "recordSet": record_sets,
    }
