# What one types every day. `just` alone shows the list.

_list:
    @just --list

# Format and lints, as CI wants them
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Every test of every crate
test:
    cargo test --workspace

# What deadheat itself costs: launching, and writing and reading run files
bench:
    cargo bench -p deadheat-engine
    cargo run --release -p deadheat-format --example speed

# The tables of the statistics from their simulations, then the promises put to the test: some twenty-five minutes
calibrate:
    cargo run --release -p deadheat-stats --example spending
    cargo run --release -p deadheat-stats --example singletons
    cargo run --release -p deadheat --example calibration

# The finished program beside its peers, on a machine that does nothing else
validate:
    cargo build --release
    cargo run --release --manifest-path validation/Cargo.toml --bin commands

# Accept what is written now as golden; read the difference before committing
bless:
    DEADHEAT_BLESS=1 cargo test -p deadheat-format --test golden
    INSTA_UPDATE=always cargo test -p deadheat-report
    git diff --stat
