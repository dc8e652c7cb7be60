#!/bin/sh
# Make the project's environment in .venv (or $VENV) and install the project there, editable, with its development tools.
# Finds a Python >= 3.11 itself ($PYTHON overrides) and says what to install where something is missing.
set -eu
venv=${VENV:-.venv}

say() { printf '%s\n' "$*" >&2; }

suits() { "$1" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for python in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
        if suits "$python"; then
            printf '%s\n' "$python"
            return
        fi
    done
    say "error: no Python >= 3.11 found (tried: ${PYTHON:-python3.13 python3.12 python3.11 python3})."
    say "       Debian or Ubuntu: sudo apt-get install python3 python3-venv    elsewhere: make PYTHON=/path/to/python3.12"
    exit 1
}

python=$(find_python)
if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    say "error: $python has no venv module. Debian or Ubuntu: sudo apt-get install python$version-venv"
    exit 1
fi
if ! command -v g++ >/dev/null 2>&1 && ! command -v clang++ >/dev/null 2>&1; then
    say "error: no C++ compiler found; candidates are verified on the CPU with it. Debian or Ubuntu: sudo apt-get install g++"
    exit 1
fi

if ! suits "$venv/bin/python"; then
    "$python" -m venv --clear "$venv"
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
touch "$venv/installed"
