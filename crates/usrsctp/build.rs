//! Gives the shared library the name by which programs ask the loader for libusrsctp.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libusrsctp.so.2");
}
