#!/usr/bin/env bash
# Prints the report of a race, as Markdown of at most LIMIT characters.
#
# Call: body.sh LIMIT. In: NAME, FOLDER, LINK (of the page, or empty).
set -euo pipefail
limit=$1
outcome=$FOLDER/outcome.json

# The folder may come from a workflow that ran code of strangers. So only files of the expected form
# are read, and links are deleted, because a link could lead to a file of another user.
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
    # The log is shown verbatim, without markup.
    report=$(mktemp)
    trap 'rm -f "$report"' EXIT
    {
        echo 'The last output of deadheat:'
        echo
        echo '<pre>'
        { tail -n 40 "$FOLDER/log.txt" 2>/dev/null | tail -c 60000 || echo 'nothing'; } |
            jq -Rsr 'gsub("\u001b\\[[0-9;]*[A-Za-z]"; "") | rtrimstr("\n") | @html'
        echo '</pre>'
    } >"$report"
fi

run_page=
if [ -n "${GITHUB_SERVER_URL:-}" ] && [ -n "${GITHUB_REPOSITORY:-}" ] && [ -n "${RUN:-${GITHUB_RUN_ID:-}}" ]; then
    run_page=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/${RUN:-$GITHUB_RUN_ID}
fi

what='Page with all plots'
[ -s "$FOLDER/index.html" ] || what='Output of deadheat'

# Characters are counted in UTF-16 units, which are never fewer than the characters that GitHub
# counts.
jq --null-input --raw-output --rawfile report "$report" \
    --arg title "$title" --arg base "$base" --arg head "$head" \
    --arg what "$what" --arg page "${LINK:-}" --arg run "$run_page" --argjson limit "$limit" '
def size: reduce explode[] as $c (0; . + if $c > 65535 then 2 else 1 end);
def link($text; $url): if $url == "" then empty else "[\($text)](\($url))" end;

# Closes the code fences and folded details that a cut leaves open.
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

# The lines that fit with the ends of the details that they open.
def cut($room):
    reduce .[] as $line ({lines: [], used: 0, open: 0, full: false};
        (.used + ($line | size + 1)) as $used
        | (.open + ([$line | scan("<details[ >]")] | length)
            - ([$line | scan("</details>")] | length)) as $open
        | if .full or $used + 13 * ([$open, 0] | max) > $room then .full = true
          else {lines: (.lines + [$line]), used: $used, open: $open, full: false} end)
    | .lines;

([link($what; $page), link("workflow run"; $run)]
    + (if $base != "" and $head != "" then ["`\($base)` → `\($head)`"] else [] end)
    | join(" · ")) as $foot
| "### \($title)\n\n" as $top
| (if $foot == "" then "" else "\n\n<sub>\($foot)</sub>\n" end) as $bottom
| ($report | split("\r") | join("") | rtrimstr("\n")) as $all
# A text far beyond the limit is not counted to its end.
| $all[:$limit] as $text
| ($limit - ($top | size) - ($bottom | size)) as $room
| if ($all | length) <= $limit and ($text | size) <= $room then $top + $text + $bottom
  else
    ([link("the page shows everything"; $page), link("the workflow run shows everything"; $run), "the artifact contains everything"] | first) as $where
    | "\n\n**Cut here, because this exceeds the size limit; \($where).**" as $note
    # For the ends of a code block and of verbatim text.
    | $top + ($text | split("\n") | cut($room - ($note | size) - 200) | closed | join("\n")) + $note + $bottom
  end'
