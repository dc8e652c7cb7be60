"""What a user may set for `check`: which rules, which device, which block size to assume; and what was measured of the file."""

from __future__ import annotations

from dataclasses import dataclass, field

from cudaperf.engine.analysis.measured import Measured

DEFAULT_ARCHITECTURE = 80


@dataclass(frozen=True, slots=True)
class Settings:
    """`select` and `ignore` are codes or prefixes ("CP1"); `per_file_ignores` maps glob patterns to such lists.
    `architecture` is a compute capability (80, 90); `block` the shape to assume where no launch or comment says it.
    `measured` is what a compiler says of the file at hand, None where none was asked."""

    select: tuple[str, ...] = ("CP",)
    ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = field(default_factory=dict)
    architecture: int = DEFAULT_ARCHITECTURE
    block: tuple[int, int, int] | None = None
    measured: Measured | None = None

    def wants(self, code: str) -> bool:
        """Whether a rule is selected and not ignored; the longer prefix wins, `ignore` on a tie."""
        chosen = max((len(p) for p in self.select if code.startswith(p)), default=0)
        dropped = max((len(p) for p in self.ignore if code.startswith(p)), default=0)
        return chosen > dropped
