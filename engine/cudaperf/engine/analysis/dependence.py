"""What the findings of a function depend on, as a key: equal keys mean equal findings, wherever the function stands.

A function depends on its own text, on what is declared around functions, on the functions of the file that it names, and on
those that they name; a kernel also on its launches, a host function also on its callers and on how the file checks errors.
Names count by their spelling alone, so that a key depends on too much rather than on too little.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final

from cudaperf.engine.analysis.block_shapes import commented, known_block
from cudaperf.engine.analysis.launches import launches_in
from cudaperf.engine.analysis.limits import SETTERS
from cudaperf.engine.analysis.mending.wrapper import wrapper
from cudaperf.engine.cuda.model import FileModel, Function

_SCOPES: Final = frozenset(("class_specifier", "struct_specifier", "union_specifier", "namespace_definition"))
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
Key = Hashable
Launched = tuple[str, Key]
"""A kernel's name, and what its simulated runs take from one of its launches."""


@dataclass(slots=True)
class Texts:
    """Numbers for texts and for keys, the same for equal ones, and what was read in texts; kept from check to check."""

    numbers: dict[Key, int] = field(default_factory=dict)
    words: dict[int, frozenset[str]] = field(default_factory=dict)
    launches: dict[Key, tuple[Launched, ...]] = field(default_factory=dict)

    def number(self, text: Key) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of the file that keeps its text where its key is the same."""

    key: Key
    start: int
    end: int


class Dependence:
    """Of the functions of one model."""

    def __init__(self, model: FileModel, texts: Texts) -> None:
        self._model, self._texts = model, texts
        data, counted = model.source.data, Counter[int]()
        self.regions: list[Region] = []
        self._numbers: dict[Function, int] = {}
        self._regions: dict[Function, Region] = {}
        self._callers: dict[Function, list[Function]] = {}
        self._named: dict[Function, list[Function]] = {}
        self._insides: dict[Function, int] = {}
        self._scopes: dict[int, int] = {}
        around: list[int] = []
        for start, end in model.surroundings:
            self.regions.append(Region(len(around), start, end))
            around.append(texts.number(data[start:end]))
        for function in model.functions:
            start = _beginning(function)
            number = self._numbers[function] = texts.number(data[start : function.end])
            counted[number] += 1
            self._regions[function] = region = Region((number, counted[number]), start, function.end)
            self.regions.append(region)
        self._name_each_other()
        setting = (self._numbers[f] for f in model.functions if f.kind == "host" and SETTERS & self._words(f))
        self._around = texts.number((tuple(around), tuple(setting)))

    def of(self, function: Function, *, shapes: bool) -> Key:
        """The key of what is found of a function; `shapes`: of a kernel's launches only the shapes of blocks count."""
        return shapes, self._inside(function), self._launched(function) if shapes else self._outside(function)

    def _inside(self, function: Function) -> int:
        """The function itself, what it leads to, and what is around all."""
        found = self._insides.get(function)
        if found is None:
            scope = self._scope(function)
            own = (self._regions[function].key, scope, self._model.broken(function), self._comments(function))
            others = self._numbered(self._reached([function])) if self._named[function] else ()
            key = (self._around, own, others)
            found = self._insides[function] = self._texts.number(key)
        return found

    def _scope(self, function: Function) -> int:
        """The names of the classes and namespaces around a function."""
        above = node = function.node.parent
        if above is None or above.id not in self._scopes:
            names = []
            while node is not None:
                name = node.child_by_field_name("name") if node.type in _SCOPES else None
                names += [name.text] if name is not None else []
                node = node.parent
            self._scopes[above.id if above is not None else 0] = self._texts.number(tuple(names))
        return self._scopes[above.id if above is not None else 0]

    def _comments(self, function: Function) -> Key:
        return tuple(commented(self._model, function)) if function.kind == "kernel" else ()

    def _outside(self, function: Function) -> Key:
        """What leads to the function, and of a host function what a fix would check its calls with."""
        checked_with = wrapper(self._model, function) if function.kind == "host" else None
        callers = self._callers.get(function, ()) if function.kind != "device" else ()
        if not callers:
            return checked_with
        return checked_with, self._numbered(self._reached(callers), bodies=False)

    def _name_each_other(self) -> None:
        by_name = self._model.by_name
        for function in self._model.functions:
            named = [f for name in self._words(function) & by_name.keys() for f in by_name[name] if f is not function]
            self._named[function] = named
            if function.kind == "host":
                for other in named:
                    self._callers.setdefault(other, []).append(function)

    def _words(self, function: Function) -> frozenset[str]:
        number = self._numbers[function]
        found = self._texts.words.get(number)
        if found is None:
            text = self._model.source.data[_beginning(function) : function.end]
            found = self._texts.words[number] = frozenset(word.decode() for word in _WORD.findall(text))
        return found

    def _reached(self, first: Iterable[Function]) -> set[Function]:
        """Functions, what they name, and so on."""
        seen = set(first)
        waiting = [function for function in seen if self._named[function]]
        while waiting:
            for other in self._named[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    def _numbered(self, functions: set[Function], *, bodies: bool = True) -> tuple[int, ...]:
        """Their texts, of kernels without bodies perhaps, in the order of the file."""
        ordered = sorted(functions, key=lambda f: f.start) if len(functions) > 1 else functions
        return tuple(self._numbers[f] if bodies or f.kind != "kernel" else self._head(f) for f in ordered)

    def _head(self, function: Function) -> int:
        body = function.node.child_by_field_name("body")
        end = body.start_byte if body is not None else function.end
        return self._texts.number(self._model.source.data[_beginning(function) : end])

    def _launched(self, kernel: Function) -> Key:
        every = (self._launches_of(host) for host in self._callers.get(kernel, ()))
        return tuple(what for host in every for name, what in host if name == kernel.name)

    def _launches_of(self, host: Function) -> tuple[Launched, ...]:
        key = (self._around, self._numbers[host], self._numbered(self._reached([host]), bodies=False))
        found = self._texts.launches.get(key)
        if found is None:
            found = self._texts.launches[key] = tuple(self._read(host))
        return found

    def _read(self, host: Function) -> Iterable[Launched]:
        for launch in launches_in(self._model, host):
            named = self._model.by_name.get(launch.name, [])
            which = named.index(launch.kernel) if launch.kernel is not None else None
            yield launch.name, (which, known_block(launch), tuple(sorted(launch.templates.items())))


def _beginning(function: Function) -> int:
    """Where a function begins, its template header included."""
    node = function.node
    while node.parent is not None and node.parent.type == "template_declaration":
        node = node.parent
    return node.start_byte
