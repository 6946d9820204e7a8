#!/usr/bin/env bash
# Finds the two commits to race, and fetches them if a shallow clone lacks them.
#
# In: BASE, HEAD (as given), PULL_BASE, PULL_HEAD, QUEUE_BASE, BEFORE (of the
# event). Out: base, head.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"

git rev-parse --git-dir >/dev/null 2>&1 ||
    fail "there is no git repository in $PWD; actions/checkout must come before this action"

# fetch WHAT...: fetches quietly, because a failed attempt is not an error.
fetch() {
    git fetch --quiet --no-tags --no-recurse-submodules "$@" 2>/dev/null
}

# The author of a pull request chooses the branch name. git would read the name --upload-pack=./x as
# an option, and a name with + or : as a refspec that writes branches here.
: "${BASE?}" "${HEAD?}"
for name in "$BASE" "$HEAD"; do
    case $name in
        -* | +* | *:* | *[[:cntrl:][:space:]]*) fail "'$name' is not the name of a commit, a branch or a tag" ;;
    esac
done

# commit NAME: prints the ID of the commit, and fetches the commit if it is missing.
commit() {
    local name=$1 found
    for found in "$name" "origin/$name"; do
        git rev-parse --quiet --verify "$found^{commit}" && return
    done
    # In a full clone, --depth would make it shallow.
    local shallowly=()
    [ "$(git rev-parse --is-shallow-repository)" = true ] && shallowly=(--depth 1)
    if fetch "${shallowly[@]}" origin "$name"; then
        git rev-parse --quiet --verify 'FETCH_HEAD^{commit}' && return
    fi
    return 1
}

# The first push of a branch has no earlier commit.
[[ $BEFORE =~ ^0*$ ]] && BEFORE=
head=${HEAD:-${PULL_HEAD:-$GITHUB_SHA}}
base=${BASE:-${PULL_BASE:-${QUEUE_BASE:-$BEFORE}}}
[ -n "$base" ] ||
    fail "this event has no commit to race against; name one with the input base, such as origin/main"
head_id=$(commit "$head") ||
    fail "head: the commit '$head' exists neither here nor at origin"
base_id=$(commit "$base") ||
    fail "base: the commit '$base' exists neither here nor at origin"

# Later commits of the base are not part of this pull request, so the merge base races.
if [ -z "$BASE" ] && [ -n "$PULL_BASE" ]; then
    depth=64
    until merge_base=$(git merge-base "$base_id" "$head_id"); do
        [ "$(git rev-parse --is-shallow-repository)" = true ] || break
        if [ "$depth" -gt 5000 ]; then
            fetch --unshallow origin "$base_id" "$head_id" || fetch --unshallow origin || true
            merge_base=$(git merge-base "$base_id" "$head_id") || true
            break
        fi
        fetch --depth "$depth" origin "$base_id" "$head_id" || depth=5000
        depth=$((depth * 4))
    done
    if [ -n "$merge_base" ]; then
        base_id=$merge_base
    else
        say warning "the merge base of $base_id and $head_id was not found, so the race uses the base itself; 'fetch-depth: 0' of actions/checkout fetches the whole history"
    fi
fi

if [ "$base_id" = "$head_id" ]; then
    say notice "base and head are the same commit, $head_id, which races against itself"
fi
echo "base $base_id"
echo "head $head_id"
output base "$base_id"
output head "$head_id"
