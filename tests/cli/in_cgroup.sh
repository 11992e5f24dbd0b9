#!/bin/sh
# in_cgroup.sh QUOTA_US PERIOD_US MEMORY_BYTES COMMAND...: runs COMMAND in a cgroup of its own, made for it and removed
# after it. Exit status of COMMAND; 77 and the reason when no cgroup can be made here.
set -u
quota=$1 period=$2 memory=$3
shift 3
made=''

cleanup() {
    for folder in $made; do
        # a killed command may still be on its way out
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            rmdir "$folder" 2>/dev/null && break
            sleep 0.2
        done
    done
}
trap cleanup EXIT
trap 'exit 143' INT TERM HUP

skip() {
    echo "no cgroup can be made here: $1"
    exit 77
}

# controller: the folder of this process in that v1 hierarchy, or nothing
own_v1() {
    path=$(awk -F: -v c="$1" '{ n = split($2, a, ","); for (i = 1; i <= n; i++) if (a[i] == c) print $3 }' /proc/self/cgroup)
    [ -n "$path" ] && [ -d "/sys/fs/cgroup/$1$path" ] && echo "/sys/fs/cgroup/$1${path%/}"
}

child() {
    folder=$1/stepcost-test-$$
    mkdir "$folder" 2>/dev/null || skip "mkdir $folder is refused"
    made="$made $folder"
}

put() {
    echo "$1" 2>/dev/null >"$2" || skip "$2 cannot be written"
}

[ "$(id -u)" = 0 ] || skip 'not root'
if cpu=$(own_v1 cpu) && mem=$(own_v1 memory); then
    child "$cpu"
    cpu=$folder
    put "$period" "$cpu/cpu.cfs_period_us"
    put "$quota" "$cpu/cpu.cfs_quota_us"
    child "$mem"
    mem=$folder
    put "$memory" "$mem/memory.limit_in_bytes"
    groups="$cpu $mem"
elif [ -e /sys/fs/cgroup/cgroup.subtree_control ]; then
    for c in cpu memory; do
        grep -qw "$c" /sys/fs/cgroup/cgroup.subtree_control || skip "the controller $c is not delegated"
    done
    child /sys/fs/cgroup
    put "$quota $period" "$folder/cpu.max"
    put "$memory" "$folder/memory.max"
    groups=$folder
else
    skip 'no hierarchy with cpu and memory'
fi
(
    for g in $groups; do
        sh -c 'echo "$PPID"' >"$g/cgroup.procs" || exit 77
    done
    exec "$@"
)
