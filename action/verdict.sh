#!/usr/bin/env bash
# Exits with the exit code of deadheat.
#
# In: EXIT_CODE, PAGE (empty if there is none), SHARD, SHARDS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"

case $EXIT_CODE in
    0)
        if [ -n "$SHARD" ]; then
            echo "part $SHARD is raced; the job that merges the parts applies the gate"
        else
            echo "the gate is green"
        fi
        ;;
    1) say error "the gate is red: a verdict breaks a rule of fail-on or deadheat.toml; the comment and the summary show which" ;;
    2)
        if [ -n "$PAGE" ]; then
            say error "the gate is red: fail-on could judge no benchmark, because none has a verdict; the step 'Race' shows why, and 'args: --allow-unjudged' accepts that"
        else
            say error "deadheat could not race: the command line is wrong; the step 'Race' shows the message"
        fi
        ;;
    3) say error "a contender failed: it crashed, did not build, had wrong output or took too long; the step 'Race' shows the message" ;;
    4)
        if [ -n "$SHARDS" ]; then
            say error "the parts do not form a whole race: a part is missing, unfinished or from another race; the step 'Race' names it"
        else
            say error "deadheat could not race: a file cannot be read or has invalid content; the step 'Race' shows the message"
        fi
        ;;
    6) say error "deadheat could not race: no benchmark is selected; the step 'Race' lists the benchmarks" ;;
    130 | 143) say error "the race was interrupted (exit code $EXIT_CODE); the report shows the measurements until then" ;;
    *) say error "deadheat itself failed with exit code $EXIT_CODE, so this says nothing about the code; the step 'Race' shows the message" ;;
esac
exit "$EXIT_CODE"
