"""libclang's types as `loops.ir` types, or the reason why one is outside the subset."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from cudaperf.engine.loops.ir import Field, Scalar, Struct, Type
from cudaperf.engine.reason import ReasonCode

SIGNED = {"CHAR_S": "char", "SCHAR": "signed char", "SHORT": "short", "INT": "int", "LONG": "long", "LONGLONG": "long long"}
UNSIGNED = {"BOOL": "_Bool", "UCHAR": "unsigned char", "USHORT": "unsigned short", "UINT": "unsigned int"}
UNSIGNED |= {"ULONG": "unsigned long", "ULONGLONG": "unsigned long long"}
FLOATING = {"FLOAT": "float", "DOUBLE": "double"}
ARRAYS = ("CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY")


class TypeRefused(Exception):
    """A type that has no place in the subset; whoever asked knows the place in the file.

    `by_use`: what a parameter of the type is used for says more than the type does (handles, callbacks, linked objects).
    """

    def __init__(self, message: str, code: ReasonCode = ReasonCode.UNSUPPORTED, by_use: bool = False) -> None:
        super().__init__(message)
        self.message, self.code, self.by_use = message, code, by_use


@dataclass(frozen=True, slots=True)
class Shape:
    """A type taken apart: the pointer (if any) and array dimensions around an element type.

    `extents` has one entry a dimension, outermost first: a constant, or None for a variable or unknown one.
    """

    element: Type
    extents: tuple[int | None, ...]
    pointer: bool
    const: bool
    restrict: bool


def kind_of(kind: Any) -> str:
    """The name of a canonical type's kind."""
    return str(kind.get_canonical().kind.name)


def is_pointer(kind: Any) -> bool:
    return kind_of(kind) == "POINTER"


def is_array(kind: Any) -> bool:
    return kind_of(kind) in ARRAYS


def pointee(kind: Any) -> Any:
    """What a pointer points to, or an array passed as one holds (libclang gives arguments the type written, `double x[]`)."""
    if is_array(kind) and kind.kind.name in ARRAYS:
        return kind.get_array_element_type().get_canonical()  # the canonical array type hides the element's `const`
    return kind.get_canonical().get_pointee().get_canonical()


def plain_name(kind: Any) -> str:
    """A type's canonical spelling without qualifiers."""
    words = str(kind.get_canonical().spelling).split()
    return " ".join(w for w in words if w not in ("const", "volatile", "restrict"))


def is_enumeration(kind: Any) -> bool:
    """Whether this is an enumeration, or pointers to or arrays of one."""
    kind = kind.get_canonical()
    while is_array(kind) or is_pointer(kind):
        kind = pointee(kind)
    return bool(kind.kind.name == "ENUM")


def as_number(declaration: str, element: Type) -> str:
    """The declaration with an enumeration's number type, which C takes to be the same and C++ a different one."""
    return re.sub(r"^((?:(?:const|register)\s+)*)(?:enum\s+)?\w+", rf"\g<1>{element.name}", declaration, count=1)


def is_number(kind: Any) -> bool:
    """Whether a type's name stands for a type of numbers, which can be spelled without it."""
    name = kind.get_canonical().kind.name
    return name in FLOATING or name in SIGNED or name in UNSIGNED


def lower_type(kind: Any) -> Type:
    """An arithmetic, enumeration or struct type."""
    canonical = kind.get_canonical()
    if canonical.is_volatile_qualified():
        raise TypeRefused("a volatile object can change at any time", ReasonCode.SIDE_EFFECT)
    name = canonical.kind.name
    if name in FLOATING:
        return Scalar(FLOATING[name], "float", canonical.get_size() * 8)
    if name in SIGNED or name in UNSIGNED:
        return Scalar((SIGNED | UNSIGNED)[name], "int", canonical.get_size() * 8, name in SIGNED)
    if name == "ENUM":
        return lower_type(canonical.get_declaration().enum_type)
    if name == "RECORD":
        return lower_struct(canonical)
    raise TypeRefused(f"{_called(canonical, name)} is not supported")


def _called(canonical: Any, name: str) -> str:
    known = {"POINTER": "a pointer here", "LONGDOUBLE": "long double", "VOID": "void", "FUNCTIONPROTO": "a function pointer"}
    return known.get(name, f"the type {canonical.spelling}")


def lower_struct(canonical: Any) -> Struct:
    """A struct with arithmetic, struct and constant-size array members."""
    declaration, name = canonical.get_declaration(), plain_name(canonical)
    if name == "struct _IO_FILE":
        raise TypeRefused("a file (FILE): input and output stay with the host", ReasonCode.SIDE_EFFECT, by_use=True)
    if declaration.kind.name == "UNION_DECL":
        raise TypeRefused(f"{name} is a union")
    if "(unnamed" in name or "(anonymous" in name:
        raise TypeRefused("a structure without a name is not supported: give it a tag")
    members = tuple(_member(m, name) for m in canonical.get_fields())
    if canonical.get_size() < 0:
        raise TypeRefused(f"{name} has no definition here", by_use=True)
    return Struct(name, members, canonical.get_size())


def _member(member: Any, owner: str) -> Field:
    if member.is_bitfield():
        raise TypeRefused(f"{owner} has the bit-field {member.spelling}")
    kind, dims = member.type.get_canonical(), list[int]()
    while is_array(kind):
        if kind.kind.name != "CONSTANTARRAY":
            raise TypeRefused(f"{owner} has the flexible array {member.spelling}")
        dims.append(int(kind.element_count))
        kind = kind.element_type.get_canonical()
    if is_pointer(kind):
        raise TypeRefused(f"{owner} has the pointer member {member.spelling}", by_use=True)
    return Field(member.spelling, lower_type(kind), member.get_field_offsetof() // 8, tuple(dims))


def take_apart(kind: Any) -> Shape:
    """The shape of a variable's type."""
    canonical = kind.get_canonical()
    restrict, pointer = canonical.is_restrict_qualified(), is_pointer(canonical)
    if canonical.is_volatile_qualified():
        raise TypeRefused("a volatile object can change at any time", ReasonCode.SIDE_EFFECT)
    if pointer:
        canonical = canonical.get_pointee().get_canonical()
    extents: list[int | None] = []
    const = canonical.is_const_qualified()
    while canonical.kind.name in ARRAYS:
        extents.append(int(canonical.element_count) if canonical.kind.name == "CONSTANTARRAY" else None)
        canonical = canonical.element_type.get_canonical()
        const = const or canonical.is_const_qualified()
    if is_pointer(canonical):
        message = "an array of pointers (or pointer to a pointer) is not supported: pass one flat array, or a[n][m]"
        raise TypeRefused(message, by_use=True)
    if pointer and canonical.kind.name in ("FUNCTIONPROTO", "FUNCTIONNOPROTO"):
        raise TypeRefused("a function pointer is not supported", by_use=True)
    if pointer and canonical.kind.name == "VOID":
        raise TypeRefused("a void pointer has no element type: use a typed one", by_use=True)
    return Shape(lower_type(canonical), tuple(extents), pointer, const, restrict)
