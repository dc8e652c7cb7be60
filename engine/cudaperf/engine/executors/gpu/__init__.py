"""The GPU executor: a worker process owns the CUDA context and interprets launch plans; a fault costs that worker alone."""
