#!/usr/bin/env bash
# Executes examples/workflows/deadheat.yml with act, on this machine and without
# a container: a pull request that changes nothing, then one that is slower, and
# then deadheat-comment.yml, as if that had been a fork. Then deadheat-fleet.yml, in
# three parts: nothing changed, slower, and with a part that is missing. The actions of
# GitHub for checkout, cache, upload and download are small local ones, and its API is api.py.
#
#     action/tests/with_act.sh [FOLDER OF deadheat AND examples/suite]
#
# Needs act (go install github.com/nektos/act@latest), curl, git, jq, make, python3, and
# cargo where no folder is given.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
command -v act >/dev/null || {
    echo "$0: there is no act; go install github.com/nektos/act@latest" >&2
    exit 1
}
if [ $# -gt 0 ]; then
    target=$(cd "$1" && pwd)
else
    cargo build --quiet --manifest-path "$root/Cargo.toml" -p deadheat-cli --bin deadheat --example suite
    target=${CARGO_TARGET_DIR:-$root/target}/debug
fi

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
  pattern:
    default: ''
  path:
    default: ''
  key:
    default: ''
  if-no-files-found:
    default: ''
  fetch-depth:
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
        PATTERN: \${{ inputs.pattern }}
      run: $2
YAML
    repository "$work/$1" >/dev/null
}
action checkout 'git rev-parse HEAD'
action cache 'true'
# As those of GitHub, whose artifacts forget which files are programs: what is one file is in the
# artifact by its name, and what a pattern finds comes in a folder each.
# shellcheck disable=SC2016 # that shell expands it
action upload 'mkdir -p "$KEPT/$NAME" && if [ -d "$FOLDER" ]; then cp -r "$FOLDER/." "$KEPT/$NAME"; else cp "$FOLDER" "$KEPT/$NAME"; fi && find "$KEPT/$NAME" -type f -exec chmod a-x {} +'
# shellcheck disable=SC2016 # and this
action download 'mkdir -p "${FOLDER:=.}" && if [ -n "$NAME" ]; then cp -r "$KEPT/$NAME/." "$FOLDER"; else for one in $KEPT/$PATTERN; do if [ -d "$one" ]; then cp -r "$one" "$FOLDER"; fi; done; fi'

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
sed 's|part: .*|part: [1, 2, 3]|; s|}}/6|}}/3|; s|shards: 6|shards: 3|; s|margin: 2%|margin: 40%|
    s|command: .*|& work|
    s|args: .*|args: --max-replicates 18 --quiet|
    s|^          shard.*|&\
          deadheat: '"$target"'/deadheat|' \
    "$root/examples/workflows/deadheat-fleet.yml" >"$project/.github/workflows/deadheat-fleet.yml"
program() {
    printf '#!/bin/sh\nexec %s %s "$@" # %s\n' "$target/examples/suite" "$1" "$2" >"$project/bench"
    chmod +x "$project/bench"
}
program '' base
base=$(repository "$project")
git -C "$project" remote add origin https://github.com/me/project

# run EVENT WORKFLOW ID CODE [OPTION...]: what follows the event in event.json, which is to end so.
run() {
    local event=$1 workflow=$2 id=$3 expected=$4 code=0
    shift 4
    (cd "$project" && env -u GITHUB_TOKEN act "$event" "$@" \
        --workflows ".github/workflows/$workflow.yml" --eventpath "$work/event.json" \
        --platform ubuntu-latest=-self-hosted --secret GITHUB_TOKEN=of-the-test \
        --env "GITHUB_API_URL=$api" --env "GITHUB_RUN_ID=$id" \
        --local-repository "actions/checkout@v6=$work/checkout" \
        --local-repository "actions/cache@v5=$work/cache" \
        --local-repository "actions/upload-artifact@v6=$work/upload" \
        --local-repository "actions/download-artifact@v7=$work/download" \
        --local-repository "deadheat/deadheat@main=$work/deadheat") || code=$?
    echo "act exited with code $code"
    [ "$code" = "$expected" ] || {
        echo "$0: run $id was to end with $expected" >&2
        exit 1
    }
}

