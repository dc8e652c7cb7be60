"""Verification: input configurations, the original and its reference, comparison, baselines."""
