"""Rules over CUDA code: pure functions from a `FileModel` to findings; no torch, no device, no process."""
