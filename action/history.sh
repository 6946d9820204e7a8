#!/usr/bin/env bash
# Keeps the run on a branch, with those of the runs before, and adds to what is shown how the
# benchmarks did over commits. Nothing here fails a job: the gate is about this race alone.
#
# In: DEADHEAT, FOLDER, BRANCH, RUN_FILE, HEAD, REMOTE (where the branch is, origin).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"
: "${DEADHEAT?}" "${FOLDER?}" "${BRANCH?}" "${RUN_FILE?}" "${HEAD?}" "${REMOTE?}"

# Whoever gives a name gives no option and no refspec.
if [[ $BRANCH == [-+]* ]] || ! git check-ref-format --branch "$BRANCH" >/dev/null 2>&1; then
    say warning "history: '$BRANCH' is no name of a branch; nothing is kept"
    exit 0
fi
[ -s "$RUN_FILE" ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The branch as it is elsewhere, under a name that no branch here has.
ours=deadheat-history-$$
reference=refs/heads/$BRANCH

# newest: the branch as it is elsewhere into $ours; nothing where there is none.
newest() {
    git update-ref -d "refs/heads/$ours"
    git fetch --quiet --no-tags --no-recurse-submodules "$REMOTE" "+$reference:refs/heads/$ours" 2>/dev/null || true
}

# push: true where the branch elsewhere has the run. Others may be faster, so it is tried again.
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
    say notice "history: the run is of no two commits, so it is not kept: $(tail -n 2 "$work/said")"
    exit 0
fi
if git rev-parse --quiet --verify "refs/heads/$ours" >/dev/null; then
    # Others wrote to the branch: what cannot be read is named, and the rest counts.
    "$DEADHEAT" history add --index "$index" --branch "$ours" >>"$work/said" 2>&1 ||
        say warning "history: not every run of $BRANCH can be read: $(tail -n 2 "$work/said")"
fi
push || say notice "history: the run is not kept on $BRANCH: $(tail -n 2 "$work/said"); the job needs 'permissions: contents: write', and pull requests from forks have no such token"
git update-ref -d "refs/heads/$ours"

# From the commit that raced, wherever the checkout stands.
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
    say warning "history: it cannot be shown: $(tail -n 2 "$work/said")"
fi
