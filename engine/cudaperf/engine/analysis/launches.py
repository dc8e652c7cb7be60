"""The launches of a file with what is known of their configuration: grid, block, shared memory, template arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cudaperf.engine.analysis.constants import Dims, dim3, number, values_at
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

_KEPT: Final = "_cudaperf_launches"
_BY_CALL: Final = frozenset(("cudaLaunchKernel", "cudaLaunchCooperativeKernel"))


@dataclass(frozen=True, slots=True, eq=False)
class Configuration:
    """One launch. `kernel` is None where the file does not define it, or defines several of that name that fit.

    `shared` are the bytes of dynamic shared memory, 0 where none are asked for, None where not known; `templates` the
    values of the kernel's template parameters that are known.
    """

    node: ir.Launch | ir.Call
    host: Function
    name: str
    kernel: Function | None
    grid_expr: ir.Expr
    block_expr: ir.Expr
    shared_expr: ir.Expr | None
    grid: Dims | None
    block: Dims | None
    shared: int | None
    templates: Mapping[str, int]


def configurations(model: FileModel) -> list[Configuration]:
    """Every launch in a host function, `<<<>>>` or cudaLaunchKernel, in the order of the text."""
    return [c for function in model.functions if function.kind == "host" for c in launches_in(model, function)]


def launches_in(model: FileModel, host: Function) -> list[Configuration]:
    """Those of one host function."""
    kept: list[Configuration] | None = host.__dict__.get(_KEPT)
    if kept is None:
        found = [_launch(n, host, model) for n in host.launches if len(n.config) >= 2]
        if b"cudaLaunch" in model.text(host):
            calls = (n for n in host.nodes if isinstance(n, ir.Call) and n.name in _BY_CALL and len(n.args) >= 3)
            found += [_call(n, host, model) for n in calls]
        kept = host.__dict__[_KEPT] = sorted(found, key=lambda c: c.node.start)
    return kept


def launches_of(model: FileModel, kernel: Function) -> list[Configuration]:
    """Those of one kernel."""
    return [c for host in model.hosts_naming(kernel.name) for c in launches_in(model, host) if c.kernel is kernel]


def _launch(node: ir.Launch, host: Function, model: FileModel) -> Configuration:
    shared = node.config[2] if len(node.config) > 2 else None
    return _made(node, host, model, node.kernel, len(node.args), node.templates, (node.config[0], node.config[1], shared))


def _call(node: ir.Call, host: Function, model: FileModel) -> Configuration:
    target = node.args[0]
    while isinstance(target, ir.Cast | ir.AddressOf):
        target = target.value if isinstance(target, ir.Cast) else target.target
    name = target.id if isinstance(target, ir.Name) else ""
    shared = node.args[4] if len(node.args) > 4 else None
    return _made(node, host, model, name, None, [], (node.args[1], node.args[2], shared))


def _made(
    node: ir.Launch | ir.Call,
    host: Function,
    model: FileModel,
    name: str,
    arguments: int | None,
    templates: list[ir.Expr],
    config: tuple[ir.Expr, ir.Expr, ir.Expr | None],
) -> Configuration:
    fitting = [f for f in model.by_name.get(name, ()) if f.kind == "kernel"]
    if len(fitting) > 1:
        fitting = [f for f in fitting if len(f.parameters) == arguments]
    kernel = fitting[0] if len(fitting) == 1 else None
    grid, block, shared = config
    values = values_at(host, model, node.start)
    return Configuration(
        node,
        host,
        name,
        kernel,
        grid,
        block,
        shared,
        dim3(grid, model, host),
        dim3(block, model, host),
        0 if shared is None else number(shared, model, values),
        _template_values(kernel, templates, model, host, node.start) if kernel is not None else {},
    )


def _template_values(kernel: Function, given: list[ir.Expr], model: FileModel, host: Function, offset: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for i, name in enumerate(template_names(kernel)):
        expr = given[i] if i < len(given) else kernel.templates.get(name or "")
        value = number(expr, model, values_at(host, model, offset, found)) if expr is not None else None
        if name in kernel.templates and value is not None:
            found[name] = value
    return found


def type_sizes(model: FileModel, launch: Configuration) -> dict[str, int]:
    """The bytes of the types that a launch gives for the kernel's type parameters, as far as they are known."""
    names = template_names(launch.kernel) if launch.kernel is not None else []
    given = launch.node.templates if isinstance(launch.node, ir.Launch) else []
    sizes = ((name, model.types.named(model.source.text(t.start, t.end)).size) for name, t in zip(names, given, strict=False))
    return {name: size for name, size in sizes if name is not None and size is not None}


def template_names(function: Function) -> list[str | None]:
    """The names of a function's template parameters in order; None for an unnamed one."""
    parent = function.node.parent
    if parent is None or parent.type != "template_declaration":
        return []
    parameters = parent.child_by_field_name("parameters")
    return [_name(p) for p in parameters.named_children if p.type != "comment"] if parameters is not None else []


def _name(parameter: Tree) -> str | None:
    declarator = parameter.child_by_field_name("declarator")
    if declarator is None:
        named = [c for c in parameter.named_children if c.type == "type_identifier"]
        declarator = named[0] if parameter.type.endswith("type_parameter_declaration") and named else None
    return declarator.text.decode("utf-8", "replace") if declarator is not None and declarator.text is not None else None
