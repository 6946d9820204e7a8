#!/usr/bin/env bash
# Races, and turns the run into everything that is shown of it. The exit code
# of deadheat is an output: what becomes of the job is decided at the end.
#
# In: DEADHEAT, FOLDER, COMMAND, ARGS, MARGIN, FAIL_ON, CONFIRM, BUDGET,
# CONFIG, BASE, HEAD. Out: exit-code, counts of verdicts, and paths.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"
: "${COMMAND?}" "${ARGS?}" "${MARGIN?}" "${FAIL_ON?}" "${CONFIRM?}" "${BUDGET?}" "${CONFIG?}"

# In results a commit goes by the name it has here, so by a short one.
base=$BASE
head=$HEAD
BASE=$(git rev-parse --short=10 "$base")
HEAD=$(git rev-parse --short=10 "$head")
export BASE HEAD

# words WHICH TEXT: the words of a line as bash reads it, into the array `found`.
words() {
    local line=$2
    # A line break between two words is no end of a command.
    line=${line//$'\n'/ }
    bash -n -c "found=($line)" 2>/dev/null ||
        fail "$1: bash cannot read this line: $line"
    eval "found=($line)"
}
words command "$COMMAND"
command=("${found[@]}")
words args "$ARGS"
args=("${found[@]}")
case ${command[0]:-} in
    run | bench | rev) ;;
    *) fail "command: '${command[0]:-}' is none of run, bench and rev, which race" ;;
esac

run=$FOLDER/run.jsonl
judging=()
[ -n "$CONFIG" ] && judging+=(--config "$CONFIG")
[ -n "$FAIL_ON" ] && judging+=(--fail-on "$FAIL_ON")
racing=()
[ -n "$MARGIN" ] && racing+=(--margin "$MARGIN")
case $CONFIRM in
    true | false) racing+=("--confirm=$CONFIRM") ;;
    *) fail "confirm: '$CONFIRM' is neither true nor false" ;;
esac
[ -n "$BUDGET" ] && racing+=(--budget "$BUDGET")

# Options stand in front, as behind a `--` of the command they would be its own.
code=0
stop_commands
apart "$DEADHEAT" "${command[0]}" --save "$run" "${racing[@]}" "${judging[@]}" "${args[@]}" \
    "${command[@]:1}" 2>&1 | tee "$FOLDER/log.txt" || code=${PIPESTATUS[0]}
hear_commands
echo "deadheat exited with code $code"

page='' markdown='' junit='' json=''
if [ -s "$run" ]; then
    # These say by their exit codes what the race said already.
    shown=0
    "$DEADHEAT" report "$run" "${judging[@]}" --html "$FOLDER/index.html" \
        --markdown "$FOLDER/report.md" --junit "$FOLDER/junit.xml" >/dev/null || shown=$?
    told=0
    "$DEADHEAT" analyze "$run" "${judging[@]}" --json >"$FOLDER/analysis.json" || told=$?
    case $shown in
        0 | 1 | 3) page=$FOLDER/index.html markdown=$FOLDER/report.md junit=$FOLDER/junit.xml ;;
        *) say warning "the run could not be shown: deadheat report exited with code $shown" ;;
    esac
    case $told in
        0 | 1 | 3) json=$FOLDER/analysis.json ;;
        *)
            rm -f "$FOLDER/analysis.json"
            say warning "the run could not be analysed: deadheat analyze exited with code $told"
            ;;
    esac
else
    run=''
fi

# count FILTER: how many, by the JSON; nothing when there is none.
count() {
    [ -z "$json" ] || jq "$1" "$json"
}
verdicts='[.benchmarks[] | select(.candidate) | .verdict]'
for verdict in faster slower equivalent inconclusive; do
    output "$verdict" "$(count "$verdicts | map(select(. == \"$verdict\")) | length")"
done
output failed "$(count '.failures // [] | length')"
output exit-code "$code"
output page "$page"
output markdown "$markdown"
output json "$json"
output junit "$junit"
output run "$run"

# For whoever shows it elsewhere, such as the second workflow for forks.
jq --null-input --argjson code "$code" --arg base "$base" --arg head "$head" \
    '{exit_code: $code, base: $base, head: $head}' >"$FOLDER/outcome.json"
