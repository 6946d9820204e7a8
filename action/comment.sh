#!/usr/bin/env bash
# Reports the race in one comment on the pull request, which every run updates. A failure here does
# not fail the job, because the gate is about the code and not about a token.
#
# In: NAME, FOLDER, LINK, TOKEN, AUTHOR, RUN and ATTEMPT (of the workflow that
# raced), and PULL_REQUEST; or, in a workflow that follows another, HEAD_OWNER,
# HEAD_BRANCH and HEAD_SHA. Out: url.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"

LIMIT=65536 # characters of a comment, by GitHub's rules
: "${TOKEN?}" "${AUTHOR?}" "${RUN?}" "${ATTEMPT?}"
marker="<!-- deadheat:$NAME -->"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
answer=$work/answer.json
repository=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY

# call METHOD URL [FILE]: puts the response into $answer and its HTTP code into $status; 000 if none
# arrived.
call() {
    local body=()
    [ $# -gt 2 ] && body=(--header 'Content-Type: application/json' --data-binary "@$3")
    : >"$answer"
    # The token is not an argument, because other users of the machine could read that.
    status=$(curl --silent --max-time 60 --retry 3 --request "$1" --output "$answer" \
        --write-out '%{http_code}' --header 'Accept: application/vnd.github+json' \
        --header 'X-GitHub-Api-Version: 2022-11-28' --user-agent deadheat-action \
        --config <(printf 'header = "Authorization: Bearer %s"\n' "$TOKEN") \
        "${body[@]}" "$2") || status=000
}

# give_up WHAT: reports why the action writes no comment, and exits with 0.
give_up() {
    local why
    why=$(jq -r '.message // empty | strings | .[:300]' "$answer" 2>/dev/null || true)
    case $status in
        403 | 404)
            if [[ $why == *"rate limit"* ]]; then
                say warning "no comment: $1: $why"
            else
                say notice "no comment: $1: the token lacks the permission (HTTP $status: $why). Pull requests from forks get a read-only token; docs/github_action.md shows the workflow that comments on them. For other pull requests, give the job 'permissions: pull-requests: write'. The summary of this run shows the full report"
            fi
            ;;
        000) say warning "no comment: $1: $GITHUB_API_URL does not answer" ;;
        *) say warning "no comment: $1: HTTP $status: $why" ;;
    esac
    exit 0
}

if [ -z "$TOKEN" ]; then
    say notice "no comment: no token was given; set the input github-token"
    exit 0
fi
if [ -z "${PULL_REQUEST:-}" ] && [ -n "${HEAD_SHA:-}" ]; then
    # GitHub names the pull request. The artifact could name any, because code of strangers wrote
    # it.
    query=$(jq -rn --arg head "$HEAD_OWNER:$HEAD_BRANCH" '$head | @uri')
    call GET "$repository/pulls?state=open&per_page=100&head=$query"
    [ "$status" = 200 ] || give_up "looking for the pull request of $HEAD_OWNER:$HEAD_BRANCH"
    PULL_REQUEST=$(jq -r --arg sha "$HEAD_SHA" 'map(select(.head.sha == $sha)) | .[0].number // empty' "$answer")
    if [ -z "$PULL_REQUEST" ]; then
        say notice "no comment: no open pull request has the head $HEAD_SHA now"
        exit 0
    fi
fi
if [ -z "${PULL_REQUEST:-}" ]; then
    say notice "no comment: this event is not a pull request; the summary of this run shows the full report"
    exit 0
fi
if ! [[ $RUN =~ ^[0-9]+$ && $ATTEMPT =~ ^[0-9]+$ ]]; then
    say warning "no comment: '$RUN', attempt '$ATTEMPT', is not a workflow run"
    exit 0
fi

# find_ours: lists the comments with our marker, oldest first, one per line: id, run, attempt.
find_ours() {
    local page=1 count
    : >"$work/ours"
    while :; do
        call GET "$repository/issues/$PULL_REQUEST/comments?per_page=100&page=$page"
        [ "$status" = 200 ] || give_up "reading the comments of #$PULL_REQUEST"
        jq -r --arg marker "$marker" --arg author "$AUTHOR" '
            .[]
            | select((.body // "") | startswith($marker))
            | select($author == "" or .user.login == $author)
            | [.id] + ((.body | capture("^[^\n]*\n<!-- run (?<run>[0-9]+) (?<attempt>[0-9]+) -->") | [.run, .attempt]) // ["0", "0"])
            | map(tostring) | join(" ")' "$answer" >>"$work/ours"
        count=$(jq length "$answer")
        [ "$count" -lt 100 ] && break
        page=$((page + 1))
    done
    sort -n -o "$work/ours" "$work/ours"
}

# told WORDS: prints and outputs the address of the comment from the response.
told() {
    local url
    url=$(jq -r '.html_url // empty | strings' "$answer")
    echo "$1: $url"
    output url "$url"
}

head="$marker
<!-- run $RUN $ATTEMPT -->
"
bash "$here/body.sh" $((LIMIT - ${#head})) >"$work/body.md"
jq --null-input --arg head "$head" --rawfile body "$work/body.md" \
    '{body: ($head + ($body | rtrimstr("\n")))}' >"$work/request.json"

find_ours
if read -r id run attempt <"$work/ours"; then
    # A run that started later may have finished first; its comment is newer.
    if [ "$run" -gt "$RUN" ] || { [ "$run" -eq "$RUN" ] && [ "$attempt" -gt "$ATTEMPT" ]; }; then
        say notice "the comment stays as it is, because a newer run ($run) wrote it"
        exit 0
    fi
    call PATCH "$repository/issues/comments/$id" "$work/request.json"
    case $status in
        200)
            told "updated the comment"
            exit 0
            ;;
        404) ;; # deleted meanwhile, or owned by another account: a new comment is written below
        *) give_up "changing the comment on #$PULL_REQUEST" ;;
    esac
fi

call POST "$repository/issues/$PULL_REQUEST/comments" "$work/request.json"
[ "$status" = 201 ] || give_up "commenting on #$PULL_REQUEST"
mine=$(jq -r .id "$answer")
told "wrote a comment"

# Two simultaneous runs may both have found no comment. The older comment stays.
find_ours
if read -r id run attempt <"$work/ours" && [ "$id" != "$mine" ]; then
    call DELETE "$repository/issues/comments/$mine"
    if [ "$run" -le "$RUN" ]; then
        call PATCH "$repository/issues/comments/$id" "$work/request.json"
        [ "$status" = 200 ] && told "updated the comment that another run wrote first"
    fi
fi
