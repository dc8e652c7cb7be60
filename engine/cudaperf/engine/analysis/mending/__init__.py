"""Fixes for what the rules find: each checked on simulated runs of the changed kernel before it is offered."""
