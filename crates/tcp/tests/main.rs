//! All tests of the crate in one program, which is built much faster than one for each file.

mod buffers;
mod close;
mod flood;
mod flow;
mod handshake;
mod hostile;
mod modern;
mod padhye;
mod random;
mod recovery;
