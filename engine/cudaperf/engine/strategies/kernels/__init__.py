"""Tuned kernel texts: pure functions from a frozen configuration to CUDA text, launch shapes and temporaries."""
