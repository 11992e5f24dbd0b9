#!/usr/bin/env bash
# Makes the bundle and uses it as a stranger would: no root, next to no environment, a folder that cannot be written
# and has a space in its name; on the machine's glibc and on the carried one.
# usage: test_bundle.sh BUILD_FOLDER MODULES     MODULES: a folder with the module of host_library.c
set -euo pipefail
build=$1
modules=$2
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
if [ "$(uname -sm)" != "Linux x86_64" ] || ! command -v dpkg-query >/dev/null ||
    ! command -v patchelf >/dev/null; then
    echo "skipped: bundles are made on Debian or Ubuntu for x86_64, with patchelf"
    exit 77
fi
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

fail() {
    echo "bundle: $*"
    exit 1
}

# ---- the tar ----
mkdir "$scratch/first" "$scratch/second"
(sleep 1.1 && umask 077 && TMPDIR=$scratch/second "$source/bundle/make.sh" "$build" "$scratch/second" >/dev/null) &
tar=$("$source/bundle/make.sh" "$build" "$scratch/first")
wait $! || fail "the second making failed"
cmp "$tar" "$scratch/second/${tar##*/}" || fail "the same build gave another tar"
megabytes=$(($(stat -c %s "$tar") / 1000000))
[ "$megabytes" -lt 60 ] || fail "$megabytes MB are too much"
chmod 755 "$scratch"
mkdir "$scratch/a folder" "$scratch/home"
tar -C "$scratch/a folder" -xzf "$tar"
cp -r "$modules" "$scratch/modules"
[ "$(ls "$scratch/a folder")" = "$(basename "$tar" .tar.gz)" ] || fail "more than one folder at the top"
top=$scratch/a\ folder/$(basename "$tar" .tar.gz)
(cd "$top" && sha256sum -c --quiet SHA256SUMS) || fail "the checksums are wrong"
[ "$(wc -l <"$top/SHA256SUMS")" -eq $(($(find "$top" -type f | wc -l) - 1)) ] || fail "a file has no checksum"

# Every file that others made has its package and the licence of that.
while read -r file; do
    package=$(sed -n "s|^$file \([^ ]*\) .*|\1|p" "$top/licenses/FILES")
    [ -s "$top/licenses/$package/copyright" ] || fail "$file has no licence"
done < <(cd "$top" && find lib -name '*.so*' ! -name 'stepcost-*')

# The carried glibc must be enough for everything, and the launcher must know what is.
newest=$(find "$top/lib" -name glibc -prune -o \( -name '*.so*' -o -name stepcost \) -print0 |
    xargs -0 -n 1 objdump -T | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1)
carried=$(objdump -T "$top/lib/glibc/libc.so.6" | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1)
[ "$newest" = "$(printf '%s\n' "$newest" "$carried" | sort -V | head -n 1)" ] || fail "$newest is needed, $carried carried"
[ "$newest" = "GLIBC_$(cat "$top/lib/glibc-needed")" ] || grep -q '^2.36$' "$top/lib/glibc-needed" ||
    fail "the launcher takes $(cat "$top/lib/glibc-needed") for what is needed, and it is $newest"

# ---- its use ----
chmod -R a-w "$scratch/a folder"
drop=()
if [ "$(id -u)" -eq 0 ]; then
    chown 65534:65534 "$scratch/home"
    drop=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
# Which kernels OpenBLAS must take on this machine is the machine's matter.
mapfile -t kept < <(env | grep '^OPENBLAS_' || true)
stranger() { "${drop[@]}" env -i PATH=/usr/bin:/bin HOME="$scratch/home" "${kept[@]}" "$@"; }

# The libraries that the loader mapped by their path or started, in the processes with our module; those of the
# launcher's shell are left out.
libraries_of_the_run() {
    # shellcheck disable=SC2016 # awk's own
    grep -l 'calling init: .*/stepcost-cpu.so' debug.* | xargs -n 1 awk '
        /transferring control: .*sh$/ {n = 0}
        /generating link map/ && sub(/.*file=\//, "/") {sub(/ \[.*/, ""); path[n++] = $0}
        sub(/.*calling init: /, "") {path[n++] = $0}
        END {for (i = 0; i < n; i++) print path[i]}' | sort -u
}

cd "$scratch/home"
ln -s "$top/stepcost" "$scratch/link"
mkdir "$scratch/junk"
for file in "$top"/lib/*.so* "$top"/lib/cpu/*; do
    echo junk >"$scratch/junk/${file##*/}"
