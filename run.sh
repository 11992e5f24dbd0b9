#!/usr/bin/env bash
# ./run.sh [--OPTION ...]     install what is missing, build, measure this machine, rank it among offers; options
#                             go to the measuring run (--cpu: measure the CPU of a GPU node all the same)
# ./run.sh test [PRESET]      build and run the whole test suite (PRESET: release, asan, tsan)
# ./run.sh lint               formatters, linters, and a -Werror build with gcc and with clang
# ./run.sh bundle [FOLDER]    one tar that does the main job on a machine where nothing may be installed (default
#                             build/bundle)
# ./run.sh SUBCOMMAND ...     build if needed, then: stepcost SUBCOMMAND ...
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD

# One row a package: who needs it, a command or header that shows it is there, its name (Debian 12, Ubuntu
# 22.04 and 24.04 agree on all of them), and what is lost without it.
packages() {
    cat <<'TABLE'
build  cc                      gcc                     the build
build  stdio.h                 libc6-dev               the build
build  cmake                   cmake                   the build
build  ninja                   ninja-build             quick rebuilds
build  make                    make                    the build, unless ninja is there
build  jansson.h               libjansson-dev          the build
build  sodium.h                libsodium-dev           the build
build  cblas.h                 libopenblas-openmp-dev  GEMM on the CPU
build  oneapi/dnnl/dnnl.h      libdnnl-dev             int8 GEMM on the CPU
build  hwloc.h                 libhwloc-dev            pinning by topology
bundle objdump                 binutils                the bundle
bundle patchelf                patchelf                the bundle
test   cmocka.h                libcmocka-dev           the tests
lint   clang                   clang                   the second compiler
lint   omp.h                   libomp-dev              OpenMP under clang
lint   clang-format            clang-format            format check
lint   clang-tidy              clang-tidy              lint
lint   cppcheck                cppcheck                lint
lint   shellcheck              shellcheck              lint of scripts
TABLE
}

say() { printf '%s\n' "$*" >&2; }

# A command on the PATH, or a header that some compiler folder has.
present() {
    case $1 in
    cblas.h) compgen -G '/usr/lib/*/openblas-openmp/libopenblas.so' >/dev/null ;;
    omp.h) compgen -G '/usr/lib/llvm-*/lib/clang/*/include/omp.h' >/dev/null ;;
    *.h) compgen -G "/usr/include/$1" >/dev/null || compgen -G "/usr/include/*-linux-gnu/$1" >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# need GROUP...: installs what these groups lack. Without root it lists what is lost and how to get it, and stops
# only when the build itself is lost.
need() {
    local missing=() lost=() as_root=() group probe package loss
    while read -r group probe package loss; do
        [[ " $* " == *" $group "* ]] || continue
        present "$probe" && continue
        missing+=("$package")
        lost+=("  $package: $loss")
    done < <(packages)
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
    if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
        say "installing: ${missing[*]}"
        "${as_root[@]}" apt-get update -qq || true
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            "${missing[@]}" >/dev/null && return 0
    fi
    say "missing here, and not installed (no root, or no package of that name); without them is lost:"
    printf '%s\n' "${lost[@]}" >&2
    say "to get them: sudo apt-get install ${missing[*]}"
    for loss in "${lost[@]}"; do
        case $loss in *": the build") exit 3 ;; esac
    done
}

# What of the table is here: a build that was configured with less is configured again.
packages_here() {
    local group probe package loss
    while read -r group probe package loss; do
        present "$probe" && echo "$package"
    done < <(packages)
    return 0
}

# build PRESET: configures when something that it could use has come or gone; afterwards the build tool itself
# notices what changed.
build() {
    local preset=$1 folder here_now generator=()
    folder=$here/build
    [ "$preset" = release ] || folder=$here/build-$preset
    here_now=$(packages_here)
    mkdir -p "$folder"
    if [ ! -f "$folder/CMakeCache.txt" ]; then
        ! present ninja || generator=(-G Ninja)
    fi
    if [ ! -f "$folder/CMakeCache.txt" ] || [ "$here_now" != "$(cat "$folder/packages" 2>/dev/null)" ]; then
        say "configuring and building in $folder (about a minute the first time)"
        cmake --preset "$preset" "${generator[@]}" >"$folder/log" 2>&1 || {
            tail -n 30 "$folder/log" >&2
            say "configuring failed; the whole log: $folder/log"
            exit 3
        }
        grep -- '-- without: ' "$folder/log" | sed 's/^-- //' >&2 || true
        printf '%s\n' "$here_now" >"$folder/packages"
    fi
    cmake --build "$folder" --parallel "$(nproc)" >"$folder/log" 2>&1 || {
        tail -n 40 "$folder/log" >&2
        say "the build failed; the whole log: $folder/log"
        exit 3
    }
}

bundle() {
    local folder tar name
    folder=$(cd "$caller" && realpath -m "${1:-$here/build/bundle}")
    tar=$(bundle/make.sh build "$folder")
    name=$(basename "$tar" .tar.gz)
    echo "bundle:   $tar"
    echo "size:     $(($(stat -c %s "$tar") / 1000000)) MB"
    echo "sha256:   $(sha256sum "$tar" | cut -d ' ' -f 1)"
    echo "to use:   scp $tar NODE: && ssh -t NODE 'tar xzf $name.tar.gz && $name/stepcost-run'"
}

case ${1:-} in
--help | -h)
    sed -n '2,/^set /{s/^# \{0,1\}//p}' run.sh
    ;;
"" | --*)
    need build
    build release
    STEPCOST_PROGRAM=build/stepcost exec bundle/stepcost-run "$@"
    ;;
test)
    need build test bundle
    build "${2:-release}"
    ctest --preset "${2:-release}" --no-tests=error
    ;;
bundle)
    need build bundle
    build release
    bundle "${2:-}"
    ;;
lint)
    need build test lint
    exec tests/lint.sh
    ;;
*)
    need build
    build release
    cd "$caller" # so that files are found where the user is
    exec "$here/build/stepcost" "$@"
    ;;
esac
