"""Training of the proposing model, offline: one script a stage."""
