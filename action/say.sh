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

# stop_commands: until hear_commands, what is printed is no command to GitHub. Builds and
# benchmarks print what they like, and a line that begins with :: would be obeyed.
stop_commands() {
    commands_token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    echo "::stop-commands::$commands_token"
}
hear_commands() {
    # A last line without an end would hide this one.
    printf '\n::%s::\n' "$commands_token"
}

# apart PROGRAM WORD...: without the files by which a step speaks to the steps after it, of which
# one has a token. Code of a pull request could name its own bash there, or another exit code.
apart() {
    env -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_OUTPUT -u GITHUB_STATE -u GITHUB_STEP_SUMMARY "$@"
}
