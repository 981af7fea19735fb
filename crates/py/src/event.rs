//! Events of an endpoint, as Python objects.

use crate::arrivals::list;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sctp::{AddressChange, AssocId, CloseReason};
use std::net::IpAddr;

/// Declares the class of events: fields that belong to some kinds of events and are None for others.
macro_rules! event_class {
    ($(#[doc = $doc:literal])* $class:ident { $($(#[doc = $text:literal])* $name:ident: $of:ty,)+ }) => {
        $(#[doc = $doc])*
        #[pyclass(frozen, get_all, module = "anabranch.endpoint")]
        pub struct $class {
            /// Number of the association.
            association: u32,
            /// Kind of the event.
            kind: &'static str,
            $($(#[doc = $text])* $name: Option<$of>,)+
        }

        impl $class {
            fn new(association: u32, kind: &'static str) -> Self {
                $class { association, kind, $($name: None),+ }
            }
        }

        #[pymethods]
        impl $class {
            fn __repr__(&self, py: Python<'_>) -> String {
                let mut text = format!("<Event {} of association {}", self.kind, self.association);
                $(if let Some(value) = &self.$name {
                    text += &format!(", {} {}", stringify!($name), value.show(py));
                })+
                text + ">"
            }
        }
    };
}

event_class! {
    /// An event of an association. ``kind`` says what happened. Fields that do not belong to that kind are
    /// None.
    Event {
        /// connected: streams that the endpoint may use.
        outbound_streams: u16,
        /// connected: streams that the peer may use.
        inbound_streams: u16,
        /// connected: addresses of the peer, in the order of the paths.
        peer_addresses: Vec<IpAddr>,
        /// connected: SCTP port of the peer.
        peer_port: u16,
        /// heartbeat-answered: round-trip time in seconds.
        rtt: f64,
        /// path-changed, primary-changed, mtu-changed, heartbeat-answered, peer-address-added,
        /// peer-address-removed: address of the peer. address-change: local address.
        address: IpAddr,
        /// address-change: change of the address that was requested from the peer.
        change: &'static str,
        /// address-change: whether the peer made the change.
        accepted: bool,
        /// auth-key-unused: identifier of the key.
        key: u16,
        /// path-changed: state of the path now.
        state: &'static str,
        /// delivered: number of the first of the tracked messages. send-failed: number of the message if it
        /// is tracked.
        message: u64,
        /// delivered: number of the last of the tracked messages.
        last_message: u64,
        /// primary-changed, mtu-changed: number of the path.
        path: u8,
        /// mtu-changed: path MTU in bytes, IP header included.
        mtu: u64,
        /// streams-reset: whether streams on which the peer sends were reset.
        incoming: bool,
        /// streams-reset: whether streams on which the endpoint sends were reset. If ``incoming`` is true,
        /// too, all streams and the TSNs were reset.
        outgoing: bool,
        /// streams-reset: the streams; an empty list means all.
        streams: Vec<u16>,
        /// streams-added: number of additional streams that the peer may use.
        more_incoming: u16,
        /// streams-added: number of additional streams that the endpoint may use.
        more_outgoing: u16,
        /// streams-reset, streams-added: performed, denied, wrong-stream, failed or given-up.
        result: &'static str,
        /// send-failed: stream of the message.
        stream: u16,
        /// send-failed: TSN of the chunk; None if it was never sent.
        tsn: u32,
        /// send-failed: number of bytes that the peer did not acknowledge.
        length: usize,
        /// send-failed: the bytes that the peer did not acknowledge.
        data: Py<PyBytes>,
        /// send-failed: payload protocol identifier of the message.
        ppid: u32,
        /// send-failed: whether the message was unordered.
        unordered: bool,
        /// send-failed: the number given with the message.
        context: u32,
        /// send-failed: whether a part of the message was sent, so that the peer may have it.
        sent: bool,
        /// send-failed: whether the message was abandoned because of its reliability; the association
        /// continues.
        abandoned: bool,
        /// peer-error, and closed by an ABORT of the peer: the error causes as received.
        causes: Py<PyBytes>,
        /// closed: how the association ended.
        reason: &'static str,
        /// closed with ``protocol-violation``: what the peer did.
        detail: &'static str,
        /// closed with ``duplicate``: the association with the same peer that remains.
        duplicate_of: u32,
    }
}

/// A value in the `repr` of an event.
trait Show {
    fn show(&self, py: Python<'_>) -> String;
}

macro_rules! show_by_display {
    ($($type:ty),+) => {$(
        impl Show for $type {
            fn show(&self, _: Python<'_>) -> String {
                self.to_string()
            }
        }
    )+};
}
show_by_display!(bool, u8, u16, u32, u64, f64, usize, IpAddr, &'static str);

impl Show for Vec<IpAddr> {
    fn show(&self, _: Python<'_>) -> String {
        format!("[{}]", list(self))
    }
}

impl Show for Vec<u16> {
    fn show(&self, _: Python<'_>) -> String {
        format!("{self:?}")
    }
}

impl Show for Py<PyBytes> {
    fn show(&self, py: Python<'_>) -> String {
        format!("{:?}", self.bind(py))
    }
}

/// Converts an event of an association to its Python object.
pub fn event(py: Python<'_>, id: AssocId, what: sctp::Event) -> Event {
    let mut event = Event::new(id.0, "");
    event.kind = match what {
        sctp::Event::Connected { outbound_streams, inbound_streams, peer_addresses, peer_port } => {
            event.outbound_streams = Some(outbound_streams);
            event.inbound_streams = Some(inbound_streams);
            event.peer_addresses = Some(peer_addresses);
            event.peer_port = Some(peer_port);
            "connected"
        }
        sctp::Event::Restarted => "restarted",
        sctp::Event::Readable => "readable",
        sctp::Event::Writable => "writable",
        sctp::Event::PathChanged { address, state } => {
            event.address = Some(address);
            event.state = Some(state.name());
            "path-changed"
        }
        sctp::Event::HeartbeatAnswered { address, rtt } => {
            event.address = Some(address);
            event.rtt = Some(rtt.as_secs_f64());
            "heartbeat-answered"
        }
        sctp::Event::PrimaryChanged { path, address } => {
            event.path = Some(path.0);
            event.address = Some(address);
            "primary-changed"
        }
        sctp::Event::MtuChanged { path, address, mtu } => {
            event.path = Some(path.0);
            event.address = Some(address);
            event.mtu = Some(mtu.get());
            "mtu-changed"
        }
        sctp::Event::Delivered { first, last } => {
            event.message = Some(first.0);
            event.last_message = Some(last.0);
            "delivered"
        }
        sctp::Event::SendFailed { id, stream, tsn, length, sent, abandoned, message } => {
            event.message = id.map(|id| id.0);
            event.data = Some(PyBytes::new(py, &message.payload.to_bytes()).unbind());
            event.ppid = Some(message.ppid.0);
            event.unordered = Some(message.unordered);
            event.context = Some(message.context);
            event.sent = Some(sent);
            event.abandoned = Some(abandoned);
            event.stream = Some(stream.0);
            event.tsn = tsn.map(|tsn| tsn.0);
            event.length = Some(length);
            "send-failed"
        }
        sctp::Event::PeerAddressAdded { address } => {
            event.address = Some(address);
            "peer-address-added"
        }
        sctp::Event::PeerAddressRemoved { address } => {
            event.address = Some(address);
            "peer-address-removed"
        }
        sctp::Event::AddressChange { change, address, accepted } => {
            event.change = Some(match change {
                AddressChange::Add => "add",
                AddressChange::Delete => "delete",
                AddressChange::SetPrimary => "set-primary",
            });
            event.address = Some(address);
            event.accepted = Some(accepted);
            "address-change"
        }
        sctp::Event::AuthKeyUnused { id } => {
            event.key = Some(id);
            "auth-key-unused"
        }
        sctp::Event::PeerError { causes } => {
            event.causes = Some(PyBytes::new(py, &causes).unbind());
            "peer-error"
        }
        sctp::Event::StreamsReset { incoming, outgoing, streams, result } => {
            event.incoming = Some(incoming);
            event.outgoing = Some(outgoing);
            event.streams = Some(streams.iter().map(|stream| stream.0).collect());
            event.result = Some(result.name());
            "streams-reset"
        }
        sctp::Event::StreamsAdded { incoming, outgoing, result } => {
            event.more_incoming = Some(incoming);
            event.more_outgoing = Some(outgoing);
            event.result = Some(result.name());
            "streams-added"
        }
        sctp::Event::ShutdownReceived => "shutdown-received",
        sctp::Event::Closed { reason } => {
            event.reason = Some(reason.name());
            match reason {
                CloseReason::PeerAbort { causes } => event.causes = Some(PyBytes::new(py, &causes).unbind()),
                CloseReason::ProtocolViolation { what } => event.detail = Some(what),
                CloseReason::Duplicate { of } => event.duplicate_of = Some(of.0),
                _ => {}
            }
            "closed"
        }
        _ => "other",
    };
    event
}
