"""A kernel's body run for a few blocks of threads at once, on sampled sizes: where each thread touches memory, and when.

Numbers that follow from thread indices, constants and sampled parameters are known for every thread; what is loaded from memory
is not, beyond whether it can differ between threads. Rules look at the trace: addresses by warp, accesses between barriers.
"""
