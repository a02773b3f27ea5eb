"""Captions inside PNG pictures: what a drawn picture shows, as text. Stage: core."""

from __future__ import annotations

import struct
import zlib

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEY = b"ego2world\0"


def add_caption(png: bytes, caption: str) -> bytes:
    """Return a PNG with a caption in a text chunk, before its end."""
    body = _KEY + caption.encode("latin-1", "replace")
    chunk = struct.pack(">I", len(body)) + b"tEXt" + body + struct.pack(">I", zlib.crc32(b"tEXt" + body))
    return png[:-12] + chunk + png[-12:]


def read_caption(png: bytes) -> str | None:
    """Return the caption of a PNG that this project drew, None where there is none."""
    at = len(_SIGNATURE)
    while png.startswith(_SIGNATURE) and at + 8 <= len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        body = png[at + 8 : at + 8 + length]
        if png[at + 4 : at + 8] == b"tEXt" and body.startswith(_KEY):
            return body[len(_KEY) :].decode("latin-1")
        at += 12 + length
    return None
