#!/bin/sh
# Starts a cluster of this one machine with Slurm, races on it as README.md says, kills one task on
# the way, requeues it, and looks at what was merged. Needs `slurm-wlm` and root, and leaves nothing.
#
#     examples/fleet/slurm/try.sh [FOLDER OF deadheat [PACK]]
#
# It packs two scripts and races these. With a pack of yours it races that, and leaves whole.jsonl and
# page.html in the folder it was called in.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "${1:-$here/../../../target/debug}" && pwd)
called=$(pwd)
pack=${2:+$(realpath "$2")}
place=$(mktemp -d)
PATH=$programs:$PATH
export PATH SLURM_CONF="$place/slurm.conf"

over() {
    scontrol shutdown >/dev/null 2>&1 || true
    [ ! -f "$place/slurmd.pid" ] || kill "$(cat "$place/slurmd.pid")" 2>/dev/null || true
    [ ! -f "$place/ctld.pid" ] || kill "$(cat "$place/ctld.pid")" 2>/dev/null || true
    sleep 1
    rm -rf "$place"
}
trap over EXIT

host=$(hostname -s)
cat > "$SLURM_CONF" <<END
ClusterName=track
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/linear
ReturnToService=2
SlurmctldPidFile=$place/ctld.pid
SlurmdPidFile=$place/slurmd.pid
SlurmctldPort=16817
SlurmdPort=16818
SlurmdSpoolDir=$place/spool
StateSaveLocation=$place/state
SlurmctldLogFile=$place/ctld.log
SlurmdLogFile=$place/slurmd.log
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
MinJobAge=300
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=track Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
mkdir -p "$place/state" "$place/spool" "$place/race"
slurmctld
slurmd
for second in $(seq 30); do
    [ "$(sinfo -h -o %T 2>/dev/null)" != idle ] || break
    [ "$second" != 30 ] || { echo "the cluster did not come up" >&2; cat "$place"/*.log >&2; exit 1; }
    sleep 1
done

cd "$place/race"
if [ -n "$pack" ]; then
    cp "$pack" race.tar.zst
else
    printf '#!/bin/sh\nexec sleep 0.01\n' >old
    printf '#!/bin/sh\nexec sleep 0.02\n' >new
    chmod +x old new
    deadheat plan run --max-replicates 80 --save plan.json -- ./old ./new >/dev/null
    deadheat pack plan.json --output race.tar.zst >/dev/null
    # As on a node that never had them.
    rm old new
fi
job=$(sbatch --parsable --array=1-4 "$here/race.sbatch" --plan race.tar.zst --trust)
echo "job $job: four parts"

# A part that has begun is killed, as a node that runs out of memory does it.
until [ -f part-2.jsonl ] && [ "$(wc -l < part-2.jsonl)" -gt 4 ]; do sleep 0.1; done
pkill -KILL -f 'deadheat run .*--save part-2.jsonl'
until scontrol -o show job "${job}_2" | grep -q 'JobState=FAILED'; do sleep 0.2; done
echo "part 2 was killed after $(grep -c '^{"block"' part-2.jsonl) blocks"
scontrol requeue "${job}_2"
# Slurm waits two minutes before it starts what it requeued.
scontrol update "JobId=${job}_2" StartTime=now

sbatch --parsable --dependency="afterany:$job" "$here/merge.sbatch" >/dev/null
for second in $(seq 120); do
    [ ! -s answer.txt ] || [ -n "$(squeue -h -n merge -o %T)" ] || break
    sleep 1
done
cat answer.txt
blocks=$(grep -c '^{"block"' whole.jsonl)
echo "merged: $blocks blocks"
if [ -n "$pack" ]; then
    cp whole.jsonl page.html "$called"
    exit
fi
# The block that was killed in flight is raced again, so nothing is lost: four times twenty.
[ "$blocks" -eq 80 ]
grep -q "is slower" answer.txt
