#!/usr/bin/env bash
# Races, or merges the parts that other jobs raced, and writes the reports of the run. A part alone
# has no report. The exit code of deadheat is an output; the last step of the action decides whether
# the job fails.
#
# In: DEADHEAT, FOLDER, COMMAND, ARGS, MARGIN, FAIL_ON, CONFIRM, BUDGET,
# CONFIG, BASE, HEAD, SHARD (of a part), SHARDS (of a merge), PARTS, ARTIFACT,
# RUN (of the workflow). Out: exit-code, counts of verdicts, and paths.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"
: "${COMMAND?}" "${ARGS?}" "${MARGIN?}" "${FAIL_ON?}" "${CONFIRM?}" "${BUDGET?}" "${CONFIG?}"
: "${SHARD?}" "${SHARDS?}" "${PARTS?}" "${ARTIFACT?}" "${RUN?}"

# Results show a commit under this name, so it is short.
base=$BASE
head=$HEAD
BASE=$(git rev-parse --short=10 "$base")
HEAD=$(git rev-parse --short=10 "$head")
export BASE HEAD

# words WHICH TEXT: splits a line into words as bash does, into the array `found`.
words() {
    local line=$2
    # A line break between two words does not end the command.
    line=${line//$'\n'/ }
    bash -n -c "found=($line)" 2>/dev/null ||
        fail "$1: bash cannot read this line: $line"
    eval "found=($line)"
}
words args "$ARGS"
args=("${found[@]}")
judging=()
[ -n "$CONFIG" ] && judging+=(--config "$CONFIG")
[ -n "$FAIL_ON" ] && judging+=(--fail-on "$FAIL_ON")
run=${FOLDER?}/run.jsonl
log=$FOLDER/log.txt

# what_is_there: lists the parts of other jobs in `parts`, and reports those that are missing or
# failed.
what_is_there() {
    local number folder ended
    parts=()
    # Code of a pull request may have written the parts, and a link could lead to a file of another
    # user.
    find "$PARTS" -type l -delete
    for number in $(seq "$SHARDS"); do
        folder=$PARTS/$ARTIFACT-part-$number
        [ ! -s "$folder/run.jsonl" ] || parts+=("$folder/run.jsonl")
        ended=$(jq -r '.exit_code | numbers' "$folder/outcome.json" 2>/dev/null || true)
        if [ ! -d "$folder" ]; then
            echo "part $number of $SHARDS is missing: there is no artifact $ARTIFACT-part-$number"
        elif [ "$ended" != 0 ]; then
            echo "part $number of $SHARDS ended with exit code ${ended:-unknown}:"
            tail -n 5 "$folder/log.txt" 2>/dev/null || true
        fi
    done
}

if [ -z "$SHARDS" ]; then
    words command "$COMMAND"
    case ${found[0]:-} in
        run | bench | rev) ;;
        *) fail "command: '${found[0]:-}' is not a command that races: write run, bench or rev" ;;
    esac
    whole=("${found[0]}" --save "$run")
    [ -n "$MARGIN" ] && whole+=(--margin "$MARGIN")
    case $CONFIRM in
        true | false) ;;
        *) fail "confirm: '$CONFIRM' is neither true nor false" ;;
    esac
    [ -n "$BUDGET" ] && whole+=(--budget "$BUDGET")
    if [ -n "$SHARD" ]; then
        whole+=(--shard "$SHARD")
        [ -n "$CONFIG" ] && whole+=(--config "$CONFIG")
        # All parts of a workflow run share a seed, and another workflow run has another seed.
        case " ${args[*]} ${found[*]} " in
            *' --seed '* | *' --seed='*) ;;
            *) whole+=(--seed "$RUN") ;;
        esac
    else
        whole+=("--confirm=$CONFIRM" "${judging[@]}")
    fi
    # Options precede the words of the command, because after a `--` they would belong to the
    # program.
    whole+=("${args[@]}" "${found[@]:1}")
fi

code=0
stop_commands
if [ -n "$SHARDS" ]; then
    # Into a file and not a pipe, because a pipe would set `parts` only in a subshell.
    what_is_there >"$log"
    cat "$log"
    whole=(merge --save "$run" "${judging[@]}" "${args[@]}" "${parts[@]}")
    case "${#parts[@]} ${args[*]} " in
        "$SHARDS "*) ;;
        [1-9]*' --allow-missing '*) ;;
        *)
            echo "${#parts[@]} of $SHARDS parts exist; 'args: --allow-missing' merges the parts that exist" | tee -a "$log"
            code=4
            ;;
    esac
fi
[ "$code" != 0 ] ||
    apart "$DEADHEAT" "${whole[@]}" 2>&1 | tee -a "$log" || code=${PIPESTATUS[0]}
hear_commands
echo "deadheat exited with code $code"

page='' markdown='' junit='' json=''
if [ -n "$SHARD" ]; then
    [ -s "$run" ] || run=''
elif [ -s "$run" ]; then
    # The exit codes of these commands repeat that of the race.
    shown=0
    "$DEADHEAT" report "$run" "${judging[@]}" --html "$FOLDER/index.html" \
        --markdown="$FOLDER/report.md" --junit "$FOLDER/junit.xml" >/dev/null || shown=$?
    told=0
    "$DEADHEAT" analyze "$run" "${judging[@]}" --json >"$FOLDER/analysis.json" || told=$?
    # 2 is a gate that could judge no benchmark, if deadheat wrote its files, and else a usage
    # error.
    case $shown in
        0 | 1 | 2 | 3) [ ! -s "$FOLDER/index.html" ] || page=$FOLDER/index.html markdown=$FOLDER/report.md junit=$FOLDER/junit.xml ;;
    esac
    [ -n "$page" ] || say warning "the report could not be written: deadheat report exited with code $shown"
    case $told in
        0 | 1 | 2 | 3) [ ! -s "$FOLDER/analysis.json" ] || json=$FOLDER/analysis.json ;;
    esac
    if [ -z "$json" ]; then
        rm -f "$FOLDER/analysis.json"
        say warning "the run could not be analysed: deadheat analyze exited with code $told"
    fi
else
    run=''
fi

# count FILTER: prints the number that FILTER finds in the JSON; nothing without JSON.
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

# For other workflows that show the result, such as the second workflow for forks.
jq --null-input --argjson code "$code" --arg base "$base" --arg head "$head" \
    '{exit_code: $code, base: $base, head: $head}' >"$FOLDER/outcome.json"
