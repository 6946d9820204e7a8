#!/usr/bin/env bash
# Prints what is said about a race, as Markdown of at most LIMIT characters.
#
# Call: body.sh LIMIT. In: NAME, FOLDER, LINK (of the page, or empty).
set -euo pipefail
limit=$1
outcome=$FOLDER/outcome.json

# The folder may come from a workflow that strangers' code ran in: only what
# looks as it should is used, and a link could lead to what is none of theirs.
find "$FOLDER" -type l -delete
code=$(jq -r '.exit_code | if type == "number" then . else 5 end' "$outcome" 2>/dev/null || echo 5)
commit() {
    jq -r --arg key "$1" '.[$key] | strings | select(test("^[0-9a-f]{40,64}$")) | .[:10]' "$outcome" 2>/dev/null || true
}
base=$(commit base)
head=$(commit head)
# A command line that deadheat refuses has the same exit code as a gate that could judge nothing.
[ "$code" != 2 ] || [ -s "$FOLDER/report.md" ] || code='2, a usage error'
case $code in
    0) title="✔ deadheat: $NAME" ;;
    1) title="✘ deadheat: $NAME" ;;
    3) title="⚠ deadheat: $NAME, a contender failed" ;;
    2) title="✘ deadheat: $NAME, the gate could judge no benchmark" ;;
    *) title="⚠ deadheat: $NAME, no race (exit code $code)" ;;
esac

if [ -s "$FOLDER/report.md" ]; then
    report=$FOLDER/report.md
else
    # Shown as it was printed: nothing in it is markup.
    report=$(mktemp)
    trap 'rm -f "$report"' EXIT
    {
        echo 'What deadheat said last:'
        echo
        echo '<pre>'
        { tail -n 40 "$FOLDER/log.txt" 2>/dev/null || echo 'nothing'; } |
            jq -Rsr 'gsub("\u001b\\[[0-9;]*[A-Za-z]"; "") | rtrimstr("\n") | @html'
        echo '</pre>'
    } >"$report"
fi

run_page=
if [ -n "${GITHUB_SERVER_URL:-}" ] && [ -n "${GITHUB_REPOSITORY:-}" ] && [ -n "${RUN:-${GITHUB_RUN_ID:-}}" ]; then
    run_page=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/${RUN:-$GITHUB_RUN_ID}
fi

what='Page with all plots'
[ -s "$FOLDER/index.html" ] || what='What deadheat said'

# Characters are counted as UTF-16 does, which is never less than what GitHub counts.
jq --null-input --raw-output --rawfile report "$report" \
    --arg title "$title" --arg base "$base" --arg head "$head" \
    --arg what "$what" --arg page "${LINK:-}" --arg run "$run_page" --argjson limit "$limit" '
def size: reduce explode[] as $c (0; . + if $c > 65535 then 2 else 1 end);
def link($text; $url): if $url == "" then empty else "[\($text)](\($url))" end;

# Ends what a cut leaves open: code between fences, folded details.
def closed:
    . as $lines
    | ([$lines[] | select(startswith("```"))] | length) as $fences
    | ([$lines[] | scan("<details[ >]")] | length) as $opened
    | ([$lines[] | scan("</details>")] | length) as $ended
    | ([$lines[] | select(. == "<pre>")] | length) as $pre
    | ([$lines[] | select(. == "</pre>")] | length) as $unpre
    | $lines
    + (if $fences % 2 == 1 then ["```"] else [] end)
    + (if $pre > $unpre then ["</pre>"] else [] end)
    + [range(0; [$opened - $ended, 0] | max) | "\n</details>"];

def cut($room):
    reduce .[] as $line ({lines: [], left: $room, full: false};
        ($line | size + 1) as $needs
        | if .full or $needs > .left then .full = true
          else .lines += [$line] | .left -= $needs end)
    | .lines;

([link($what; $page), link("workflow run"; $run)]
    + (if $base != "" and $head != "" then ["`\($base)` → `\($head)`"] else [] end)
    | join(" · ")) as $foot
| "### \($title)\n\n" as $top
| (if $foot == "" then "" else "\n\n<sub>\($foot)</sub>\n" end) as $bottom
| ($report | split("\r") | join("") | rtrimstr("\n")) as $all
# What is far too long need not be counted to its end.
| $all[:$limit] as $text
| ($limit - ($top | size) - ($bottom | size)) as $room
| if ($all | length) <= $limit and ($text | size) <= $room then $top + $text + $bottom
  else
    ([link("the page has it all"; $page), link("the workflow run has it all"; $run), "the artifact has it all"] | first) as $where
    | "\n\n**Cut here: this is longer than a comment may be; \($where).**" as $note
    # What is left open takes a few lines to end.
    | $top + ($text | split("\n") | cut($room - ($note | size) - 200) | closed | join("\n")) + $note + $bottom
  end'
