"""`python -m cudaperf.engine.cli`: the same as `cudaperf`."""

from cudaperf.engine.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
