#!/usr/bin/env bash
# Kills a run at random moments, its supervisor and its worker in turn, and resumes it each time. Afterwards every
# case is finished exactly once, no line that was ever finished has changed, and the record is intact.
# usage: kill_resume.sh PROGRAM KILLS LONGEST_S [RUN_OPTION...]     in an empty folder of its own
# A whole smoke run: kill_resume.sh build/stepcost 50 8 --cpu --tier smoke --workload gpt2-124m
set -euo pipefail
program=$(realpath "$1")
kills=$2
longest_s=$3
shift 3
folder=$(mktemp -d)
cd "$folder"
record=run.jsonl
RANDOM=20261130
supervisors=0 workers=0 torn=0 runs=0 pid=0

fail() {
    echo "kill_resume: $* (see $folder)"
    exit 1
}

start() {
    if [ -e "$record" ]; then
        "$program" run -q --resume "$record" >out.txt 2>err.txt &
    else
        runs=$((runs + 1))
        "$program" run -q --out "$record" "$@" >out.txt 2>err.txt &
    fi
    pid=$!
}

# Every line that stood there when we last looked still stands there, byte for byte.
check_kept() {
    [ -e kept.jsonl ] || return 0
    cmp -s kept.jsonl <(head -c "$(stat -c %s kept.jsonl)" "$record") || fail "a finished line changed"
}

keep_finished_lines() {
    check_kept
    # all whole lines: what follows the last newline is torn
    if [ -n "$(tail -c 1 "$record")" ]; then
        sed '$d' "$record" >kept.jsonl
    else
        cp "$record" kept.jsonl
    fi
}

check_whole() {
    "$program" verify "$record" >verify.txt || fail "$(cat verify.txt)"
    local dones cases
    dones=$(grep -c '"kind":"done"' "$record")
    cases=$(grep '"kind":"done"' "$record" | sed 's/.*"id":"\([^"]*\)".*/\1/' | sort -u | wc -l)
    [ "$dones" -eq "$cases" ] || fail "$dones done lines for $cases cases"
    grep -q "\"cases\":$cases" <(tail -n 1 "$record") || fail "the end line counts otherwise: $(tail -n 1 "$record")"
}

# 0, 1 (cases failed: their worker was killed) or 3 (all of them did).
wait_for_end() {
    local status=0
    wait "$pid" || status=$?
    case $status in
    0 | 1 | 3) ;;
    *) fail "the run ended with $status: $(cat err.txt)" ;;
    esac
}

# The run came to its end by itself: check it and begin another. A worker killed before it had opened its device
# ends the run before there is a record, or before a resumed one has grown.
next_record() {
    wait_for_end
    if [ ! -s "$record" ]; then
        rm -f "$record"
    elif tail -n 1 "$record" | grep -q '"kind":"end"'; then
        keep_finished_lines
        check_whole
        rm -f "$record" kept.jsonl
    else
        check_kept
    fi
    start "$@"
}

start "$@"
while [ $((supervisors + workers)) -lt "$kills" ]; do
    sleep "$(awk -v r=$RANDOM -v most="$longest_s" 'BEGIN {printf "%.3f", most * r / 32768}')"
    if ! kill -0 "$pid" 2>/dev/null; then
        next_record "$@"
    elif [ $((RANDOM % 2)) -eq 0 ]; then
        kill -9 "$pid"
        wait "$pid" 2>/dev/null || true
        supervisors=$((supervisors + 1))
        [ -s "$record" ] || { rm -f "$record"; start "$@"; continue; }
        keep_finished_lines
        if [ $((supervisors % 3)) -eq 0 ]; then # as if the machine died in the middle of a write
            printf '{"kind":"samples","prev":"' >>"$record"
            torn=$((torn + 1))
            start "$@"
            for _ in $(seq 100); do
                ! grep -q 'torn last line of' err.txt || break
                sleep 0.1
            done
            grep -q 'torn last line of' err.txt ||
                fail "the torn line was not mentioned: $(cat err.txt)"
        else
            start "$@"
        fi
    else
        worker=$(awk '{print $1}' "/proc/$pid/task/$pid/children" 2>/dev/null) || worker=
        [ -n "$worker" ] || continue
        kill -9 "$worker" 2>/dev/null || continue
        workers=$((workers + 1))
    fi
done
while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
wait_for_end
if ! tail -n 1 "$record" | grep -q '"kind":"end"'; then # the last worker was killed at its start
    start "$@"
    wait_for_end
fi
keep_finished_lines
check_whole
echo "killed $supervisors supervisors and $workers workers over $runs runs, tore $torn lines: every finished case intact"
rm -rf "$folder"
