# What one types every day. `just` alone shows the list.

_list:
    @just --list

# Format and lints, as CI wants them
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo clippy -p deadheat --all-targets --locked -- -D warnings

# Every test of every crate, and what is left without features; installs what they use, and hands its options on to `cargo test`
test *options:
    ./test {{options}}

# What deadheat itself costs: launching, writing and reading run files, and the statistics
bench:
    cargo run --release --manifest-path validation/Cargo.toml --bin cost -- --quick
    cargo bench -p deadheat-stats --bench speed
    cargo run --release -p deadheat-format --example speed

# The tables of the statistics from their simulations, then the promises put to the test: some twenty-five minutes
simulate:
    cargo run --release -p deadheat-stats --example spending
    cargo run --release -p deadheat-stats --example few_blocks
    cargo run --release -p deadheat --example calibration

# This machine's own error rate, kept for later races and written to docs/validation/calibration.md: up to five minutes; `just calibrate --quick` only tries it
calibrate *options:
    cargo run --release -- calibrate --markdown=docs/validation/calibration.md {{options}}

# Which planted faults the tests of the statistics notice, one in eleven of them: some forty minutes (cargo install cargo-mutants)
mutants:
    cargo mutants -p deadheat-stats --shard 3/11 --sharding round-robin -j2 --timeout 120

# A race spread over machines, tried on this one, with a part that is killed and raced on: Slurm (slurm-wlm, root), Ray and Kubernetes (python3 with venv; the network, unless RAY_PYTHON and KUBERNETES_PYTHON name Pythons that have what they need), a container (buildah, mmdebstrap, root, the network); three minutes, and what a tool is missing for is skipped by name
fleet:
    cargo build -p deadheat-cli --bins
    just _fleet slurm slurmctld slurmd
    just _fleet ray python3
    just _fleet kubernetes python3
    just _fleet container buildah mmdebstrap

_fleet place *tools:
    @for tool in {{tools}}; do command -v $tool >/dev/null || { echo "examples/fleet/{{place}} is skipped: there is no $tool"; exit 0; }; done; examples/fleet/{{place}}/try.sh target/debug

# The Python package: format, lints, types and tests, in fresh virtual environments of every Python that is here, with the program from a wheel that is built before (python3 with venv, the network); some minutes for each
python *options:
    python/try {{options}}

# The npm package: format, types and tests with Node 20, 22 and 24, and an installation from the tarball (node, npm; a debug build of deadheat)
javascript:
    cargo build -p deadheat-cli
    javascript/try

# A wheel of the Python package with the program in it, as it is handed out, in python/dist; `just wheel --profile dev` is there sooner
wheel *options:
    python/try wheel {{options}}

# A wheel for every platform of a release that this machine can build for, in python/dist; the others are named with what is missing
wheels *options:
    python/try wheels {{options}}

# Odd files for every reader, into analysis and answer, a while for each (cargo install cargo-fuzz, and a nightly compiler)
fuzz seconds="300":
    just _fuzz csv seeds/csv csv.dict 6000 {{seconds}}
    just _fuzz run_file seeds/run_file run_file.dict 6000 {{seconds}}
    just _fuzz callgrind ../crates/deadheat-explain/tests/golden/callgrind callgrind.dict 4000 {{seconds}}
    just _fuzz compat seeds/compat compat.dict 6000 {{seconds}}
    just _fuzz saved_criterion seeds/saved_criterion saved.dict 4000 {{seconds}}
    just _fuzz saved_pytest_benchmark 'seeds/saved_pytest_benchmark ../crates/deadheat-import/tests/golden/saved/pytest_benchmark' saved.dict 12000 {{seconds}}
    just _fuzz rules seeds/rules run_file.dict 4000 {{seconds}}
    just _fuzz pack seeds/pack run_file.dict 8000 {{seconds}}
    just _fuzz plan seeds/plan run_file.dict 6000 {{seconds}}
    just _fuzz bisect_record seeds/bisect_record run_file.dict 6000 {{seconds}}
    just _fuzz history_index '' run_file.dict 600 {{seconds}}
    just _fuzz worker_messages seeds/worker_messages run_file.dict 1000 {{seconds}}
    for tool in bench_node benchmark_dotnet go google_benchmark hyperfine jmh mitata nvbench pyperf tinybench triton vitest; do \
        just _fuzz saved_$tool ../crates/deadheat-import/tests/golden/saved/$tool saved.dict 12000 {{seconds}} || exit 1; \
    done

_fuzz target seeds words longest seconds:
    mkdir -p fuzz/corpus/{{target}}
    cd fuzz && cargo +nightly fuzz run {{target}} corpus/{{target}} {{seeds}} -- -dict={{words}} -max_len={{longest}} -max_total_time={{seconds}}

# Licences, sources and known advisories of all crates that come along (cargo install cargo-deny; the advisories are fetched)
deny:
    cargo deny --locked check

