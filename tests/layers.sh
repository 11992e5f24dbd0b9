#!/bin/sh
# Each include line shows its layer: no file may include a layer above its own, bench and net do not know
# reports (nor the other way round), and vendor headers stay under kernels/cpu and kernels/cuda. The four
# front doors stay short enough to read at one sitting.
set -u
root=${1:?usage: layers.sh SOURCE_FOLDER}
cd "$root" || exit 2
bad=0

# layer: the layers whose headers it may include
while IFS=: read -r layer allowed; do
    found=$(grep -rnE '^#include "(base|model|kernels|bench|net|reports|cli)/' --include='*.[ch]' "$layer" |
        grep -vE "#include \"($allowed)/")
    if [ -n "$found" ]; then
        printf '%s may include only %s:\n%s\n' "$layer" "$allowed" "$found"
        bad=1
    fi
done <<'TABLE'
base:base
model:base|model
kernels:base|model|kernels
bench:base|model|kernels|bench
net:base|model|kernels|net
reports:base|model|reports
TABLE

found=$(grep -rnE '^#include <(cblas|cuda|cublas|nccl|nvml|mpi|hwloc|omp|oneapi|dnnl|openblas)' --include='*.[ch]' \
    base model kernels/*.[ch] kernels/ref kernels/sim bench net reports cli)
if [ -n "$found" ]; then
    printf 'vendor headers belong under kernels/cpu and kernels/cuda:\n%s\n' "$found"
    bad=1
fi

lines=$(cat kernels/backend.h bench/bench.h net/net.h reports/report.h | wc -l)
if [ "$lines" -ge 500 ]; then
    printf 'the four front-door headers have %s lines; the limit is 500\n' "$lines"
    bad=1
fi
exit $bad
