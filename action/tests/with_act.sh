#!/usr/bin/env bash
# Executes examples/workflows/deadheat.yml with act, on this machine and without
# a container: a pull request that changes nothing, then one that is slower, and
# then deadheat-comment.yml, as if that had been a fork. The actions of GitHub for
# checkout, cache, upload and download are small local ones, and its API is api.py.
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
  run-id:
    default: ''
  github-token:
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
        FOLDER: \${{ inputs.path }}
        NAME: \${{ inputs.name }}
      run: $2
YAML
    repository "$work/$1" >/dev/null
}
action checkout 'git rev-parse HEAD'
action cache 'true'
# shellcheck disable=SC2016 # that shell expands it
action upload 'mkdir -p "$KEPT" && cp -r "$FOLDER" "$KEPT/$NAME"'
# shellcheck disable=SC2016 # and this
action download 'mkdir -p "$(dirname "$FOLDER")" && cp -r "$KEPT/$NAME" "$FOLDER"'

# A project whose one benchmark gets slower.
project=$work/project
mkdir -p "$project/.github/workflows"
# shellcheck disable=SC2016 # the action expands it
sed 's|^          margin: 2%$|          margin: 40%\
          deadheat: '"$target"'/deadheat\
          command: rev "$BASE..$HEAD" work --build true --exe bench\
          args: --max-replicates 6 --seed 7 --quiet|' \
    "$root/examples/workflows/deadheat.yml" >"$project/.github/workflows/deadheat.yml"
cp "$root/examples/workflows/deadheat-comment.yml" "$project/.github/workflows/"
program() {
    printf '#!/bin/sh\nexec %s %s "$@" # %s\n' "$target/examples/suite" "$1" "$2" >"$project/bench"
    chmod +x "$project/bench"
}
program '' base
base=$(repository "$project")
git -C "$project" remote add origin https://github.com/me/project

# run EVENT ID CODE: what follows the event in event.json, which is to end so.
run() {
    local code=0
    (cd "$project" && env -u GITHUB_TOKEN act "$1" --eventpath "$work/event.json" \
        --platform ubuntu-latest=-self-hosted --secret GITHUB_TOKEN=of-the-test \
        --env "GITHUB_API_URL=$api" --env "GITHUB_RUN_ID=$2" \
        --local-repository "actions/checkout@v6=$work/checkout" \
        --local-repository "actions/cache@v5=$work/cache" \
        --local-repository "actions/upload-artifact@v6=$work/upload" \
        --local-repository "actions/download-artifact@v7=$work/download" \
        --local-repository "deadheat/deadheat@main=$work/deadheat") || code=$?
    echo "act exited with code $code"
    [ "$code" = "$3" ] || {
        echo "$0: run $2 was to end with $3" >&2
        exit 1
    }
}

# push HEAD ID CODE: a pull request.
push() {
    jq --null-input --arg base "$base" --arg head "$1" \
        '{pull_request: {number: 7, base: {sha: $base, ref: "main"}, head: {sha: $head, ref: "topic"}}}' >"$work/event.json"
    run pull_request "$2" "$3"
}

# holds FILTER: something that must be so, about what the API has seen.
holds() {
    jq --exit-status "$1" "$work/api.json" >/dev/null || {
        echo "$0: this does not hold: $1" >&2
        jq . "$work/api.json" >&2
        exit 1
    }
}

git -C "$project" checkout --quiet -b topic
program '' equal
equal=$(commit "$project" equal)
program --slow slow
slow=$(commit "$project" slow)

python3 "$root/action/tests/api.py" "$work/api.json" "$slow" >"$work/port" &
server=$!
until [ -s "$work/port" ]; do sleep 0.1; done
api=http://127.0.0.1:$(cat "$work/port")

git -C "$project" checkout --quiet "$equal"
push "$equal" 1 0
holds '.comments | length == 1 and (.[0].body | contains("✔ deadheat: race"))'
test -s "$work/kept/deadheat-race/index.html"
rm -r "$work/kept"

git -C "$project" checkout --quiet "$slow"
push "$slow" 2 1
holds '.comments | length == 1 and (.[0].body | contains("✘ deadheat: race") and contains("http://localhost/artifact/deadheat-race"))'
test -s "$work/kept/deadheat-race/index.html"

jq --null-input --arg head "$slow" \
    '{workflow_run: {id: 3, run_attempt: 1, event: "pull_request", head_sha: $head, head_branch: "topic",
      head_repository: {owner: {login: "stranger"}}}}' >"$work/event.json"
run workflow_run 4 0
holds '.comments | length == 1 and (.[0].body | contains("<!-- run 3 1 -->") and contains("✘ deadheat: race"))'
holds '[.requests[] | select(startswith("GET") | not) | split(" ")[0]] == ["POST", "PATCH", "PATCH"]'
echo "the workflows were executed: green and one comment, red and the same comment, and as from a fork"
