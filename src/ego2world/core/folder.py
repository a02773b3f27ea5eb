"""A folder of records that is begun once and resumed: its head says with which settings and which code. Stage: core."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ego2world.core.canonical import pretty_json, strict_json, write_atomic
from ego2world.errors import RecordError, UsageError

CODE = "code_sha256"
VOLATILE = frozenset({"ego2world", "python", CODE, "accepted_code"})  # told, and no settings


def same_work(before: Any, head: Mapping[str, Any]) -> bool:
    """Say whether two heads are of the same work, whatever code drew it: what people decide does not depend on the
    code."""
    return isinstance(before, dict) and before | {CODE: None} == strict_json(pretty_json(head)) | {CODE: None}


def open_folder(
    path: Path, head: Mapping[str, Any], what: str, accept_code: bool = False, told: Collection[str] = ()
) -> None:
    """Begin a folder by writing its head, or make sure that what it contains was made with the same settings and code.

    Args:
        path: the file of the head.
        head: settings, hashes of inputs, and ``code_sha256``.
        what: a noun for messages, such as "a run".
        accept_code: go on with records that other code began; the head then lists that code too.
        told: fields of this head that are no settings either.

    Raises:
        UsageError: the settings differ, or the code does and is not accepted.
        RecordError: the head cannot be read.
    """
    if not path.is_file():
        write_atomic(path, pretty_json(head))
        return
    try:
        before = strict_json(path.read_bytes())
    except ValueError as error:
        raise RecordError(str(path), f"not valid JSON ({error}); choose another --out folder") from None
    if not isinstance(before, dict):
        raise RecordError(str(path), "not a JSON object; choose another --out folder")
    changed = [name for name in head if name not in VOLATILE and name not in told and before.get(name) != head[name]]
    if changed:
        raise UsageError(
            f"{path.parent} contains {what} with different settings ({', '.join(changed)}); choose another --out folder"
        )
    codes = [before.get(CODE), *before.get("accepted_code", ())]
    if head[CODE] in codes:
        return
    if not accept_code:
        raise UsageError(
            f"{path.parent} contains {what} made by other code ({CODE} {str(before.get(CODE))[:12]}, here"
            f" {head[CODE][:12]}); choose another --out folder, or pass --accept-code to resume it all the same"
        )
    write_atomic(path, pretty_json(before | {"accepted_code": [*codes[1:], head[CODE]]}))
