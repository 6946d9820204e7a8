#!/bin/sh
# Builds the Containerfile without a daemon, puts two programs on top as its first lines say, and
# races them in it: two parts, one of which is killed and started again, and their merge. Of the
# programs in FOLDER it packs an archive as `just dist` names it. The base is made of Debian's packages,
# so that no registry of images is asked. Needs buildah, mmdebstrap and root; hadolint, where there is
# one, reads the Containerfile, too.
#
#     examples/fleet/container/try.sh [FOLDER OF deadheat]

set -eu
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "${1:-$here/../../../target/debug}" && pwd)
place=$(mktemp -d)
# What a killed container left mounted keeps its folder.
trap 'images rm --all >/dev/null 2>&1 || true; images rmi --all --force >/dev/null 2>&1 || true; rm -rf "$place"' EXIT
images() {
    buildah --storage-driver vfs --root "$place/images" --runroot "$place/state" "$@"
}
quietly() { "$@" >"$place/log" 2>&1 || { cat "$place/log" >&2; exit 1; }; }

if command -v hadolint >/dev/null; then
    hadolint "$here/Containerfile"
fi

version=$("$programs/deadheat" --version | cut -d ' ' -f 2)
arch=$(uname -m)
name=deadheat-$version-$arch-linux
mkdir -p "$place/context/$name/bin" "$place/race/context" "$place/parts"
cd "$place/context"
cp "$programs/deadheat" "$name/bin/"
ln -s deadheat "$name/bin/cargo-deadheat"
tar --create --gzip --file "$name.tar.gz" "$name"
sha256sum "$name.tar.gz" >"$name.tar.gz.sha256"
rm -r "$name"

# Of the release that the programs were built on, as their C library may be that of the machine.
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
quietly mmdebstrap --mode=root --variant=essential "$release" "$place/base.tar"
base=$(images from scratch)
quietly images add "$base" "$place/base.tar" /
quietly images commit --rm "$base" base
rm "$place/base.tar"
quietly images bud --isolation chroot --tag "deadheat:$version" --file "$here/Containerfile" \
    --build-arg BASE=localhost/base --build-arg "VERSION=$version" --build-arg "ARCH=$arch" .
images inspect --type image --format 'entry point {{.OCIv1.Config.Entrypoint}}, user {{.OCIv1.Config.User}}' "deadheat:$version"
echo

cd "$place/race/context"
printf '#!/bin/sh\nexec sleep 0.01\n' >old
printf '#!/bin/sh\nexec sleep 0.02\n' >new
chmod +x old new
printf 'FROM localhost/deadheat:%s\nCOPY old new /usr/local/bin/\n' "$version" >Containerfile
quietly images bud --isolation chroot --tag race:1 .

# deadheat WORD...: in a container of that image, with its user, and the parts in /parts.
chown 10001:10001 "$place/parts"
container=$(images from localhost/race:1)
deadheat() {
    images run --isolation chroot --volume "$place/parts:/parts" --workingdir /parts "$container" -- deadheat "$@"
}
part() {
    deadheat run --quiet --shard "$1/2" --save "part-$1.jsonl" --max-replicates 40 -- old new
}
part 1 >"$place/answer-1"
part 2 >"$place/answer-2" 2>&1 &
racing=$!
cd "$place/parts"
until [ -f part-2.jsonl ] && [ "$(wc -l <part-2.jsonl)" -gt 4 ]; do
    sleep 0.05
    kill -0 "$racing" 2>/dev/null || { cat "$place/answer-2" >&2; exit 1; }
done
pkill -KILL -u 10001 -f 'deadheat run .*--save part-2.jsonl'
wait "$racing" || echo "part 2 was killed after $(grep -c '^{"block"' part-2.jsonl) blocks"
part 2 >"$place/answer-2"
deadheat merge part-1.jsonl part-2.jsonl --save whole.jsonl | tee answer.txt
echo "merged: $(grep -c '^{"block"' whole.jsonl) blocks, in files of user $(stat -c %u whole.jsonl)"
[ "$(grep -c '^{"block"' whole.jsonl)" -eq 40 ]
[ "$(stat -c %u whole.jsonl)" -eq 10001 ]
grep -q "is slower" answer.txt
