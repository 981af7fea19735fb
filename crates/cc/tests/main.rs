//! All tests of the crate in one program, which is built much faster than one for each file.

mod background;
mod bbr;
mod braid;
mod common;
mod coupled;
mod cubic;
mod delay;
mod marks;
mod pipe;
mod properties;
mod rpv1;
mod standard;
mod tcp;
