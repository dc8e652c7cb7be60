"""Strategies: LoopNest -> kernels and plan steps, one file each."""
