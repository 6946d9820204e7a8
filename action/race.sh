#!/usr/bin/env bash
# Races, or merges the parts that other jobs raced, and turns the run into everything
# that is shown of it. Of a part alone nothing is shown. The exit code of deadheat is
# an output: what becomes of the job is decided at the end.
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
words args "$ARGS"
args=("${found[@]}")
judging=()
[ -n "$CONFIG" ] && judging+=(--config "$CONFIG")
[ -n "$FAIL_ON" ] && judging+=(--fail-on "$FAIL_ON")
run=${FOLDER?}/run.jsonl
log=$FOLDER/log.txt

# what_is_there: the parts of other jobs into `parts`; tells of those that are missing or did not
# end well.
what_is_there() {
    local number folder ended
    parts=()
    # Code of a pull request may have written them, and a link could lead to what is none of theirs.
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
        *) fail "command: '${found[0]:-}' is none of run, bench and rev, which race" ;;
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
        # All parts draw from one seed, and those of another run of the workflow from another.
        case " ${args[*]} ${found[*]} " in
            *' --seed '* | *' --seed='*) ;;
            *) whole+=(--seed "$RUN") ;;
        esac
    else
        whole+=("--confirm=$CONFIRM" "${judging[@]}")
    fi
    # Options stand in front, as behind a `--` of the command they would be its own.
    whole+=("${args[@]}" "${found[@]:1}")
fi

code=0
stop_commands
if [ -n "$SHARDS" ]; then
    # Into a file and not a pipe, behind which nothing could set `parts`.
    what_is_there >"$log"
    cat "$log"
    whole=(merge --save "$run" "${judging[@]}" "${args[@]}" "${parts[@]}")
    case "${#parts[@]} ${args[*]} " in
        "$SHARDS "*) ;;
        [1-9]*' --allow-missing '*) ;;
        *)
            echo "${#parts[@]} of $SHARDS parts are there; 'args: --allow-missing' merges those, if there are any" | tee -a "$log"
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
    # These say by their exit codes what the race said already.
    shown=0
    "$DEADHEAT" report "$run" "${judging[@]}" --html "$FOLDER/index.html" \
        --markdown="$FOLDER/report.md" --junit "$FOLDER/junit.xml" >/dev/null || shown=$?
    told=0
    "$DEADHEAT" analyze "$run" "${judging[@]}" --json >"$FOLDER/analysis.json" || told=$?
    # 2 is a gate that could judge no benchmark, if deadheat wrote its files, and else a usage error.
    case $shown in
        0 | 1 | 2 | 3) [ ! -s "$FOLDER/index.html" ] || page=$FOLDER/index.html markdown=$FOLDER/report.md junit=$FOLDER/junit.xml ;;
    esac
    [ -n "$page" ] || say warning "the run could not be shown: deadheat report exited with code $shown"
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
