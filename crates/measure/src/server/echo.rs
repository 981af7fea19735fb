//! Echoes of the probes of a client that measures latency.
//!
//! A probe is echoed only with the cookie that its client got over the control connection, and as a datagram
//! only to an address that this client has proved: that of the control connection (TCP), or that of a path of
//! its associations (SCTP). So nobody can make the server send to a third host. An echo is as long as its
//! probe, and nothing is stored for it.

use super::lock;
use crate::channel::{Channel, Service};
use crate::clock::Gate;
use crate::latency::Probe;
use io::Responder;
use io::blocking::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use transport::Datagram;

/// Largest number of echoes that wait in an association. Further probes are lost.
const WAITING: usize = 64;

/// The cookies of running measurements, each with the addresses to which datagrams are echoed.
#[derive(Clone, Debug, Default)]
pub struct Echoes(Arc<Mutex<BTreeMap<u64, BTreeSet<IpAddr>>>>);

impl Echoes {
    /// Allows echoes of SCTP messages with this cookie from anywhere,
    /// and of UDP datagrams with this cookie from these addresses.
    pub fn allow(&self, cookie: u64, addresses: BTreeSet<IpAddr>) {
        lock(&self.0).insert(cookie, addresses);
    }

    /// Echoes no more probes with this cookie.
    pub fn forget(&self, cookie: u64) {
        lock(&self.0).remove(&cookie);
    }

    /// The echo of a message of SCTP; `None` if the message is an echo itself, or its cookie is not known.
    pub fn of_message(&self, probe: Probe) -> Option<Probe> {
        let known = lock(&self.0).contains_key(&probe.cookie);
        (known && !probe.is_answer).then_some(Probe { is_answer: true, ..probe })
    }

    /// The echo of a datagram from this address; `None` if such a datagram must not be echoed.
    fn of_datagram(&self, probe: Probe, source: IpAddr) -> Option<Probe> {
        let known = lock(&self.0).get(&probe.cookie)?.contains(&source.to_canonical());
        (known && !probe.is_answer).then_some(Probe { is_answer: true, ..probe })
    }
}

impl Responder for Echoes {
    fn take(&mut self, datagram: &Datagram<'_>, answer: &mut Vec<u8>) -> bool {
        let Some(probe) = Probe::decode(datagram.bytes.head) else { return false };
        if let Some(echo) = self.of_datagram(probe, datagram.src) {
            answer.extend_from_slice(&echo.encode());
        }
        true
    }
}

/// Sends the echoes of an association in a thread of its own, so that the receiver never waits for the
/// sender. The thread ends with the association.
pub struct Echoing(SyncSender<(u16, Probe)>);

impl Echoing {
    /// Starts the thread; `None` if the system cannot.
    pub fn start(connection: &Connection) -> Option<Self> {
        let (sender, echoes) = sync_channel::<(u16, Probe)>(WAITING);
        let connection = connection.clone();
        let run = move || {
            let never = Gate::default();
            for (stream, echo) in echoes {
                let channel = Channel::Sctp(connection.clone(), stream);
                if channel.send(&echo.encode(), Service::default(), &never).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("echo".to_owned()).spawn(run).ok()?;
        Some(Echoing(sender))
    }

    /// Sends an echo on this stream, unless too many wait already.
    pub fn send(&self, stream: u16, echo: Probe) {
        let _ = self.0.try_send((stream, echo));
    }
}
