#!/usr/bin/env bash
# setup.sh WHEELS [SITE]: install a folder of wheels into SITE, fetching nothing; prints the PYTHONPATH to use.
#   export PYTHONPATH=$(benchmarks/gpu/setup.sh .whl /tmp/site)
set -euo pipefail
WHEELS=$(cd "$1" && pwd); SITE=${2:-/tmp/site}; ENGINE=$(cd "$(dirname "$0")/../../engine" && pwd)
python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target "$SITE" "$WHEELS"/*.whl >&2
echo "$SITE:$ENGINE"