# push HEAD WORKFLOW ID CODE [OPTION...]: a pull request.
push() {
    local head=$1
    shift
    jq --null-input --arg base "$base" --arg head "$head" \
        '{pull_request: {number: 7, base: {sha: $base, ref: "main"}, head: {sha: $head, ref: "topic"}}}' >"$work/event.json"
    run pull_request "$@"
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
push "$equal" deadheat 1 0
holds '.comments | length == 1 and (.[0].body | contains("✔ deadheat: race"))'
test -s "$work/kept/deadheat-race/index.html"
rm -r "$work/kept"

git -C "$project" checkout --quiet "$slow"
push "$slow" deadheat 2 1
holds '.comments | length == 1 and (.[0].body | contains("✘ deadheat: race") and contains("http://localhost/artifact/deadheat-race"))'
test -s "$work/kept/deadheat-race/index.html"

jq --null-input --arg head "$slow" \
    '{workflow_run: {id: 3, run_attempt: 1, event: "pull_request", head_sha: $head, head_branch: "topic",
      head_repository: {owner: {login: "stranger"}}}}' >"$work/event.json"
run workflow_run deadheat-comment 4 0
holds '.comments | length == 1 and (.[0].body | contains("<!-- run 3 1 -->") and contains("✘ deadheat: race"))'
holds '[.requests[] | select(startswith("GET") | not) | split(" ")[0]] == ["POST", "PATCH", "PATCH"]'
rm -r "$work/kept"

# Three parts on three runners, one answer and still one comment.
git -C "$project" checkout --quiet "$equal"
push "$equal" deadheat-fleet 5 0
holds '.comments | length == 1 and (.[0].body | contains("<!-- run 5 1 -->") and contains("✔ deadheat: race"))'
for part in 1 2 3; do
    test -s "$work/kept/deadheat-race-part-$part/run.jsonl"
    test ! -e "$work/kept/deadheat-race-part-$part/index.html"
done
test -s "$work/kept/deadheat-race/index.html"
rm -r "$work/kept"

git -C "$project" checkout --quiet "$slow"
push "$slow" deadheat-fleet 6 1
holds '.comments | length == 1 and (.[0].body | contains("<!-- run 6 1 -->") and contains("✘ deadheat: race"))'
# Three times six replicates, and all of them in the run that was uploaded.
[ "$(grep -c '^{"block"' "$work/kept/deadheat-race/run.jsonl")" -ge 18 ]
rm -r "$work/kept"

# The third runner was lost: the answer says so, and goes on where that is allowed.
push "$slow" deadheat-fleet 7 1 --matrix part:1 --matrix part:2
holds '.comments | length == 1 and (.[0].body | contains("exit code 4") and contains("part 3 of 3 is missing"))'
[ "$(jq .exit_code "$work/kept/deadheat-race/outcome.json")" = 4 ]
rm -r "$work/kept"
sed -i 's|shards: 3|&\
          args: --allow-missing|' "$project/.github/workflows/deadheat-fleet.yml"
push "$slow" deadheat-fleet 8 1 --matrix part:1 --matrix part:2
holds '.comments | length == 1 and (.[0].body | contains("✘ deadheat: race"))'
[ "$(jq .exit_code "$work/kept/deadheat-race/outcome.json")" = 1 ]
holds '[.requests[] | select(startswith("GET") | not) | split(" ")[0]] | .[0] == "POST" and .[1:] == ["PATCH", "PATCH", "PATCH", "PATCH", "PATCH", "PATCH"]'
echo "the workflows were executed: green and one comment, red and the same comment, and as from a fork"
echo "and three parts on three runners: green, red, one missing, and gone on without it"
