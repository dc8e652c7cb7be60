"""`Evidence`: everything needed to replay a claim, and the words in which a claim may be made."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.task import Task
from cudaperf.engine.verdict import Verdict

EMULATED_CLAIM = "correct on CPU emulation; not run on a GPU, speed unknown"
CHOSEN_BY_MODEL = "chosen by model, not timed"


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ConfigurationSpec(_Data):
    """One input configuration: sizes by name, the distribution's name, the seed. `generator` makes the same bytes from it."""

    sizes: dict[str, int]
    distribution: str
    seed: int


class Baseline(_Data):
    """A measured baseline: seconds a call, with what it is and where it ran."""

    name: str
    seconds: float
    sizes: dict[str, int]
    processor: str
    command: str


class Judged(_Data):
    candidate: Candidate
    verdict: Verdict


class Evidence(_Data):
    """The replayable record of one `optimize` run. `emitted` maps file names to their texts as verified."""

    version: Literal[1] = 1
    cudaperf: str
    created: str
    claim: str
    chosen_by: str
    task: Task
    chosen: Judged
    others: tuple[Judged, ...] = ()
    configurations: tuple[ConfigurationSpec, ...]
    tolerance: str
    generator: str
    executor: Literal["emulated", "gpu"]
    device: str | None = None
    toolchain: dict[str, str] = {}
    checks: tuple[str, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    emitted: dict[str, str] = {}
