# What one types every day. `just` alone shows the list.

_list:
    @just --list

# Format and lints, as CI wants them
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo clippy -p deadheat --all-targets --locked -- -D warnings

# Every test of every crate, and what is left without features
test:
    cargo test --workspace
    cargo test -p deadheat --test lean

# What deadheat itself costs: launching, writing and reading run files, and the statistics
bench:
    cargo bench -p deadheat-engine
    cargo bench -p deadheat-stats --bench speed
    cargo run --release -p deadheat-format --example speed

# The tables of the statistics from their simulations, then the promises put to the test: some twenty-five minutes
calibrate:
    cargo run --release -p deadheat-stats --example spending
    cargo run --release -p deadheat-stats --example singletons
    cargo run --release -p deadheat --example calibration

# Which planted faults the tests of the statistics notice, one in eleven of them: some forty minutes (cargo install cargo-mutants)
mutants:
    cargo mutants -p deadheat-stats --shard 3/11 --sharding round-robin -j2 --timeout 120

# Odd files for every reader, into analysis and answer (cargo install cargo-fuzz, and a nightly compiler)
fuzz seconds="300":
    mkdir -p fuzz/corpus/csv fuzz/corpus/run_file fuzz/corpus/saved_criterion
    cd fuzz && cargo +nightly fuzz run csv corpus/csv seeds/csv -- -dict=csv.dict -max_len=6000 -max_total_time={{seconds}}
    cd fuzz && cargo +nightly fuzz run run_file corpus/run_file seeds/run_file -- -dict=run_file.dict -max_len=6000 -max_total_time={{seconds}}
    cd fuzz && cargo +nightly fuzz run saved_criterion corpus/saved_criterion seeds/saved_criterion -- -max_len=4000 -max_total_time={{seconds}}
    mkdir -p fuzz/corpus/saved_benchmark_dotnet
    cd fuzz && cargo +nightly fuzz run saved_benchmark_dotnet corpus/saved_benchmark_dotnet ../crates/deadheat-format/tests/golden/saved/benchmark_dotnet -- -dict=saved.dict -max_len=12000 -max_total_time={{seconds}}
    mkdir -p fuzz/corpus/saved_go
    cd fuzz && cargo +nightly fuzz run saved_go corpus/saved_go ../crates/deadheat-format/tests/golden/saved/go -- -dict=saved.dict -max_len=12000 -max_total_time={{seconds}}
    mkdir -p fuzz/corpus/saved_jmh
    cd fuzz && cargo +nightly fuzz run saved_jmh corpus/saved_jmh ../crates/deadheat-format/tests/golden/saved/jmh -- -dict=saved.dict -max_len=12000 -max_total_time={{seconds}}

# What is promised, measured on a machine that does nothing else: races of commands, of functions, on neutral links, of two builds
validate: validate-commands validate-functions validate-placement validate-builds

# Races of commands beside hyperfine, and against themselves: some ten minutes
validate-commands:
    cargo build --release
    cargo run --release --manifest-path validation/Cargo.toml --bin commands

# Races of functions, every bar of theirs: some twenty minutes; `just validate-functions --quick` only tries it
validate-functions *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin functions -- {{options}}

# Races on neutral links, every bar of theirs: some three minutes (gcc, clang, lld); `just validate-placement --quick` only tries it
validate-placement *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin placement -- {{options}}

# Races of two builds, every bar of theirs: some twenty minutes (gcc, g++, lld, git, Google Benchmark; libbenchmark-tools and scipy for compare.py); `just validate-builds --quick` only tries it
validate-builds *options:
    cargo run --release --manifest-path validation/Cargo.toml --bin builds -- {{options}}

# Accept what is written now as golden; read the difference before committing
bless:
    DEADHEAT_BLESS=1 cargo test -p deadheat-format --test golden
    INSTA_UPDATE=always cargo test -p deadheat-report
    git diff --stat
