//! The tests that share a program, which is linked much faster than one program for each file.

mod command;
mod explain;
mod help;
mod measure;
mod mistakes;
mod parts;
mod scratch;
mod tunnel;
