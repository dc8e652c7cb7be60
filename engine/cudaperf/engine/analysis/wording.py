"""Numbers in messages."""

from __future__ import annotations


def amount(bytes_: int) -> str:
    """Whole KiB, else bytes: "96 KiB", "600 bytes"."""
    if bytes_ and bytes_ % 1024 == 0:
        return f"{bytes_ // 1024} KiB"
    return plural(bytes_, "byte")


def plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
