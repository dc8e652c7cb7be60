"""What a result may say: where it was verified, how fast it is, with which tolerance, generator and tools."""

from __future__ import annotations

from cudaperf.engine.evidence import Baseline, ConfigurationSpec
from cudaperf.engine.reason import Reason, ReasonCode, Refusal
from cudaperf.engine.verdict import Passed


def gpu_claim(device: str | None, verdict: Passed, spec: ConfigurationSpec | None) -> str:
    """Where it was verified, and its times with the sizes that they hold for."""
    timing, races = verdict.timing, unsanitized(verdict)
    if timing is None or spec is None:
        return f"verified on {device}{races}; not timed"
    sizes = ", ".join(f"{name} = {value}" for name, value in spec.sizes.items())
    copies = f", {1e3 * timing.end_to_end:.3g} ms with copies" if timing.end_to_end is not None else ""
    return f"verified on {device}{races}; {1e3 * timing.median:.3g} ms on the device{copies}{f' ({sizes})' if sizes else ''}"


def unsanitized(verdict: Passed | None) -> str:
    """What a result on a device must add where the sanitizers did not run."""
    if verdict is None or verdict.unsanitized is None:
        return ""
    return f", without a search for races and stray accesses ({verdict.unsanitized})"


def refuse_if_slower(verdict: Passed, baselines: tuple[Baseline, ...]) -> None:
    """A function that the CPU computes sooner, copies aside, should stay there."""
    if verdict.timing is None or not baselines:
        return
    best = min(baselines, key=lambda b: b.seconds)
    if verdict.timing.median >= best.seconds:
        sizes = ", ".join(f"{name} = {value}" for name, value in best.sizes.items())
        message = (
            f"not worth moving at {sizes or 'its size'}: {1e3 * best.seconds:.3g} ms on the CPU ({best.name}), "
            f"{1e3 * verdict.timing.median:.3g} ms on {verdict.timing.device}; --size NAME=VALUE measures elsewhere"
        )
        raise Refusal(Reason(ReasonCode.NOT_PROFITABLE, message))


def tolerance() -> str:
    """The rule that outputs were held to (docs/decisions/001-tolerance.md)."""
    from cudaperf.engine.verify.reference import TOLERANCE_K

    return f"|out - reference| <= {TOLERANCE_K:g} * (m + sqrt(r)) per element; integers equal the original's"


def generator() -> str:
    """The name of the specification that inputs were made by."""
    from cudaperf.engine.verify.values import GENERATOR

    return GENERATOR


def toolchain() -> dict[str, str]:
    """Versions of the compilers that took part."""
    from cudaperf.engine.toolchain import find

    found = {"host compiler": find.host_compiler(), "nvcc": find.find_nvcc(), "nvrtc": find.find_nvrtc()}
    return {name: str(getattr(tool, "version", tool)) for name, tool in found.items() if tool is not None}
