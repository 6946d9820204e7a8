#!/usr/bin/env bash
# Ends the job as deadheat ended.
#
# In: EXIT_CODE, SHARD, SHARDS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"

case $EXIT_CODE in
    0)
        if [ -n "$SHARD" ]; then
            echo "part $SHARD is raced; the job that merges the parts has the gate"
        else
            echo "the gate is green"
        fi
        ;;
    1) say error "the gate is red: a verdict is one that fail-on names; the comment and the summary show which" ;;
    2) say error "deadheat could not race: the command line makes no sense; its message stands in the step 'Race'" ;;
    3) say error "a contender failed: it crashed, did not build, answered wrong or took too long; deadheat's message stands in the step 'Race'" ;;
    4)
        if [ -n "$SHARDS" ]; then
            say error "the parts make no whole race: one is missing, is not finished or is of another race; which one stands in the step 'Race'"
        else
            say error "deadheat could not race: a file cannot be read or holds nonsense; its message stands in the step 'Race'"
        fi
        ;;
    6) say error "deadheat could not race: no benchmark is selected; those that there are stand in the step 'Race'" ;;
    130 | 143) say error "the race was interrupted (exit code $EXIT_CODE); what was measured before is shown" ;;
    *) say error "deadheat failed with exit code $EXIT_CODE, which is its own fault and says nothing about the code; its message stands in the step 'Race'" ;;
esac
exit "$EXIT_CODE"
