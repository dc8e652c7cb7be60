"""Has the files of `check --measure` compiled, and gives the rules what ptxas says of their kernels.

The rules start no process: `check` puts `measure` into its jobs, and what it gives is data (`analysis.measured`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from cudaperf.engine.analysis.launches import Configuration, configurations, template_names
from cudaperf.engine.analysis.measured import Figures, Measure, Measured, Unmeasured, scope_of
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel
from cudaperf.engine.cuda.source import Source
from cudaperf.engine.toolchain import mangled
from cudaperf.engine.toolchain.compile import DeviceCompiler
from cudaperf.engine.toolchain.nvrtc import NvrtcError
from cudaperf.engine.toolchain.ptxas import PtxasReport
from cudaperf.engine.toolchain.recorded import Unreadable, recorded_options
from cudaperf.engine.toolchain.resources import Failure, Unit, resources

COMPILED: Final = (".cu",)


def measurer(compiler: DeviceCompiler, options: tuple[str, ...], scratch: Path) -> Measure:
    """What a job calls for its file; it can be sent to other processes."""
    return partial(measure, compiler, options, scratch)


def measure(
    compiler: DeviceCompiler, options: tuple[str, ...], scratch: Path, path: Path, text: bytes, architecture: int
) -> Measured | Unmeasured | None:
    """The figures of a file's kernels. None for what is no translation unit of CUDA, or has no kernel in it."""
    if path.suffix not in COMPILED or b"__global__" not in text:
        return None
    try:
        unit = Unit(path, text, architecture, options or recorded_options(path))
        found = resources(unit if compiler.kind == "nvcc" else _device(unit), compiler, scratch)
    except (OSError, NvrtcError) as error:
        return Unmeasured(f"{compiler.name} does not work here: {error}")
    except Unreadable as error:
        return Unmeasured(str(error))
    if isinstance(found, Failure):
        what = "it" if compiler.kind == "nvcc" else "the device code in it"
        return Unmeasured(f"{compiler.name} does not compile {what} for sm_{architecture}: {found}")
    return Measured(architecture, compiler.name, tuple(f for report in found if (f := _figures(report)) is not None))


def _device(unit: Unit) -> Unit:
    """With the device code alone, and the instances of templates that the file launches."""
    from cudaperf.engine.cuda.device_code import device_code
    from cudaperf.engine.cuda.reader import read

    model = read(Source(str(unit.path), unit.text))
    names = (_instance(model, launch) for launch in configurations(model))
    return replace(unit, device=device_code(model), names=tuple(dict.fromkeys(name for name in names if name is not None)))


def _instance(model: FileModel, launch: Configuration) -> str | None:
    """`ns::scale<float, 4>` as it could be written at the end of the file; None where it is no template."""
    if not isinstance(launch.node, ir.Launch) or launch.kernel is None or not launch.node.templates:
        return None
    parameters = (*template_names(launch.kernel), *[None] * len(launch.node.templates))
    arguments = [
        str(launch.templates[name])
        if name is not None and name in launch.templates
        else model.source.text(given.start, given.end)
        for name, given in zip(parameters, launch.node.templates, strict=False)
    ]
    return f"{'::'.join((*scope_of(launch.kernel), launch.kernel.name))}<{', '.join(arguments)}>"


def _figures(report: PtxasReport) -> Figures | None:
    name = mangled.parse(report.kernel)
    if name is None:
        return None
    return Figures(
        scope=name.scope,
        name=name.name,
        literals=name.literals,
        registers=report.registers,
        shared_bytes=report.shared_bytes,
        local_bytes=max(report.stack_bytes, report.called_stack_bytes),
        spill_bytes=report.spill_stores + report.spill_loads,
        barriers=report.barriers,
    )
