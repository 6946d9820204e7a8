#!/usr/bin/env bash
# Executes examples/workflows/deadheat.yml with act, on this machine and without
# a container: a pull request that changes nothing, then one that is slower. The
# actions of GitHub for checkout, cache and upload are small local ones, and its
# API is api.py.
#
# Needs act (go install github.com/nektos/act@latest), cargo, curl, git, jq, python3.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
command -v act >/dev/null || {
    echo "$0: there is no act; go install github.com/nektos/act@latest" >&2
    exit 1
}
cargo build --quiet --manifest-path "$root/Cargo.toml" -p deadheat-cli --bin deadheat --example suite
target=${CARGO_TARGET_DIR:-$root/target}/debug

# repository FOLDER: all that is in it as one commit.
repository() {
    git -C "$1" init --quiet --initial-branch main
    commit "$1" all
}
commit() {
    git -C "$1" add --all
    git -C "$1" -c user.name=n -c user.email=e@x commit --quiet --message "$2"
    git -C "$1" rev-parse HEAD
}

# The action as it is here, with what is in no commit yet.
mkdir -p "$work/deadheat"
cp -r "$root/action.yml" "$root/action" "$work/deadheat/"
repository "$work/deadheat" >/dev/null

# action NAME SCRIPT: an action of GitHub as one line of shell.
action() {
    mkdir -p "$work/$1"
    cat >"$work/$1/action.yml" <<YAML
name: $1
description: In place of the action of GitHub
inputs:
  name:
    default: ''
  path:
    default: ''
  key:
    default: ''
  if-no-files-found:
    default: ''
  overwrite:
    default: ''
outputs:
  artifact-url:
    value: http://localhost/artifact/\${{ inputs.name }}
runs:
  using: composite
  steps:
    - shell: bash
      env:
        KEPT: $work/kept
        FROM: \${{ inputs.path }}
        NAME: \${{ inputs.name }}
      run: $2
YAML
    repository "$work/$1" >/dev/null
}
action checkout 'git rev-parse HEAD'
action cache 'true'
# shellcheck disable=SC2016 # that shell expands it
action upload 'mkdir -p "$KEPT" && cp -r "$FROM" "$KEPT/$NAME"'

# A project whose one benchmark gets slower.
project=$work/project
mkdir -p "$project/.github/workflows"
# shellcheck disable=SC2016 # the action expands it
sed 's|^          margin: 2%$|          margin: 40%\
          deadheat: '"$target"'/deadheat\
          command: rev "$BASE..$HEAD" work --build true --exe bench\
          args: --max-replicates 6 --seed 7 --quiet|' \
    "$root/examples/workflows/deadheat.yml" >"$project/.github/workflows/deadheat.yml"
program() {
    printf '#!/bin/sh\nexec %s %s "$@" # %s\n' "$target/examples/suite" "$1" "$2" >"$project/bench"
    chmod +x "$project/bench"
}
program '' base
base=$(repository "$project")
git -C "$project" remote add origin https://github.com/me/project

python3 "$root/action/tests/api.py" "$work/api.json" >"$work/port" &
server=$!
until [ -s "$work/port" ]; do sleep 0.1; done
api=http://127.0.0.1:$(cat "$work/port")

# push RUN CODE: a pull request with what is committed, whose check is to end so.
push() {
    local head=$2 code=0
    jq --null-input --arg base "$base" --arg head "$head" \
        '{pull_request: {number: 7, base: {sha: $base, ref: "main"}, head: {sha: $head, ref: "topic"}}}' >"$work/event.json"
    (cd "$project" && env -u GITHUB_TOKEN act pull_request --eventpath "$work/event.json" \
        --platform ubuntu-latest=-self-hosted --secret GITHUB_TOKEN=of-the-test \
        --env "GITHUB_API_URL=$api" --env "GITHUB_RUN_ID=$1" \
        --local-repository "actions/checkout@v6=$work/checkout" \
        --local-repository "actions/cache@v5=$work/cache" \
        --local-repository "actions/upload-artifact@v6=$work/upload" \
        --local-repository "deadheat/deadheat@main=$work/deadheat") || code=$?
    echo "act exited with code $code"
    [ "$code" = "$3" ] || {
        echo "$0: run $1 was to end with $3" >&2
        exit 1
    }
}

# holds FILTER: something that must be so, about what the API has seen.
holds() {
    jq --exit-status "$1" "$work/api.json" >/dev/null || {
        echo "$0: this does not hold: $1" >&2
        jq . "$work/api.json" >&2
        exit 1
    }
}

program '' equal
push 1 "$(commit "$project" equal)" 0
holds '.comments | length == 1 and (.[0].body | contains("✔ deadheat: race"))'
test -s "$work/kept/deadheat-race/index.html"
rm -r "$work/kept"

program --slow slow
push 2 "$(commit "$project" slow)" 1
holds '.comments | length == 1 and (.[0].body | contains("✘ deadheat: race") and contains("http://localhost/artifact/deadheat-race"))'
holds '[.requests[] | select(startswith("POST") or startswith("PATCH")) | split(" ")[0]] == ["POST", "PATCH"]'
test -s "$work/kept/deadheat-race/index.html"
echo "the workflow was executed: green and one comment, then red and the same comment"
