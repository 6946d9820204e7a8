#!/usr/bin/env bash
# Adds the run to the earlier runs on a branch, and adds the levels of the benchmarks over commits
# to the report. A failure here does not fail the job, because the gate is about this race alone.
#
# In: DEADHEAT, FOLDER, BRANCH, RUN_FILE, HEAD, REMOTE (where the branch is, origin).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"
: "${DEADHEAT?}" "${FOLDER?}" "${BRANCH?}" "${RUN_FILE?}" "${HEAD?}" "${REMOTE?}"

# A name must be neither an option nor a refspec.
if [[ $BRANCH == [-+]* ]] || ! git check-ref-format --branch "$BRANCH" >/dev/null 2>&1; then
    say warning "history: '$BRANCH' is not the name of a branch; the action keeps no run"
    exit 0
fi
[ -s "$RUN_FILE" ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The local name of the remote branch; no other local branch has it.
ours=deadheat-history-$$
reference=refs/heads/$BRANCH

# newest: fetches the remote branch into $ours, if it exists.
newest() {
    git update-ref -d "refs/heads/$ours"
    git fetch --quiet --no-tags --no-recurse-submodules "$REMOTE" "+$reference:refs/heads/$ours" 2>/dev/null || true
}

# push: succeeds if the remote branch contains the run. Retries, because another job may push first.
push() {
    local attempt
    for attempt in 1 2 3 4 5; do
        newest
        "$DEADHEAT" history push --branch "$ours" "$RUN_FILE" >"$work/said" 2>&1 || return 1
        git push --quiet "$REMOTE" "refs/heads/$ours:$reference" 2>"$work/said" && return
        sleep "$attempt"
    done
    return 1
}

index=$work/history.sqlite
newest
if ! "$DEADHEAT" history add --index "$index" "$RUN_FILE" >"$work/said" 2>&1; then
    say notice "history: the run does not compare two commits, so the action does not keep it: $(tail -n 2 "$work/said")"
    exit 0
fi
if git rev-parse --quiet --verify "refs/heads/$ours" >/dev/null; then
    # Other jobs write to the branch: unreadable runs are reported, and the rest are used.
    "$DEADHEAT" history add --index "$index" --branch "$ours" >>"$work/said" 2>&1 ||
        say warning "history: not every run of $BRANCH can be read: $(tail -n 2 "$work/said")"
fi
push || say notice "history: the run is not kept on $BRANCH: $(tail -n 2 "$work/said"); the job needs 'permissions: contents: write', and pull requests from forks have no such token"
git update-ref -d "refs/heads/$ours"

# The page ends at the commit that raced, whatever is checked out.
if "$DEADHEAT" history show --index "$index" --tip "$HEAD" --markdown >"$work/history.md" 2>"$work/said"; then
    cp "$work/history.md" "$FOLDER/history.md"
    if "$DEADHEAT" history page --index "$index" --tip "$HEAD" --html "$FOLDER/history.html" >/dev/null 2>&1; then
        output page "$FOLDER/history.html"
    fi
    if [ -s "$FOLDER/report.md" ]; then
        {
            printf '\n<details><summary>Over commits</summary>\n\n'
            cat "$work/history.md"
            printf '\n</details>\n'
        } >>"$FOLDER/report.md"
    fi
else
    say warning "history: deadheat cannot show the levels over commits: $(tail -n 2 "$work/said")"
fi
