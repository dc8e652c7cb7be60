"""A tolerant model of CUDA files from tree-sitter-cuda: kernels, device functions, shared arrays, barriers, launches.

Nothing here fails on broken code: what can't be understood becomes `Opaque`, and the code around it is still modelled.
"""
