#!/bin/sh
# Installs the commands deadheat and cargo-deadheat from the archive of a release, after a check of
# its SHA-256 sum:
#   curl -fsSL https://github.com/deadheat/deadheat/releases/latest/download/install.sh | sh
# Options: --to DIR (default: ~/.local/bin) and --version V. Behind a pipe: sh -s -- --to DIR
# DEADHEAT_RELEASES is the address of the releases, or of a copy of them.
set -eu
HOME=${HOME-}

# The release that this script belongs to.
version=0.1.0
releases=${DEADHEAT_RELEASES:-https://github.com/deadheat/deadheat/releases/download}

# fail WHAT [ADVICE]
fail() {
    echo "error: $1" >&2
    [ $# -lt 2 ] || echo "help: $2" >&2
    exit 1
}

# fetch ADDRESS FILE
fetch() {
    if command -v curl >/dev/null; then
        # A redirection may not lead away from https.
        curl --proto "=${releases%%:*}" --fail --silent --show-error --location --retry 2 --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1"
    else
        fail "neither curl nor wget is installed" "install one of them, or download $1 by other means"
    fi || fail "download of $1 failed" "see ${releases%/download} for the releases and their archives"
}

# A function, so that a download that ends early runs nothing.
main() {
    to=
    while [ $# -gt 0 ]; do
        case $1 in
            --to=* | --version=*)
                option=${1%%=*}
                value=${1#*=}
                ;;
            --to | --version)
                option=$1
                [ $# -gt 1 ] || fail "$1 needs a value" "write $1 VALUE"
                shift
                value=$1
                ;;
            *) fail "unknown option '$1'" "the options are --to DIR and --version V" ;;
        esac
        shift
        [ -n "$value" ] || fail "$option needs a value" "write $option VALUE"
        case $option in
            --to) to=$value ;;
            --version) version=${value#v} ;;
        esac
    done
    [ -n "$to$HOME" ] || fail "HOME is not set" "name a folder with --to DIR"
    to=${to:-$HOME/.local/bin}
    if command -v sha256sum >/dev/null; then
        digest=sha256sum
    elif command -v shasum >/dev/null; then
        digest='shasum -a 256'
    else
        fail "neither sha256sum nor shasum is installed" "install one of them, because the archive must be checked"
    fi

    system=$(uname -s)
    machine=$(uname -m)
    case $machine in
        amd64) machine=x86_64 ;;
        arm64) machine=aarch64 ;;
    esac
    case $system-$machine in
        Linux-x86_64 | Linux-aarch64) ;;
        *) fail "there is no archive for $system on $machine" "the archives are for Linux on x86_64 and aarch64" ;;
    esac

    name=deadheat-$version-$machine-linux
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    fetch "$releases/v$version/$name.tar.gz" "$work/archive"
    fetch "$releases/v$version/$name.tar.gz.sha256" "$work/sum"
    expected=$(cut -d ' ' -f 1 <"$work/sum")
    found=$($digest <"$work/archive" | cut -d ' ' -f 1)
    [ "$found" = "$expected" ] ||
        fail "the checksum of $name.tar.gz is $found, but the release says $expected" \
            "run this script again; if the error remains, report it, and do not use the archive"

    (cd "$work" && gzip -dc archive | tar -xf -) || fail "$name.tar.gz could not be unpacked"
    mkdir -p "$to" || fail "the folder $to could not be made" "name another folder with --to DIR"
    # By renaming, which also replaces a program that runs.
    new=$to/.deadheat.$$
    trap 'rm -rf "$work" "$new"' EXIT
    cp "$work/$name/bin/deadheat" "$new" || fail "$to could not be written" "name another folder with --to DIR"
    "$new" -V >/dev/null || fail "the program of $name.tar.gz does not run on this machine" \
        "if $to is on a file system without execution, name another folder with --to DIR"
    { mv -f "$new" "$to/deadheat" && ln -sf deadheat "$to/cargo-deadheat"; } ||
        fail "the commands in $to could not be replaced" "name another folder with --to DIR"
    echo "deadheat $version is installed in $to"
    case :$PATH: in
        *":$to:"*) ;;
        *) echo "help: add $to to PATH" ;;
    esac
}

main "$@"
