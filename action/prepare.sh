#!/usr/bin/env bash
# Checks the inputs, makes a folder for the results, and finds, fetches or builds deadheat.
#
# In: NAME, ARTIFACT, DEADHEAT, VERSION, REPOSITORY, REF, SHARD, SHARDS, COMMENT. Out: folder,
# artifact, parts (the folder for the parts of other jobs, if this job merges), comment, deadheat.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"

for tool in curl git jq; do
    command -v "$tool" >/dev/null ||
        fail "this action needs '$tool' on the runner; GitHub's runners have it, so install it on your runner"
done

# The name becomes part of a file name, of an artifact's name and of an HTML comment.
if ! [[ $NAME =~ ^[A-Za-z0-9][A-Za-z0-9._]*([ -][A-Za-z0-9._]+)*$ ]]; then
    fail "name: '$NAME' must be words of letters, digits, '.' and '_', with one space or '-' between two words"
fi
slug=${NAME// /-}
case ${ARTIFACT?} in
    default) artifact=deadheat-$slug ;;
    *) artifact=$ARTIFACT ;;
esac
folder=${RUNNER_TEMP:?}/deadheat-$slug
comment=${COMMENT?}
parts=
if [ -n "$SHARD$SHARDS" ]; then
    [ -z "$SHARD" ] || [ -z "$SHARDS" ] ||
        fail "shard and shards: a job races one part of a race or merges all of them, so set only one of these inputs"
    [ -n "$artifact" ] ||
        fail "artifact: the parts of a race reach the job that merges them as artifacts, so they need a name"
fi
if [ -n "$SHARD" ]; then
    if ! [[ $SHARD =~ ^([1-9][0-9]{0,4})/([1-9][0-9]{0,4})$ ]] ||
        [ "${BASH_REMATCH[1]}" -gt "${BASH_REMATCH[2]}" ]; then
        fail "shard: '$SHARD' does not name a part of a race; write it as 2/4"
    fi
    # The job that merges the parts comments, and not the jobs of the parts.
    comment=false
    artifact=$artifact-part-${BASH_REMATCH[1]}
    folder=$folder-part-${BASH_REMATCH[1]}
fi
if [ -n "$SHARDS" ]; then
    [[ $SHARDS =~ ^[1-9][0-9]{0,4}$ ]] ||
        fail "shards: '$SHARDS' is not a number of parts; write it as 4"
    parts=$folder-parts
    rm -rf "$parts"
    mkdir -p "$parts"
fi
rm -rf "$folder"
mkdir -p "$folder"
output folder "$folder"
output artifact "$artifact"
output parts "$parts"
output comment "$comment"

# fetched TAG: fetches, checks and unpacks the archive of the release of this tag, and prints the
# path of the program. Returns 1 if the release has no archive, and 2 if the archive cannot be
# trusted.
fetched() {
    local version=${1#v}
    if ! [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ && $REPOSITORY == http*://* ]]; then return 1; fi
    local archive url
    archive=deadheat-$version-$(uname -m)-$(uname -s | tr '[:upper:]' '[:lower:]')
    url=${REPOSITORY%.git}/releases/download/$1/$archive.tar.gz
    local work=$RUNNER_TEMP/deadheat-program stored=$cache/$archive.tar.gz
    rm -rf "$work"
    mkdir -p "$work" "$cache"
    if ! [ -f "$stored" ]; then
        curl --fail --silent --location --retry 2 --max-time 300 --output "$work/$archive.tar.gz" "$url" || return 1
        # Runners may share this folder, so the archive appears as a whole.
        rm -rf "$stored"
        mv "$work/$archive.tar.gz" "$stored.$$"
        mv "$stored.$$" "$stored"
        echo "deadheat $version was fetched from $url" >&2
    fi
    touch "$stored"
    # Every job checks the archive and unpacks it again, because code of a pull request in an earlier
    # job could have replaced the stored copy.
    cp "$stored" "$work/$archive.tar.gz"
    local status=0
    curl --fail --silent --location --retry 2 --max-time 60 --output "$work/$archive.tar.gz.sha256" "$url.sha256" || status=$?
    if [ "$status" -ne 0 ]; then
        # Of curl's exit codes, 22 is an answer such as 404.
        if [ "$status" -eq 22 ]; then
            rm -rf "$stored"
            say error "$url has no checksum file, so the action does not use it" >&2
        else
            say error "the checksum file of $url could not be fetched, so the action does not use the archive" >&2
        fi
        return 2
    fi
    if ! (cd "$work" && sha256sum --check --status "$archive.tar.gz.sha256"); then
        rm -rf "$stored"
        say error "$url, or the copy of it in $cache, does not match its checksum, so the action does not use it" >&2
        return 2
    fi
    tar --extract --gzip --file "$work/$archive.tar.gz" --directory "$work" || return 2
    echo "$work/$archive/bin/deadheat"
}

# A build is stored under its commit or the digest of its sources, so that a cache of this folder
# saves time.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/deadheat-action
# In the checkout, the program could come from a pull request.
case $(realpath --canonicalize-missing "$cache") in
    "$(realpath "${GITHUB_WORKSPACE:-$PWD}")"/*) cache=$RUNNER_TEMP/deadheat-action ;;
esac
if [ -n "$DEADHEAT" ]; then
    program=$(command -v -- "$DEADHEAT") ||
        fail "deadheat: the program '$DEADHEAT' was not found; install it in an earlier step, or leave the input out to build it"
    case $program in
        /*) ;;
        *) program=$PWD/$program ;;
    esac
else
    status=0
    program=$(fetched "${VERSION:-$REF}") || status=$?
    [ "$status" -le 1 ] || exit 1
    if [ "$status" -eq 1 ]; then
        command -v cargo >/dev/null ||
            fail "deadheat is built with cargo, which this runner does not have; install Rust, or name a program with the input deadheat"
        if [ -n "$VERSION" ]; then
            # A branch moves, so its current commit is looked up; a commit ID has no ref.
            commit=$(git ls-remote -- "$REPOSITORY" "refs/heads/$VERSION" "refs/tags/$VERSION" "refs/tags/$VERSION^{}" | tail -n 1 | cut -f 1) ||
                fail "repository: git cannot read $REPOSITORY"
            commit=${commit:-$VERSION}
            root=$cache/$commit
            sources=(--git "$REPOSITORY" --rev "$commit" deadheat-cli)
        else
            source=$(dirname "$here")
            sum=$(cd "$source" && find Cargo.toml Cargo.lock crates -type f -print0 |
                LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-20)
            root=$cache/$sum
            sources=(--path "$source/crates/deadheat-cli")
        fi
        program=$root/bin/deadheat
        if [ ! -x "$program" ]; then
            # In the checkout, rustup would use the project's toolchain, and cargo its configuration.
            (cd "$RUNNER_TEMP" && cargo install --locked --root "$root" "${sources[@]}") ||
                fail "deadheat could not be built (cargo install ${sources[*]}); cargo's messages are above"
        fi
        touch "$root"
    fi
    # A workflow's cache restores the builds of all earlier versions.
    find "$cache" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
fi
"$program" --version || fail "'$program' does not run"
output deadheat "$program"
