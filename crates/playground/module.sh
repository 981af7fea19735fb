#!/bin/sh
# Compiles the module of the playground for WebAssembly.
set -eu
cd "$(dirname "$0")/../.."

target=wasm32-unknown-unknown
if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    echo "playground: expected Rust's target $target: rustup target add $target" >&2
    exit 1
fi
exec cargo build --locked --quiet --package anabranch-playground --lib --profile playground --target "$target"
