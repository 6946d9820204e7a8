#!/bin/sh
# Makes a repository of 24 commits to follow over time: two benchmarks of a small C program, of which
# one becomes slower at a commit, creeps for eight, and becomes faster at another.
#
#   examples/history/make_repository.sh FOLDER
set -eu

folder=${1:?"a folder for the repository"}
include=$(cd "$(dirname "$0")/../../include" && pwd)
mkdir -p "$folder"
cd "$folder"
git init -q -b main .
git config user.name "A. Author"
git config user.email "author@example.org"
cp "$include/deadheat.h" .

printf 'bench\n' > .gitignore
cat > Makefile <<'EOF'
bench: bench.c words.c words.h deadheat.h
	$(CC) -O2 -I. -pthread -ffunction-sections bench.c words.c -o bench
EOF
cat > words.h <<'EOF'
#include <stddef.h>
extern char text[65536];
unsigned scan(const char *from, size_t bytes);
unsigned words(void);
unsigned lines(void);
EOF
cat > bench.c <<'EOF'
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
#include "words.h"

DEADHEAT_BENCHMARK(words) { deadheat_keep(words()); }
DEADHEAT_BENCHMARK(lines) { deadheat_keep(lines()); }

DEADHEAT_MAIN();
EOF

# Writes the program whose words take so many bytes, and so many more for checks.
program() {
    cat > words.c <<EOF
#include "words.h"

char text[65536];

__attribute__((noinline)) unsigned scan(const char *from, size_t bytes) {
    unsigned sum = 5381;
    for (size_t at = 0; at < bytes; at++) {
        sum = sum * 33 + (unsigned char)from[at];
    }
    return sum;
}

unsigned words(void) { return scan(text, $1) ^ scan(text, $2); }

unsigned lines(void) { return scan(text + 8192, 16000); }
EOF
}

day=0
save() {
    day=$((day + 1))
    GIT_AUTHOR_DATE="2026-03-$(printf %02d $day)T09:00:00Z"
    GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
    export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
    git add -A
    git commit -q -m "$1"
}

# A commit that changes nothing that is built.
note() {
    echo "$1" >> NOTES
    save "$1"
}

program 16000 0
save "Count words and lines"
note "Say what a word is"
note "Say what a line is"
note "List what is left to do"
note "Name the licence"
note "Thank those who helped"
program 16000 400
save "Check what is read for its encoding"
note "Describe the encoding"
note "Answer a question"
checks=400
for rule in commas colons dashes quotes brackets digits tabs blanks; do
    checks=$((checks + 3))
    program 16000 $checks
    save "Check $rule, too"
done
note "Describe the checks"
note "Answer another question"
program 15400 $checks
save "Pass over the beginning, which is known"
note "Describe what is passed over"
note "Correct a word"
note "Name the next version"
note "Plan for it"
