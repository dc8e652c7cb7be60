"""The block shapes that a kernel is launched with, as far as its file says; else guesses.

Launches in the file, a comment (`// cudaperf: block=32x8`, `// cudaperf: launch(grid=..., block=256)`) above or inside the
kernel, and the settings' block make shapes known. `__launch_bounds__` is an upper limit. Without any of these the usual shapes
are guessed, fewer of them where the kernel's own text says which fit.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final, Literal

from cudaperf.engine.analysis.block_hints import hints
from cudaperf.engine.analysis.constants import number
from cudaperf.engine.analysis.launches import Configuration, launches_of
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function
from cudaperf.engine.toolchain.devices import MAX_BLOCK, MAX_THREADS_PER_BLOCK, WARP

Shape = tuple[int, int, int]
Origin = Literal["launch", "comment", "setting", "bound"]

_LINES: Final[tuple[Shape, ...]] = tuple((n, 1, 1) for n in (32, 64, 128, 256, 512, 1024))
_TILES: Final[tuple[Shape, ...]] = tuple((x, y, 1) for x, y in ((32, 8), (16, 16), (32, 32), (8, 8), (32, 4), (32, 16)))
_CUBES: Final[tuple[Shape, ...]] = ((8, 8, 4),)
_BLOCK: Final = re.compile(r"\bblock\s*=\s*(\w+?(?:x\d+){0,2})(?=[\s,)]|$)")


@dataclass(frozen=True, slots=True)
class KnownShape:
    """A shape and where it is from; `launch` the launch, `templates` the values of template parameters there."""

    shape: Shape
    origin: Origin
    launch: Configuration | None = None
    templates: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shapes:
    """`guesses` is empty where a shape is known. `limit` are the threads that a block may have.

    `complete`: the file has launches of the kernel, and the shapes of all are known.
    """

    known: tuple[KnownShape, ...]
    guesses: tuple[Shape, ...]
    limit: int
    complete: bool = False


def block_shapes(model: FileModel, kernel: Function, settings: Settings) -> Shapes:
    """Known shapes, each once for a set of template values; else guesses, the likeliest first."""
    limit = launch_bound(model, kernel) or MAX_THREADS_PER_BLOCK
    known: dict[tuple[Shape, tuple[tuple[str, int], ...]], KnownShape] = {}
    launches = launches_of(model, kernel)
    for launch in launches:
        shape = known_block(launch)
        if shape is not None and possible(shape):
            key = (shape, tuple(sorted(launch.templates.items())))
            known.setdefault(key, KnownShape(shape, "launch", launch, launch.templates))
    found = tuple(known.values())
    complete = bool(launches) and all(known_block(launch) is not None for launch in launches)
    if not found:
        found = tuple(KnownShape(shape, "comment") for shape in commented(model, kernel))
    if not found and settings.block is not None and prod(settings.block) <= limit:
        found = (KnownShape(settings.block, "setting"),)
    return Shapes(found, () if found else _guesses(model, kernel, limit), limit, complete)


def known_block(launch: Configuration) -> Shape | None:
    """A launch's block where every axis is known."""
    x, y, z = launch.block if launch.block is not None else (None, None, None)
    return (x, y, z) if x is not None and y is not None and z is not None else None


def launch_bound(model: FileModel, kernel: Function) -> int | None:
    """The threads of `__launch_bounds__`, where they do not depend on template arguments."""
    value = number(kernel.bounds[0], model, dict.fromkeys(kernel.templates)) if kernel.bounds else None
    return value if value is not None and 1 <= value <= MAX_THREADS_PER_BLOCK else None


def possible(shape: Shape) -> bool:
    """Whether a device takes a block of this shape."""
    return prod(shape) <= MAX_THREADS_PER_BLOCK and all(1 <= n <= most for n, most in zip(shape, MAX_BLOCK, strict=True))


# --- comments --------------------------------------------------------------------------------------------------------------


def commented(model: FileModel, kernel: Function) -> Iterator[Shape]:
    """The shapes that comments above or inside a kernel say."""
    if not model.comments:
        return
    parent = kernel.node.parent
    node = parent if parent is not None and parent.type == "template_declaration" else kernel.node
    begin, before = node.start_byte, node.prev_sibling
    while before is not None and before.type == "comment":
        begin, before = before.start_byte, before.prev_sibling
    starts = (bisect_left(model.comments, place, key=lambda c: c.start) for place in (begin, kernel.end))
    for comment in model.comments[slice(*starts)]:
        match = _BLOCK.search(comment.text)
        shape = _read(match[1], model) if match is not None else None
        if shape is not None and possible(shape):
            yield shape


def _read(text: str, model: FileModel) -> Shape | None:
    """ "256", "32x8", "32x8x2", or the name of a constant."""
    if re.fullmatch(r"\d+(x\d+){0,2}", text):
        x, y, z = [*map(int, text.split("x")), 1, 1][:3]
        return x, y, z
    value = number(ir.Name(0, 0, text), model)
    return (value, 1, 1) if value is not None else None


# --- guesses ---------------------------------------------------------------------------------------------------------------


def _guesses(model: FileModel, kernel: Function, limit: int) -> tuple[Shape, ...]:
    """Those that fit; where the kernel's text fixes an extent, those that reach it."""
    axes: set[str] = {n.axis for n in kernel.nodes if isinstance(n, ir.Builtin) and n.id in ("threadIdx", "blockDim")}
    shapes = _CUBES if "z" in axes else _TILES if "y" in axes else _LINES
    templates = _defaults(model, kernel)
    hinted = hints(model, kernel, templates)
    wanted = {axis: extent for axis, extent in {**hinted.most, **hinted.exact}.items() if axis in axes}
    bounded = [s for s in shapes if prod(s) <= limit]
    if not wanted and kernel.bounds and "y" not in axes and "z" not in axes and limit < MAX_THREADS_PER_BLOCK:
        bounded = [s for s in bounded if s[0] != limit]
        bounded.insert(0, (limit, 1, 1))  # the bound is what most launches use
    fitting = [s for s in bounded if hinted.allow(s)]
    made = _fitted(wanted, limit, axes)
    if made is not None and (made in fitting or prod(made) % WARP == 0):
        return (made,)
    return tuple(_largest(fitting, wanted)) or tuple(bounded) or ((min(limit, 32), 1, 1),)


def _fitted(wanted: dict[str, int], limit: int, axes: set[str]) -> Shape | None:
    """The shape that the hints fix along every axis that the kernel uses."""
    if not wanted or not axes <= wanted.keys():
        return None
    shape = (wanted.get("x", 1), wanted.get("y", 1), wanted.get("z", 1))
    return shape if prod(shape) <= limit and possible(shape) else None


def _largest(shapes: list[Shape], wanted: dict[str, int]) -> list[Shape]:
    """Of shapes that fit, those that reach furthest along the axes that shared arrays fix."""
    for axis in sorted(wanted):
        i = "xyz".index(axis)
        most = max((s[i] for s in shapes), default=0)
        shapes = [s for s in shapes if s[i] == most]
    return shapes


def _defaults(model: FileModel, kernel: Function) -> dict[str, int]:
    """Values that template parameters have by default."""
    given = ((name, number(expr, model)) for name, expr in kernel.templates.items() if expr is not None)
    return {name: value for name, value in given if value is not None}
