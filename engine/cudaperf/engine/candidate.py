"""`Candidate`: device code plus a launch plan, never host code."""

from __future__ import annotations

import hashlib

from pydantic import BaseModel, ConfigDict

from cudaperf.engine.plan import LaunchPlan


class Candidate(BaseModel):
    """What is verified, timed and emitted.

    `device_code` is CUDA C++ text with `extern "C" __global__` kernels; the user's macros, types and helpers stand in it.
    `needs_header` says whether it calls `cp_*` functions (then `strategies/cp.cuh`'s used parts are prepended by executors
    and emitter alike through `full_device_code`).
    `schedule` is the text of a `Schedule`; `strategy` the short name shown to the user; `account` one paragraph of prose
    about what was done, for the emitted header comment. `compile_options` are NVRTC/nvcc options ("--fmad=false").
    `deterministic` says whether reruns are bit-equal. `architecture` is the compute capability to build the files for (75 =
    sm_75): what the user asked for or the device has, else the least that the code needs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    device_code: str
    plan: LaunchPlan
    strategy: str
    schedule: str
    account: str = ""
    compile_options: tuple[str, ...] = ()
    deterministic: bool = True
    architecture: int = 75

    @property
    def digest(self) -> str:
        """Content hash: the identity of a candidate in caches and evidence."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]
