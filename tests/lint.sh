#!/usr/bin/env bash
# Formatters and linters with an error exit code, then a -Werror build with each compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t sources < <(git ls-files -co --exclude-standard '*.c' '*.h')
mapfile -t scripts < <(git ls-files -co --exclude-standard '*.sh' .ci/run bundle/stepcost bundle/stepcost-run)
units=()
for file in "${sources[@]}"; do
    case $file in *.c) units+=("$file") ;; esac
done

clang-format --dry-run --Werror "${sources[@]}"
shellcheck "${scripts[@]}"
tests/layers.sh .

for compiler in gcc clang; do
    folder=build-lint-$compiler
    cmake -S . -B "$folder" -DCMAKE_C_COMPILER="$compiler" -DSTEPCOST_WERROR=ON -DCMAKE_BUILD_TYPE=Release >/dev/null
    cmake --build "$folder" --parallel "$(nproc)" >"$folder/log" 2>&1 || {
        tail -n 40 "$folder/log"
        echo "the $compiler build with -Werror failed"
        exit 1
    }
done

cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=checkersReport -I . -j "$(nproc)" "${units[@]}"

# The analyser does not know that cmocka's assertions end a test, and takes what stands behind them for null
# dereferences: clang-tidy reads the product only.
log=build-lint-clang/tidy.log
product=()
for file in "${units[@]}"; do
    case $file in tests/*) ;; *) product+=("$file") ;; esac
done
printf '%s\0' "${product[@]}" |
    xargs -0 -P "$(nproc)" -n 8 clang-tidy --quiet -p build-lint-clang --warnings-as-errors='*' >"$log" 2>&1 || {
    grep -E 'error:|warning:' "$log"
    echo "clang-tidy found something; the whole log: $log"
    exit 1
}
echo "lint: clean"
