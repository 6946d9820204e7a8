# shellcheck shell=bash
# Functions that print workflow commands for GitHub. Sourced by the other scripts.

# A pull request can make a folder look like a bare repository, whose settings name programs.
settings=${GIT_CONFIG_COUNT:-0}
export GIT_CONFIG_COUNT=$((settings + 1))
export "GIT_CONFIG_KEY_$settings=safe.bareRepository" "GIT_CONFIG_VALUE_$settings=explicit"

# say error|warning|notice TEXT: prints one workflow command, with the text escaped.
say() {
    local text=$2
    text=${text//'%'/%25}
    text=${text//$'\r'/%0D}
    text=${text//$'\n'/%0A}
    printf '::%s title=deadheat::%s\n' "$1" "$text"
}

# fail TEXT: prints an error and ends the step.
fail() {
    say error "$1"
    exit 1
}

# output NAME VALUE: sets an output of the step. A value is one line.
output() {
    printf '%s=%s\n' "$1" "${2//$'\n'/ }" >>"$GITHUB_OUTPUT"
}

# stop_commands: makes GitHub ignore workflow commands until hear_commands, because builds and
# benchmarks may print lines that begin with ::.
stop_commands() {
    commands_token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    echo "::stop-commands::$commands_token"
}
hear_commands() {
    # The last line of a program may lack its line break, which would hide this command.
    printf '\n::%s::\n' "$commands_token"
}

# apart PROGRAM WORD...: runs a program without the files that pass settings to later steps, one of
# which has a token. With these files, code of a pull request could set another bash or another exit
# code.
apart() {
    env -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_OUTPUT -u GITHUB_STATE -u GITHUB_STEP_SUMMARY "$@"
}
