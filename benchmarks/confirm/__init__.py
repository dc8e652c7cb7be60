"""What a GPU's tools say of the kernels in `tests/data/kernels`; run by `benchmarks/confirm_findings.py`."""
