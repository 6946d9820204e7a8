#!/bin/sh
# Starts a Ray cluster of two nodes on this machine, races on it as README.md says, kills the worker
# of one part on the way, and looks at what was merged. Makes an environment of its own unless
# RAY_PYTHON names a Python that has Ray.
#
#     examples/fleet/ray/try.sh [FOLDER OF deadheat [PACK]]
#
# With a pack of yours it races that, and leaves whole.jsonl in the folder it was called in.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "${1:-$here/../../../target/debug}" && pwd)
called=$(pwd)
pack=${2:+$(realpath "$2")}
place=$(mktemp -d)
trap 'ray stop --force >/dev/null 2>&1 || true; rm -rf "$place"' EXIT
if [ -z "${RAY_PYTHON:-}" ]; then
    python3 -m venv "$place/python"
    "$place/python/bin/pip" install -q ray
    RAY_PYTHON=$place/python/bin/python
fi
PATH=$programs:$(dirname "$RAY_PYTHON"):$PATH
export PATH RAY_USAGE_STATS_ENABLED=0 RAY_ADDRESS=127.0.0.1:6399

quietly() { "$@" >"$place/log" 2>&1 || { cat "$place/log" >&2; exit 1; }; }
quietly ray start --head --port 6399 --num-cpus 1 --include-dashboard false --temp-dir "$place/ray"
quietly ray start --address "$RAY_ADDRESS" --num-cpus 1

cd "$place"
if [ -n "$pack" ]; then
    set -- --pack "$pack"
else
    set -- --max-replicates 160 -- 'sleep 0.01' 'sleep 0.02'
fi
python "$here/race.py" --parts 4 "$@" >answer.txt 2>err.txt &
racing=$!
# The worker of the second part is killed, as a node that goes away does it.
until worker=$(pgrep -f 'deadheat run .*--shard 2/4'); do
    sleep 0.1
    kill -0 "$racing" 2>/dev/null || { cat err.txt >&2; exit 1; }
done
kill -KILL "$(ps -o ppid= -p "$(echo "$worker" | head -1)" | tr -d ' ')"
echo "the worker of part 2 was killed"
wait "$racing" || { cat answer.txt err.txt >&2; exit 1; }
# Without what Ray tells of the worker.
grep -v raylet answer.txt
blocks=$(grep -c '^{"block"' whole.jsonl)
echo "merged: $blocks blocks"
if [ -n "$pack" ]; then
    cp whole.jsonl "$called"
    exit
fi
[ "$blocks" -eq 160 ]
grep -q "is slower" answer.txt
