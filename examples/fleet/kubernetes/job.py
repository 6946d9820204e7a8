"""Runs a Job of Kubernetes on this machine, without a cluster: each index as one process.

    python job.py FILE JOB

Of what a Job does, this does what a race needs: the container's command with its variables, `$(NAME)`
in words replaced as the kubelet replaces it, pods that are started again and those that
podFailurePolicy does not start again. One index after the other, in the folder it is called in, as if
that were the volume; `pod-I` there has the process of the last one.
"""

import os
import re
import subprocess
import sys

import yaml


def words_of(container, variables):
    """The command line, with `$(NAME)` replaced where NAME is known."""
    words = container.get("command", []) + container.get("args", [])
    replace = lambda found: variables.get(found[1], found[0])
    return [re.sub(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)", replace, word) for word in words]


def ruling(job, container, code):
    """What the first rule of podFailurePolicy that fits says of an exit code; else Count."""
    for rule in job.get("podFailurePolicy", {}).get("rules", []):
        codes = rule.get("onExitCodes")
        if codes is None or codes.get("containerName", container) != container:
            continue
        if (code in codes["values"]) == (codes["operator"] == "In"):
            return rule["action"]
    return "Count"


def main():
    file, name = sys.argv[1:]
    with open(file) as text:
        found = [one for one in yaml.safe_load_all(text) if one["kind"] == "Job"]
    [job] = [one["spec"] for one in found if one["metadata"]["name"] == name]
    [container] = job["template"]["spec"]["containers"]
    indexed = job.get("completionMode") == "Indexed"
    tries = 1 + job.get("backoffLimitPerIndex" if indexed else "backoffLimit", 6)
    failed = []
    for index in range(job.get("completions", 1)):
        # What a pod has, with what the image says, and nothing of this shell.
        variables = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        variables.update((one["name"], one["value"]) for one in container.get("env", []))
        if indexed:
            variables["JOB_COMPLETION_INDEX"] = str(index)
        words = words_of(container, variables)
        for attempt in range(1, tries + 1):
            pod = subprocess.Popen(words, env=variables)
            with open(f"pod-{index}", "w") as note:
                note.write(f"{pod.pid}\n")
            code = pod.wait()
            code = 128 - code if code < 0 else code
            if code == 0:
                break
            action = ruling(job, container["name"], code)
            print(f"{name}-{index}, try {attempt}: exit code {code}, {action}", flush=True)
            if action == "FailIndex" or attempt == tries:
                failed.append(index)
                break
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
