#!/usr/bin/env bash
# Finds the two commits to race, and fetches what a shallow clone lacks of them.
#
# In: BASE, HEAD (as given), PULL_BASE, PULL_HEAD, QUEUE_BASE, BEFORE (of the
# event). Out: base, head.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"

git rev-parse --git-dir >/dev/null 2>&1 ||
    fail "there is no git repository in $PWD; actions/checkout must come before this action"

# fetch WHAT...: quietly, as it may be tried in vain.
fetch() {
    git fetch --quiet --no-tags --no-recurse-submodules "$@" 2>/dev/null
}

# Whoever opens a pull request names its branch, and --upload-pack=./x is a name that git takes
# for an option, + and : are those of a refspec that writes branches here.
: "${BASE?}" "${HEAD?}"
for name in "$BASE" "$HEAD"; do
    case $name in
        -* | +* | *:* | *[[:cntrl:][:space:]]*) fail "'$name' is no name of a commit, a branch or a tag" ;;
    esac
done

# commit NAME: its id, fetched if it is not there.
commit() {
    local name=$1 found
    for found in "$name" "origin/$name"; do
        git rev-parse --quiet --verify "$found^{commit}" && return
    done
    # Of a whole clone --depth would make a shallow one.
    local shallowly=()
    [ "$(git rev-parse --is-shallow-repository)" = true ] && shallowly=(--depth 1)
    if fetch "${shallowly[@]}" origin "$name"; then
        git rev-parse --quiet --verify 'FETCH_HEAD^{commit}' && return
    fi
    return 1
}

# Nothing was there before the first push of a branch.
[[ $BEFORE =~ ^0*$ ]] && BEFORE=
head=${HEAD:-${PULL_HEAD:-$GITHUB_SHA}}
base=${BASE:-${PULL_BASE:-${QUEUE_BASE:-$BEFORE}}}
[ -n "$base" ] ||
    fail "this event has no commit to race against; give one by the input base, such as origin/main"
head_id=$(commit "$head") ||
    fail "head: there is no commit '$head', neither here nor at origin"
base_id=$(commit "$base") ||
    fail "base: there is no commit '$base', neither here nor at origin"

# What others did on the base meanwhile is none of this pull request's doing.
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
        say warning "the merge base of $base_id and $head_id was not found, so the base itself is raced; fetch-depth: 0 for actions/checkout brings all history"
    fi
fi

if [ "$base_id" = "$head_id" ]; then
    say notice "base and head are the same commit, $head_id: it is raced against itself"
fi
echo "base $base_id"
echo "head $head_id"
output base "$base_id"
output head "$head_id"
