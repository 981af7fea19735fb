//! Tests that read the source files and the documentation, and call no code of the crates.

mod arrows;
mod attacks;
mod modules;
mod rules;
mod words;
