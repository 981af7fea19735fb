//! Gives the shared library its name for the loader.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        // The number after `.so` is `types::ANB_ABI`.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libanabranch.so.0");
    }
}
