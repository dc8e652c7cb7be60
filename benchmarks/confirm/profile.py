"""Nsight Compute's counters by source line: sectors of global accesses, wavefronts of shared ones.

The report file is read through `ncu_report`, the module that comes with Nsight Compute, an instruction at a time; where that
does not load, the source page is printed as CSV, a line at a time. Its column names are taken loosely: versions differ.
"""

from __future__ import annotations

import csv
import importlib
import io
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .process import output_of

IMPORT_SECONDS = 60.0
METRICS = {
    "sectors": "memory_l2_theoretical_sectors_global",
    "ideal_sectors": "memory_l2_theoretical_sectors_global_ideal",
    "wavefronts": "memory_l1_wavefronts_shared",
    "ideal_wavefronts": "memory_l1_wavefronts_shared_ideal",
    "executed": "inst_executed",
}
_COLUMNS = {
    "sectors": "l2 theoretical sectors global",
    "ideal_sectors": "l2 theoretical sectors global ideal",
    "wavefronts": "l1 wavefronts shared",
    "ideal_wavefronts": "l1 wavefronts shared ideal",
    "executed": "instructions executed",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Counts of one instruction (or line) over a launch; `executed` counts warps."""

    file: str
    line: int
    sectors: float = 0.0
    ideal_sectors: float = 0.0
    wavefronts: float = 0.0
    ideal_wavefronts: float = 0.0
    executed: float = 0.0


def collect(ncu: str, program: Path, kernels: list[str], report: Path, seconds: float) -> str:
    """Runs a driver under ncu; the message of a failure, or ""."""
    command = [ncu, "--clock-control", "none", "--section", "SourceCounters", "--import-source", "yes", "--force-overwrite"]
    command += ["-o", str(report), str(program), *kernels]
    output = output_of(command, seconds)
    if output is None:
        return f"ncu took longer than {seconds:.0f} s"
    return "" if _file_of(report).exists() else output[-800:] or "ncu wrote no report"


def accesses(ncu: str, report: Path) -> list[Access]:
    """What the report says, by whichever way works."""
    module = _module(ncu)
    if module is not None:
        found = list(_instructions(module, str(_file_of(report))))
        if found:
            return found
    command = [ncu, "--import", str(_file_of(report)), "--page", "source", "--csv", "--print-source", "cuda"]
    return list(parse_source_page(output_of(command, IMPORT_SECONDS) or ""))


def _file_of(report: Path) -> Path:
    return report.with_name(report.name + ".ncu-rep")


def _module(ncu: str) -> Any:
    places = [
        Path(shutil.which(ncu) or ncu).resolve().parent,
        *sorted(Path("/opt/nvidia/nsight-compute").glob("*"), reverse=True),
    ]
    for place in places:
        for folder in (place / "extras" / "python", place.parent / "extras" / "python"):
            if (folder / "ncu_report.py").exists():
                sys.path.insert(0, str(folder))
                try:
                    return importlib.import_module("ncu_report")
                except ImportError:
                    sys.path.remove(str(folder))
    return None


def _instructions(module: Any, report: str) -> Iterator[Access]:
    context = module.load_report(report)
    for r in range(context.num_ranges()):
        launches = context.range_by_idx(r)
        for k in range(launches.num_actions()):
            yield from _launch(launches.action_by_idx(k))


def _launch(action: Any) -> Iterator[Access]:
    counts: dict[int, dict[str, float]] = {}
    for name, metric_name in METRICS.items():
        metric = action.metric_by_name(metric_name)
        if metric is None or not metric.has_correlation_ids():
            continue
        places = metric.correlation_ids()
        for i in range(metric.num_instances()):
            counts.setdefault(places.as_uint64(i), {})[name] = metric.as_double(i)
    for address, values in counts.items():
        source = action.source_info(address)
        if source is not None and (values.get("ideal_sectors") or values.get("ideal_wavefronts")):
            yield Access(Path(source.file_name()).name, int(source.line()), **values)


def parse_source_page(text: str) -> Iterator[Access]:
    """The accesses of `ncu --page source --csv --print-source cuda`: for each launch and file a header, then its lines."""
    columns: dict[str, int] = {}
    line_at, file = 0, ""
    for row in csv.reader(io.StringIO(text)):
        cells = [_plain(cell) for cell in row]
        if "source" in cells and len(cells) > 2:
            columns = {name: at for name in METRICS if (at := _column(cells, name)) is not None}
            line_at = next((cells.index(c) for c in ("line no", "line", "line number", "#") if c in cells), 0)
        elif (named := _file(row)) is not None:
            file, columns = named, {}
        elif columns and len(row) > max(columns.values()) and row[line_at].strip().isdigit():
            values = {name: _number(row[at]) for name, at in columns.items()}
            if values.get("ideal_sectors") or values.get("ideal_wavefronts"):
                yield Access(file, int(row[line_at]), **values)


def _column(cells: list[str], name: str) -> int | None:
    wanted = (_COLUMNS[name], METRICS[name].replace("_", " "))
    return next((at for at, cell in enumerate(cells) if cell in wanted), None)


def _plain(cell: str) -> str:
    return re.sub(r"[\s_]+", " ", re.sub(r"\[[^\]]*\]|\([^)]*\)", "", cell)).strip().lower()


def _file(row: list[str]) -> str | None:
    """The file that a row of context names ("File Path", "/a/b.cu")."""
    if len(row) <= 3 and row and re.match(r"(source )?file", _plain(row[0])):
        names = re.findall(r"[^\s\"/:]+\.cuh?\b", " ".join(row))
        return names[-1] if names else None
    return None


def _number(cell: str) -> float:
    digits = cell.replace(",", "").strip()
    return float(digits) if re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", digits) else 0.0


def worst(found: Iterable[Access]) -> dict[tuple[str, int], Access]:
    """For each line the ratios of its worst instructions: sectors and wavefronts over what would have done."""
    lines: dict[tuple[str, int], Access] = {}
    for a in found:
        sectors = a.sectors / a.ideal_sectors if a.ideal_sectors else 0.0
        wavefronts = a.wavefronts / a.ideal_wavefronts if a.ideal_wavefronts else 0.0
        per_request = a.sectors / a.executed if a.executed else 0.0
        old = lines.get((a.file, a.line), Access(a.file, a.line))
        lines[a.file, a.line] = Access(
            a.file,
            a.line,
            max(old.sectors, sectors),
            1.0 if a.ideal_sectors else old.ideal_sectors,
            max(old.wavefronts, wavefronts),
            1.0 if a.ideal_wavefronts else old.ideal_wavefronts,
            max(old.executed, per_request),
        )
    return lines
