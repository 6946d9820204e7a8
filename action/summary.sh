#!/usr/bin/env bash
# Writes the summary of the step, which GitHub shows on the page of the run.
#
# In: NAME, FOLDER, LINK.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# GitHub takes 1 MiB, and a character may need three bytes.
bash "$here/body.sh" 340000 >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
