#!/bin/sh
# Holds race.yaml and merge.yaml against the schema of Kubernetes, and runs their commands on this
# machine with the variables that pods have: all indices, one of which is killed, then the merge; and
# once more with a command that fails. There is no cluster in it. Makes an environment of its own
# unless KUBERNETES_PYTHON names a Python that has `kubernetes-validate`.
#
#     examples/fleet/kubernetes/try.sh [FOLDER OF deadheat]

set -eu
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "${1:-$here/../../../target/debug}" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python=${KUBERNETES_PYTHON:-}
if [ -z "$python" ]; then
    python3 -m venv "$place/python"
    "$place/python/bin/pip" install -q kubernetes-validate
    python=$place/python/bin/python
fi
"$python" -m kubernetes_validate --strict --no-warn "$here/race.yaml" "$here/merge.yaml"

# The programs that the image would have.
mkdir -p "$place/bin" "$place/parts" "$place/failing"
printf '#!/bin/sh\nexec sleep 0.01\n' >"$place/bin/old"
printf '#!/bin/sh\nexec sleep 0.02\n' >"$place/bin/new"
chmod +x "$place/bin/old" "$place/bin/new"
PATH=$programs:$place/bin:$PATH
export PATH

cd "$place/parts"
"$python" "$here/job.py" "$here/race.yaml" race >answers.txt 2>pods.txt &
racing=$!
# The third pod is killed when its part has begun, as one that takes too much memory.
until [ -f part-2.jsonl ] && [ "$(wc -l <part-2.jsonl)" -gt 4 ]; do
    sleep 0.05
    kill -0 "$racing" 2>/dev/null || { cat answers.txt pods.txt >&2; exit 1; }
done
kill -KILL "$(cat pod-2)"
echo "pod 2 was killed after $(grep -c '^{"block"' part-2.jsonl) blocks"
wait "$racing" || { cat answers.txt pods.txt >&2; exit 1; }
grep '^race-' answers.txt
"$python" "$here/job.py" "$here/merge.yaml" merge >answer.txt || true
cat answer.txt
blocks=$(grep -c '^{"block"' whole.jsonl)
echo "merged: $blocks blocks"
# Six times twenty replicates: the block that was killed in flight is raced again, so nothing is lost.
[ "$blocks" -eq 120 ]
grep -q "is slower" answer.txt
grep -q "merge-0, try 1: exit code 1, Count" answer.txt

# A command that fails is not tried again.
printf '#!/bin/sh\nexit 9\n' >"$place/bin/new"
cd "$place/failing"
if "$python" "$here/job.py" "$here/race.yaml" race >answers.txt 2>&1; then
    echo "a race whose command fails came to a good end" >&2
    exit 1
fi
grep '^race-0' answers.txt
[ "$(grep -c ', try 1: exit code 3, FailIndex$' answers.txt)" -eq 6 ]
if grep -q 'try 2' answers.txt; then exit 1; fi
