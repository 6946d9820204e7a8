# shellcheck shell=bash
# Words for the log of a workflow, in the way that GitHub reads them. Sourced.

# say error|warning|notice TEXT: one line, with what GitHub would take for more escaped.
say() {
    local text=$2
    text=${text//'%'/%25}
    text=${text//$'\r'/%0D}
    text=${text//$'\n'/%0A}
    printf '::%s title=deadheat::%s\n' "$1" "$text"
}

# fail TEXT: an error, and the end of the step.
fail() {
    say error "$1"
    exit 1
}

# output NAME VALUE: for the steps that follow. A value is one line.
output() {
    printf '%s=%s\n' "$1" "${2//$'\n'/ }" >>"$GITHUB_OUTPUT"
}
