#!/bin/sh
# Fuzzes every target for some seconds each: fuzz/run.sh SECONDS
# Needs a nightly compiler; fetches cargo-fuzz into the build folder if it is not there.
# Each begins with fuzz/cases, where every input belongs that ever failed: `cargo test` plays those of `machine` again.
# Ends with an error if a target crashes. Without nightly or cargo-fuzz it says so and runs the property tests instead.
set -eu

seconds=${1:?usage: fuzz/run.sh SECONDS}
cd "$(dirname "$0")/.."
tools=${CARGO_TARGET_DIR:-target}/tools
case $tools in /*) ;; *) tools=$PWD/$tools ;; esac
PATH=$tools/bin:$PATH

without_fuzzer() {
    echo "fuzz: $1; running the property tests instead"
    cargo test -p anabranch-wire --test properties
    cargo test -p anabranch-testkit --test all machine
    cargo test -p anabranch-noise --test any_network
    cargo test -p anabranch-capi --test random_calls
    cargo test -p anabranch-sock --test hostile
    exec cargo test -p anabranch-tcp --lib segment
}

cargo +nightly --version >/dev/null 2>&1 || without_fuzzer "no nightly compiler"
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: installing cargo-fuzz into $tools"
    cargo install --quiet --locked cargo-fuzz --root "$tools" || without_fuzzer "cargo-fuzz cannot be installed"
fi

for target in $(cargo +nightly fuzz list); do
    echo "fuzz: $target for $seconds s"
    mkdir -p "fuzz/corpus/$target" "fuzz/cases/$target"
    cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "fuzz/cases/$target" -- \
        -max_total_time="$seconds" -max_len=2048 -print_final_stats=1
done
echo "fuzz: no crash"
