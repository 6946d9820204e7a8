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

# What deadheat itself costs: launching, writing and reading run files, and the statistics
bench:
    cargo bench -p deadheat-engine
    cargo bench -p deadheat-stats --bench speed
    cargo run --release -p deadheat-format --example speed

# The tables of the statistics from their simulations: some fifteen minutes
calibrate:
    cargo run --release -p deadheat-stats --example spending
    cargo run --release -p deadheat-stats --example singletons

# The finished program beside its peers, on a machine that does nothing else
validate:
    cargo build --release
    cargo run --release --manifest-path validation/Cargo.toml --bin commands

# Accept what is written now as golden; read the difference before committing
bless:
    DEADHEAT_BLESS=1 cargo test -p deadheat-format --test golden
    INSTA_UPDATE=always cargo test -p deadheat-report
    git diff --stat
