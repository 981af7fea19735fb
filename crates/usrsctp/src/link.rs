//! The link of the stack to the program, which carries the packets of addresses of family `AF_CONN`.

use crate::table::lock;
use io::Link;
use libc::{c_int, c_void};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use transport::{Octets, Transmit};

/// Sends a packet to an address: `conn_output`.
pub type Output =
    unsafe extern "C" fn(to: *mut c_void, packet: *mut c_void, len: usize, tos: u8, set_df: u8) -> c_int;

/// Largest number of packets that wait for the stack; more are lost, as in a network.
const WAITING: usize = 1024;

/// A packet for the program: the number of its link, the packet, the octet with the ECN field, and 1 if the
/// packet must not be fragmented.
type Outgoing = (u64, Vec<u8>, u8, u8);

/// The addresses that the program registered.
static REGISTERED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
static ARRIVED: Mutex<VecDeque<(u64, Vec<u8>)>> = Mutex::new(VecDeque::new());
/// Packets for a program that allows calls only from its own threads (`usrsctp_init_nothreads`).
static OUTGOING: Mutex<VecDeque<Outgoing>> = Mutex::new(VecDeque::new());

/// The link of the stack to the program.
#[derive(Debug)]
pub struct Wire {
    pub output: Output,
    /// True if the thread of the stack may call the program.
    pub threads: bool,
}

impl Link for Wire {
    fn receive(&mut self) -> Option<(u64, Vec<u8>)> {
        lock(&ARRIVED).pop_front()
    }

    fn send(&mut self, number: u64, transmit: &Transmit, packet: Octets<'_>) {
        let packet: Outgoing = (number, packet.to_vec(), transmit.ecn as u8, (!transmit.may_fragment).into());
        if self.threads {
            pass(self.output, packet);
        } else {
            lock(&OUTGOING).push_back(packet);
        }
    }
}

/// Gives a packet to the program, unless it has deregistered the address.
fn pass(output: Output, (number, mut packet, tos, set_df): Outgoing) {
    let registered = lock(&REGISTERED).contains(&number);
    if registered {
        // SAFETY: the program gave the function and the address, and the packet outlives the call.
        unsafe { output(number as *mut c_void, packet.as_mut_ptr().cast(), packet.len(), tos, set_df) };
    }
}

/// Gives the waiting packets to the program. Returns false if there were none.
pub fn flush(output: Output) -> bool {
    let waiting = std::mem::take(&mut *lock(&OUTGOING));
    let some = !waiting.is_empty();
    waiting.into_iter().for_each(|packet| pass(output, packet));
    some
}

/// Adds or removes an address.
pub fn register(number: u64, on: bool) {
    let mut registered = lock(&REGISTERED);
    if on {
        registered.insert(number);
    } else {
        registered.remove(&number);
    }
}

/// Passes a packet to the stack.
pub fn arrive(number: u64, packet: Vec<u8>) {
    let mut arrived = lock(&ARRIVED);
    if arrived.len() < WAITING {
        arrived.push_back((number, packet));
    }
}

pub fn is_registered(number: u64) -> bool {
    lock(&REGISTERED).contains(&number)
}