# The archive of a release: both programs, linked statically, with manual pages and completions; some minutes
dist *target:
    .ci/dist {{target}}

# What `just dist` and `just deb` built, installed in bare roots, where it races: a minute (root; apt-get install mmdebstrap python3)
try-dist *target:
    .ci/try-dist {{target}}

# The Debian package of an archive that `just dist` made (cargo install cargo-deb)
deb *target:
    .ci/deb {{target}}

# Every crate as crates.io would get it, built from what is packed: some ten minutes; `just package --allow-dirty` before a commit
package *options:
    .ci/crates {{options}}

# Every script of the shell by ShellCheck, every workflow by actionlint (shellcheck; actionlint, or Go, which fetches it)
lint:
    .ci/lint

# The archive for aarch64 Linux, made on another machine and installed in bare roots under QEMU, and the tests that emulation can run: some forty minutes (root; apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static mmdebstrap arch-test jq)
cross:
    .ci/cross

# The archive for Windows, where the program only reads results, made on Linux and tried under Wine; then a check for macOS: some fifteen minutes (apt-get install gcc-mingw-w64-x86-64 wine64; pip install cargo-zigbuild)
cross-windows:
    .ci/cross-windows

# What is promised, measured on a machine that does nothing else: races of commands, of functions, on neutral links, of two builds, and reports
validate: validate-commands validate-functions validate-gate validate-placement validate-builds validate-reports

# Every table that sets deadheat beside its peers, one after the other: half a day on a machine that does nothing else; each goes on where it stopped
tables: validate-cost validate-paired-article validate-compare-py validate-peers validate-python validate-bench-diff

# Races of commands, for 1 % of 20 ms, and against themselves: some ten minutes; `just validate-commands --only "20 ms" --races 10` asks a part of it
validate-commands *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin commands -- {{options}}

# Races of commands side by side on one core, next to turns, kept in validation/data/: some hours of a quiet machine, in as many sittings as you like (`--only aa`, `power`, `size`, `bias` or `pass`, `--minutes N`); `--page` only writes the page, `--quick` only tries it
validate-side-by-side *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin side_by_side -- {{options}}

# Races of functions, every bar of theirs: some forty minutes; `just validate-functions --quick` only tries it, `--only "20 ms" --races 10` asks a part of it
validate-functions *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin functions -- {{options}}

# Whole suites under a gate, red and green: some five minutes; `just validate-gate --quick` only tries it
validate-gate *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin gate -- {{options}}

# Verdicts on quantiles of single calls, against themselves and with a longer tail: some twenty-five minutes; `just validate-tails --quick` only tries it, `--races 100` asks a quarter
validate-tails *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin tails -- {{options}}

# Searches for the commit that changed the time, simulated, every bar of theirs: some five minutes, beside anything else; `just validate-bisect --quick` only tries it; `--real` searches real repositories, some ten minutes of a quiet machine
validate-bisect *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin bisect -- {{options}}

# Steps, creep and broken runners in simulated histories of 1,000 commits, beside E-divisive and t windows: some minutes; `just validate-history --quick` only tries it
validate-history *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin history -- {{options}}

# A difference of 0.01%, and none: some two minutes; `just validate-hundredth --races N`; `--quick` only tries it
validate-hundredth *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin hundredth -- {{options}}

# Races on neutral links, every bar of theirs: some three minutes (gcc, clang, lld); `just validate-placement --quick` only tries it
validate-placement *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin placement -- {{options}}

# Suites of Google Benchmark that nobody here wrote, against copies: `measure 'LIBRARY' neutral|linked OLD NEW FILTER` adds races of two executables, without words it writes the page
validate-google-suites *words:
    cargo run --release --manifest-path validation/Cargo.toml --bin google_suites -- {{words}}

# A public C++ suite by `deadheat rev --cmake`: `measure NAME CHECKOUT OLD NEW TARGET` races it, `page` writes docs/validation/google_benchmark.md (`cargo build --release` before, and nothing else may run)
validate-google-benchmark *words:
    python3 validation/google_benchmark_suites.py {{words}}

# Google Benchmark's own tests against include/google_benchmark/benchmark: some six minutes (g++, clang++, libgmock-dev, the locale en_US.UTF-8); arguments are `head=CHECKOUT v1.9.4=CHECKOUT …`, and the first is the reference
validate-google-benchmark-api +checkouts:
    python3 validation/google_benchmark_api.py {{checkouts}}

# Races of two builds, every bar of theirs: some fifteen minutes (gcc, lld, git); `just validate-builds --quick` only tries it, `--only "20 ms"` asks a part of it
validate-builds *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin builds -- {{options}}

# What one waits for before the first answer: README's commands and a bench, built from nothing beside criterion, divan and hyperfine, some twenty minutes on a machine that does nothing else; `--offline` fetches nothing
validate-door *options:
    validation/door {{options}}

# What the engine takes beside bare system calls: some two minutes (hyperfine where there is one); `just validate-cost --quick` only tries it
validate-cost *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin cost -- {{options}}

