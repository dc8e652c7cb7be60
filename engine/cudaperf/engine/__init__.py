"""The engine: Task -> Candidates -> Verdicts -> Evidence. Knows neither LSP nor training."""