done
glibc_names=$(cd "$top/lib/glibc" && printf '%s\\|' *)
glibc_names=${glibc_names%\\|}
for glibc in host bundle; do
    stranger STEPCOST_GLIBC=$glibc "$top/stepcost" list >"$scratch/list" || fail "$glibc: list"
    grep -q '^  cpu  *1 device;' "$scratch/list" || fail "$glibc: no CPU backend: $(cat "$scratch/list")"
    stranger STEPCOST_GLIBC=$glibc "$scratch/link" rank --format csv >"$scratch/rank" || fail "$glibc: rank"
    [ "$(wc -l <"$scratch/rank")" -gt 150 ] || fail "$glibc: few offers ranked"

    rm -f debug.*
    stranger STEPCOST_GLIBC=$glibc LD_LIBRARY_PATH="$scratch/junk" LD_DEBUG=files LD_DEBUG_OUTPUT="$PWD/debug" \
        "$top/stepcost" run -q --cpu --bench gemm --shape 256x256x256 --seconds 1s --out $glibc.jsonl \
        >"$scratch/run" 2>&1 || fail "$glibc: run: $(cat "$scratch/run")"
    grep -q '^gemm.fp32.256x256x256 .*FLOP/s' "$scratch/run" || fail "$glibc: no GEMM: $(cat "$scratch/run")"
    stranger STEPCOST_GLIBC=$glibc "$top/stepcost" verify $glibc.jsonl >/dev/null || fail "$glibc: the record is not whole"
    libraries_of_the_run >"$scratch/libraries"
    for name in cpu/libopenblas.so.0 cpu/libgomp.so.1 libjansson.so.4; do
        grep -qxF "$top/lib/$name" "$scratch/libraries" ||
            fail "$glibc: the bundle's $name was not used: $(cat "$scratch/libraries")"
    done
    foreign=$(grep -vF "$top/" "$scratch/libraries" || true)
    [ $glibc = bundle ] || foreign=$(grep -v "/\($glibc_names\)\$" <<<"$foreign" || true)
    [ -z "$foreign" ] || fail "$glibc: libraries of this machine were loaded: $foreign"

    # What is the machine's own stays so, though the bundle carries a library of that name for another module.
    stranger STEPCOST_GLIBC=$glibc STEPCOST_MODULES="$scratch/modules" "$top/stepcost" list >/dev/null 2>"$scratch/host" || true
    grep -q '^host library: /.*libstdc++' "$scratch/host" || fail "$glibc: no library of the machine loads: $(cat "$scratch/host")"
    ! grep -qF "$top" "$scratch/host" || fail "$glibc: not the machine's own: $(cat "$scratch/host")"
done

# The main job where the current folder cannot be written: the results are in $HOME, and that is said.
cd "$top"
stranger ./stepcost-run -q --cpu --bench fma --seconds 0.2s >"$scratch/job" 2>&1 || fail "main job: $(cat "$scratch/job")"
grep -q "the results go to $scratch/home/stepcost-results" "$scratch/job" || fail "main job: $(cat "$scratch/job")"
[ "$(find "$scratch/home/stepcost-results" -name '*.jsonl' -o -name '*.ranking.csv' | wc -l)" -eq 2 ] ||
    fail "main job: $(ls "$scratch/home/stepcost-results")"
stranger sh -c 'cd / && HOME= TMPDIR=/nowhere '"'$top/stepcost-run'" >"$scratch/job" 2>&1 && fail "results went nowhere"
grep -q 'nowhere to keep the results' "$scratch/job" || fail "nowhere to write: $(cat "$scratch/job")"
echo "bundle: $megabytes MB, needs glibc $(cat "$top/lib/glibc-needed") or its own, works"