# Google Benchmark executables beside compare.py, kept in validation/data/: some hour, in as many sittings as one likes by `--minutes N` (g++, lld, Google Benchmark, libbenchmark-tools, scipy); `--page` only writes the page, `--quick` only tries it
validate-compare-py *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin compare_py -- {{options}}

# Suites of criterion's that others wrote, with one line changed and with none, beside criterion: some hours (git, the network); `just validate-suites --quick` only tries it, `--only itoa` asks a part of it
validate-suites *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin suites -- {{options}}

# Every tool that races functions or commands, on the same work: some ninety minutes, in as many sittings as one likes (lld, objdump; hyperfine, and python3 with venv for pyperf); `just validate-peers --quick` only tries it, `--minutes N` stops in time, `--fresh --only "deadheat-run loaded"` makes a part anew
validate-peers *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin peers -- {{options}}

# Races of JavaScript: `copies RACES`, `more RACES` and `suite NAME CHECKOUT OLD NEW PATTERN [BUILD]` measure, `page` writes the page (`cargo build --release` before, node; nothing else may run)
validate-javascript *words:
    node validation/javascript/measure.mjs {{words}}

# Servers under load (node, nginx, redis, PostgreSQL, ab, wrk): `just validate-load measure --seconds 600`, the same with `--busy` and with `--known`, `just validate-load peers`, then `just validate-load page`
validate-load *words:
    python3 validation/load/measure.py {{words}}

# Races of Python beside pytest-benchmark, timeit and pyperf, the hash seed, two libraries at two versions, and what deadheat costs: some hour, in as many sittings as one likes (python3 with venv, or PYTHON=…; the network); `just validate-python --quick` only tries it, `--fresh --only "pyperf loops"` makes a part anew
validate-python *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin python -- {{options}}

# Races on a GPU: `just validate-gpu measure` on a machine with one, in 8 minutes (torch with Triton, CuPy, Numba, nvidia-ml-py), `just validate-gpu simulate` anywhere, in 6; then `just validate-gpu page`
validate-gpu *options:
    cargo build --release -p deadheat-cli
    PATH="$PWD/target/release:$PATH" PYTHONPATH="$PWD/python" python3 validation/python/gpu.py {{options}}

# bench_diff's own table: traditional, bench_diff and deadheat on functions whose difference is known; some five hours, in as many sittings as you like with `--minutes N`; `just validate-bench-diff --quick` only tries it, `--fresh --only "20 ms deadheat"` makes a part anew
validate-bench-diff *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin bench_diff -- {{options}}

# Fifteen classes of hostile files, repositories and command lines, kills, full disks, damaged files and lying workers, drawn from a seed: some ten minutes (git, python3; g++ and Google Benchmark if they are installed); `just attack --quick` only tries it, `--seed N --only TEXT --case N` repeats a finding
attack *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin attack -- {{options}}

# CPU time of reading files of every kind, and of the same ten times as large, which may take twenty times as long: some five minutes (`cargo build --release` before); `just readers --only asv` asks a part of it
readers *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin readers -- {{options}}

# The workflows of the manual with this action, executed here without a container: green, then red, on one runner and on three (go install github.com/nektos/act@latest; curl, jq, make, python3)
action:
    action/tests/with_act.sh

# The picture of README from a real run (cc, hyperfine, deadheat in PATH, python3)
picture:
    python3 docs/pictures/dead_heat.py

# The manuals as a site with search, in target/book (cargo install mdbook, python3)
book:
    mdbook build

# The chart library of the page from its pinned versions (node and npm)
charts:
    crates/deadheat-report/assets/page/build.sh

# The pictures of the page in docs/, made anew (chromium)
screenshots:
    cargo test -p deadheat-cli --test page -- --ignored --exact the_pictures_of_the_docs

# The article on paired benchmarking, beside tango and criterion: some half an hour, in as many sittings as one likes (`--minutes N`; lld, valgrind); `--quick` only tries it
validate-paired-article *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin paired_article -- {{options}}

# Whole programs from start to exit, beside those of an earlier commit (`--old ../before`, a worktree of it): some ten minutes (hyperfine, lld); `just validate-speed --quick` only tries it
validate-speed *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin speed -- {{options}}

# Reports of a run of 500 benchmarks, every bar of theirs: a minute or two (chromium); `just validate-reports --quick` only tries it
validate-reports *options:
    cargo build --profile dist -p deadheat-cli
    cargo build --profile dist -p deadheat-cli --example page_open
    cargo run --release --manifest-path validation/Cargo.toml --bin reports -- {{options}}

# Accept what is written now as golden; read the difference before committing
bless:
    DEADHEAT_BLESS=1 cargo test -p deadheat-format -p deadheat-import --test golden
    DEADHEAT_BLESS=1 INSTA_UPDATE=always cargo test -p deadheat-report
    git diff --stat
