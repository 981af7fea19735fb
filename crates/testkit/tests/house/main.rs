//! Checks of the sources and pages, which call no code of the crates.

mod arrows;
mod attacks;
mod modules;
mod rules;
mod words;
