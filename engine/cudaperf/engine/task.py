"""`Task`: what to compute, told to every later stage without the front end's trees.

A task names its parameters in the C signature's order, says how large every array is, which values inputs may take, and how
outputs are judged. It is plain data (JSON), so that evidence can carry it and another machine can replay it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SizeExpr = str


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScalarType(_Data):
    """`name` is the canonical C spelling; `kind` "int" or "float"."""

    kind: Literal["scalar"] = "scalar"
    name: str
    number: Literal["int", "float"]
    bits: int
    signed: bool = True


class StructField(_Data):
    """`dims` are constant extents; `offset` in bytes."""

    name: str
    type: ElementType
    offset: int
    dims: tuple[int, ...] = ()


class StructType(_Data):
    kind: Literal["struct"] = "struct"
    name: str
    fields: tuple[StructField, ...]
    size: int


ElementType = Annotated[ScalarType | StructType, Field(discriminator="kind")]
StructField.model_rebuild()


class AnyValues(_Data):
    """Floats by the configuration's distribution; integers over a small range of both signs (unsigned: non-negative)."""

    rule: Literal["any"] = "any"


class IndexValues(_Data):
    """Integers in [low, high) (size expressions): an index array, or a bounded integer input."""

    rule: Literal["index"] = "index"
    low: SizeExpr = "0"
    high: SizeExpr


class OffsetValues(_Data):
    """Non-decreasing integers from 0 to `total` (CSR row pointers)."""

    rule: Literal["offsets"] = "offsets"
    total: SizeExpr


class PermutationValues(_Data):
    """A permutation of 0 .. extent-1."""

    rule: Literal["permutation"] = "permutation"


ValueRule = Annotated[AnyValues | IndexValues | OffsetValues | PermutationValues, Field(discriminator="rule")]


class ScalarParameter(_Data):
    """A scalar argument. `role`: "size" integers appear in extents or bounds; "value" ones do not.

    `declaration` is the parameter as C text. Input generation draws sizes; `low`/`high` bound value integers where known.
    """

    kind: Literal["scalar"] = "scalar"
    name: str
    type: ElementType
    role: Literal["size", "value"]
    declaration: str
    is_global: bool = False
    low: int | None = None
    high: int | None = None


class ArrayParameter(_Data):
    """A pointer or array argument (or a file-scope array).

    `extents`: size expressions over integer parameters, one a logical dimension; element count is their product. They may
    read earlier data through at(...)/top(...); then `free_extent` names a size drawn by the input generator for it
    (for `x[col[k]]`, the extent of x is `top(col, nnz)` to the host wrapper, while inputs draw col below a free size).
    `access`: what the function does with it. `outputs are judged` when access is "out" or "inout".
    """

    kind: Literal["array"] = "array"
    name: str
    type: ElementType
    extents: tuple[SizeExpr, ...]
    access: Literal["in", "out", "inout"]
    declaration: str
    const: bool = False
    restrict: bool = False
    is_global: bool = False
    values: ValueRule = AnyValues()
    free_extent: str | None = None


Parameter = Annotated[ScalarParameter | ArrayParameter, Field(discriminator="kind")]


class Original(_Data):
    """The user's code: enough to compile and run it elsewhere.

    `preprocessed` is the whole translation unit after the preprocessor (self-contained); `source` the main file's text;
    `path` its base name; `arguments` the compiler arguments; `static` whether the function has internal linkage.
    """

    path: str
    function: str
    source: str
    preprocessed: str
    arguments: tuple[str, ...] = ()
    static: bool = False


class Task(_Data):
    """One function to compute on the GPU.

    `parameters` in C order; `globals` are file-scope variables it uses, after them. `returns` None for void.
    `requirements` are size expressions (non-zero = holds) under which candidates are correct: derived by the analysis or
    assumed by the user's comments; the host wrapper checks them and falls back. `user_assumptions` are those that came from
    comments: the original is only run on inputs that satisfy them.
    `reference` is C++ text with a function template over the number type, printed from the front end's trees.
    `exact`: no floating-point freedom is allowed (discrete outputs depend on floats): compile with fmad off.
    `nonnull` are array parameters that the original tests for NULL; the host wrapper leaves such calls to the original.
    `work`: a size expression for the number of statement instances (an estimate), `traffic` bytes moved at least.
    """

    name: str
    original: Original
    parameters: tuple[Parameter, ...]
    globals: tuple[Parameter, ...] = ()
    returns: ElementType | None = None
    requirements: tuple[SizeExpr, ...] = ()
    user_assumptions: tuple[SizeExpr, ...] = ()
    reference: str = ""
    exact: bool = False
    preamble: str = ""
    type_headers: tuple[str, ...] = ()
    nonnull: tuple[str, ...] = ()
    work: SizeExpr = "0"
    traffic: SizeExpr = "0"

    @property
    def arrays(self) -> tuple[ArrayParameter, ...]:
        return tuple(p for p in self.parameters + self.globals if isinstance(p, ArrayParameter))

    @property
    def scalars(self) -> tuple[ScalarParameter, ...]:
        return tuple(p for p in self.parameters + self.globals if isinstance(p, ScalarParameter))

    @property
    def sizes(self) -> tuple[ScalarParameter, ...]:
        return tuple(p for p in self.scalars if p.role == "size")

    def array(self, name: str) -> ArrayParameter:
        return next(p for p in self.arrays if p.name == name)
