"""Messages between the engine and its GPU worker over two byte streams, so that any command prefix can stand between them.

A frame is the magic `CPF1`, a 32-bit big-endian length, a JSON object of that length, then the attachments whose sizes in bytes
the object lists under "attachments". The JSON is checked; what an attachment holds is the receiver's business.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

MAGIC: Final = b"CPF1"
VERSION: Final = 1
_HEADER_LIMIT: Final = 64 << 20


class FramingError(ValueError):
    """Bytes that are no frame of this version; the message says what came instead."""


class Closed(EOFError):
    """The other side ended before a whole frame came."""


@dataclass(frozen=True, slots=True)
class Message:
    """`kind` names it; `fields` is its JSON; attachments are raw bytes."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    attachments: tuple[bytes, ...] = ()


def write(stream: BinaryIO, kind: str, fields: dict[str, Any] | None = None, attachments: Sequence[bytes] = ()) -> None:
    header = {**(fields or {}), "kind": kind, "attachments": [len(part) for part in attachments]}
    text = json.dumps(header).encode()
    stream.write(MAGIC + struct.pack(">I", len(text)) + text)
    for part in attachments:
        stream.write(part)
    stream.flush()


def read(stream: BinaryIO) -> Message:
    """The next message; raises `Closed` and `FramingError`."""
    magic, length = struct.unpack(">4sI", _exactly(stream, 8))
    if magic != MAGIC or length > _HEADER_LIMIT:
        raise FramingError(f"expected a frame, got {magic!r}: something else writes to this stream")
    try:
        header = json.loads(_exactly(stream, length))
        kind, sizes = header.pop("kind"), header.pop("attachments")
        wanted = [int(size) for size in sizes]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FramingError(f"a frame without its JSON object: {error}") from error
    return Message(str(kind), header, tuple(_exactly(stream, size) for size in wanted))


def _exactly(stream: BinaryIO, count: int) -> bytes:
    if count < 0:
        raise FramingError(f"an attachment of {count} bytes")
    parts, left = [], count
    while left:
        part = stream.read(min(left, 1 << 24))
        if not part:
            raise Closed(f"the stream ended {left} bytes early")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
