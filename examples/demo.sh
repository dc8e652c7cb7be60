#!/bin/sh
# The main job on the files of this folder: `make demo` runs it. $1 is where the emitted files go.
set -eu
cudaperf=${CUDAPERF:-cudaperf}
out=$1
here=$(dirname "$0")

show() {
    printf '\n$ cudaperf %s\n' "$*"
    status=0
    "$cudaperf" "$@" || status=$?
}

show doctor
for target in heat.c::step vectors.c::saxpy vectors.c::dot matmul.c::matmul; do
    show optimize "$here/$target" -o "$out"
    [ "$status" -eq 0 ] || exit "$status"
done

# The recursive filter can't move: exit code 3 is the right answer.
show optimize "$here/filter.c::smooth" -o "$out"
[ "$status" -eq 3 ] || { echo "expected a refusal (3), got $status" >&2; exit 1; }

printf '\nWritten to %s:\n' "$out"
ls -1 "$out"
