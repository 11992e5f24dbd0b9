#!/usr/bin/env bash
# The bundle's main job in clean roots of other releases: as nobody, with the network cut, on a read-only root. Its
# first result must be there within a minute. Needs root and, for roots that are missing, debootstrap and a mirror.
# usage: check.sh ROOT... [-- OPTION...]     ROOT: a folder whose last part names the release: /var/tmp/roots/bullseye
#        (bullseye, bookworm, trixie; bionic, focal, jammy, noble); OPTIONs go to the measuring run (-- --seconds 1s)
#        BUNDLE=TAR takes this one; else it is made (./run.sh bundle)
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")

# Inside: private mounts, no network, processes of its own. All of it ends with this shell, however that ends.
if [ "${1:-}" = --inside ]; then
    root=$2 top=$3
    shift 3
    mount --bind "$root" "$root"
    mount -o remount,bind,ro "$root"
    mount --bind "$top" "$root/opt"
    mount -o remount,bind,ro "$root/opt"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -t tmpfs tmpfs "$root/tmp"
    home=$root/tmp/home
    install -d -o 65534 -g 65534 "$home"
    start_s=$SECONDS first_s=
    # shellcheck disable=SC2016 # for the shell inside
    chroot --userspec=65534:65534 "$root" env -i PATH=/usr/bin:/bin HOME=/tmp/home sh -c '
        ! command -v cc || exit 90
        ! (: >/opt/x) 2>/dev/null && ! (: >/var/tmp/x) 2>/dev/null || exit 91
        [ "$(grep -c : /proc/net/dev)" -eq 1 ] || exit 92
        exec /opt/stepcost-run -q "$@"' sh "$@" >"$home/out" 2>&1 &
    while kill -0 $! 2>/dev/null; do
        if [ -z "$first_s" ] && grep -qs '"kind":"done"' "$home"/stepcost-results/*.jsonl; then
            first_s=$((SECONDS - start_s))
        fi
        sleep 0.2
    done
    status=0
    wait $! || status=$?
    ranked=$(cat "$home"/stepcost-results/*.ranking.csv 2>/dev/null | wc -l)
    printf '%s: %s: status %s, first result after %s s, all after %s s, %s offers ranked\n' "${root##*/}" \
        "$(chroot "$root" getconf GNU_LIBC_VERSION)" "$status" "${first_s:--}" "$((SECONDS - start_s))" "$ranked"
    if [ "$status" -ne 0 ] || [ "${first_s:-99}" -gt 60 ] || [ "$ranked" -lt 150 ]; then
        cat "$home/out"
        exit 1
    fi
    exit 0
fi

roots=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    roots+=("$1")
    shift
done
shift $(($# > 0))
if [ ${#roots[@]} -eq 0 ] || [ "$(id -u)" -ne 0 ]; then
    sed -n '2,/^set /{s/^# \{0,1\}//p}' "$0"
    exit 2
fi
bundle=${BUNDLE:-$("$here/../../run.sh" bundle | sed -n 's/^bundle: *//p')}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
tar -C "$scratch" -xzf "$bundle"

bad=0
for root in "${roots[@]}"; do
    root=$(realpath -m "$root")
    if [ ! -e "$root/bin/sh" ]; then
        case ${root##*/} in
        bullseye | bookworm | trixie) from=(http://deb.debian.org/debian) ;;
        *) from=(http://archive.ubuntu.com/ubuntu gutsy) ;; # gutsy: debootstrap's script for Ubuntus it does not know yet
        esac
        echo "${root##*/}: making $root" >&2
        debootstrap --variant=minbase "${root##*/}" "$root" "${from[@]}" >"$scratch/log" 2>&1 || {
            tail -n 5 "$scratch/log"
            bad=1
            continue
        }
    fi
    unshare --mount --net --pid --fork --kill-child "$0" --inside "$root" "$scratch"/stepcost-* "$@" || bad=1
done
exit $bad
