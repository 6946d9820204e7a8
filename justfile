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

# The statistics against long seeded simulations
calibrate:
    cargo run --release -p deadheat-stats --example spending

# Accept what is written now as golden; read the difference before committing
bless:
    DEADHEAT_BLESS=1 cargo test -p deadheat-format --test golden
    INSTA_UPDATE=always cargo test -p deadheat-report
    git diff --stat
