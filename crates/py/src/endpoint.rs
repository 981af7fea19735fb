//! The sans-IO endpoint for Python: packet bytes in and out, the time as an argument.

use crate::error::{AssociationClosedError, ConfigError, WouldBlockError};
use crate::event::{Event, event, path_state_name};
use crate::{live, options};
use bytes::Bytes;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sctp::{
    AssocId, AssocOptions, Datagram, EndpointConfig, Message, PathId, Payload, Seed, SendError, State,
};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use transport::{Checksum, Octets, PacketBuf};
use units::{Instant, Span};
use wire::{Ppid, StreamId};

/// A packet to put on the network.
#[pyclass(frozen, get_all, module = "anabranch")]
pub struct Transmit {
    source: IpAddr,
    destination: IpAddr,
    data: Py<PyBytes>,
}

/// A message that arrived, or the next part of one.
#[pyclass(frozen, get_all, module = "anabranch")]
pub struct Received {
    data: Py<PyBytes>,
    stream: u16,
    ssn: u16,
    tsn: u32,
    ppid: u32,
    unordered: bool,
    end_of_record: bool,
}

/// What is known of a path.
#[pyclass(frozen, get_all, module = "anabranch")]
pub struct Path {
    remote: IpAddr,
    local: IpAddr,
    state: &'static str,
    primary: bool,
    cwnd: u64,
    ssthresh: Option<u64>,
    in_flight: u64,
    srtt: Option<u64>,
    rto: u64,
    errors: u32,
    mtu: u64,
    data_packets: u64,
    user_bytes: u64,
    packet_bytes: u64,
    fast_retransmissions: u64,
    timer_retransmissions: u64,
    rescheduled: u64,
    copies: u64,
    fast_recoveries: u64,
    timeouts: u64,
}

/// What an association did so far, and how it stands.
#[pyclass(frozen, get_all, module = "anabranch")]
pub struct Stats {
    packets_sent: u64,
    packets_received: u64,
    data_packets_received: u64,
    chunks_received: u64,
    user_bytes_received: u64,
    sacks_sent: u64,
    duplicates: u64,
    dropped: u64,
    reneged: u64,
    buffered: u64,
    unsent_messages: usize,
    outstanding_chunks: usize,
    peer_rwnd: u64,
    errors: u32,
}

/// Where the randomness of an endpoint comes from.
#[derive(FromPyObject)]
enum Randomness {
    /// For simulations.
    Number(u64),
    Bytes([u8; 32]),
}

impl Randomness {
    fn seed(choice: Option<Randomness>) -> PyResult<Seed> {
        match choice {
            None => Seed::from_system().map_err(|error| PyOSError::new_err(error.to_string())),
            Some(Randomness::Number(number)) => Ok(Seed::for_simulation(number)),
            Some(Randomness::Bytes(bytes)) => Ok(Seed::from(bytes)),
        }
    }
}

/// An SCTP endpoint without sockets, threads or a clock.
#[pyclass(subclass, module = "anabranch")]
pub struct Endpoint {
    /// Never contended; it makes the whole shareable, as Python asks of a class.
    inner: Mutex<sctp::Endpoint>,
    buffer: PacketBuf,
}

impl Endpoint {
    fn inner(&mut self) -> &mut sctp::Endpoint {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

fn at(now: u64) -> Instant {
    Instant::from_nanos(now)
}

fn nanos(span: Span) -> u64 {
    span.as_nanos()
}

#[pymethods]
impl Endpoint {
    #[new]
    fn new(
        addresses: Vec<IpAddr>,
        port: u16,
        seed: Option<Randomness>,
        checksum: bool,
        max_associations: usize,
        options: &str,
    ) -> PyResult<Self> {
        let checksum = if checksum { Checksum::Computed } else { Checksum::Offloaded };
        let config = options::config(options)?.into();
        let seed = Randomness::seed(seed)?;
        let settings =
            EndpointConfig { port, addresses, seed, checksum, max_associations, encapsulation: None, config };
        let inner = sctp::Endpoint::new(settings).map_err(|error| ConfigError::new_err(error.to_string()))?;
        Ok(Endpoint { inner: Mutex::new(inner), buffer: PacketBuf::default() })
    }

    #[pyo3(signature = (accept = true))]
    fn listen(&mut self, accept: bool) {
        self.inner().listen(accept);
    }

    fn connect(&mut self, now: u64, addresses: Vec<IpAddr>, port: u16) -> PyResult<u32> {
        let id = self.inner().connect(at(now), port, &addresses);
        id.map(|id| id.0).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn handle(&mut self, now: u64, source: IpAddr, destination: IpAddr, packet: &[u8]) {
        self.inner().handle(at(now), Datagram::new(source, destination, Octets::from(packet)));
    }

    fn poll_transmit(&mut self, py: Python<'_>, now: u64) -> Option<Transmit> {
        let way = self
            .inner
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .poll_transmit(at(now), &mut self.buffer)?;
        let data = PyBytes::new(py, &self.buffer.as_octets().to_vec()).unbind();
        Some(Transmit { source: way.src, destination: way.dst, data })
    }

    fn poll_timeout(&mut self) -> Option<u64> {
        self.inner().poll_timeout().map(Instant::as_nanos)
    }

    fn handle_timeout(&mut self, now: u64) {
        self.inner().handle_timeout(at(now));
    }

    fn poll_event(&mut self, py: Python<'_>) -> Option<Event> {
        self.inner().poll_event().map(|(id, what)| event(py, id, what))
    }

    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    #[pyo3(signature = (now, association, data, *, stream = 0, ppid = 0, unordered = false, immediate_sack = false,
        end_of_record = true, path = None, tracked = false))]
    fn send(
        &mut self,
        now: u64,
        association: u32,
        data: &[u8],
        stream: u16,
        ppid: u32,
        unordered: bool,
        immediate_sack: bool,
        end_of_record: bool,
        path: Option<u8>,
        tracked: bool,
    ) -> PyResult<Option<u64>> {
        let payload = Payload::Bytes(Bytes::copy_from_slice(data));
        let (stream, ppid) = (StreamId(stream), Ppid(ppid));
        let path = path.map(PathId);
        let message =
            Message { stream, ppid, unordered, immediate_sack, end_of_record, path, tracked, payload };
        let sent = self.inner().send(at(now), AssocId(association), message);
        sent.map(|id| id.map(|id| id.0)).map_err(|error| {
            let text = error.to_string();
            match error {
                SendError::WouldBlock => WouldBlockError::new_err(text),
                SendError::Closed => AssociationClosedError::new_err(text),
                _ => PyValueError::new_err(text),
            }
        })
    }

    #[pyo3(signature = (now, association, limit = None))]
    fn receive(
        &mut self,
        py: Python<'_>,
        now: u64,
        association: u32,
        limit: Option<usize>,
    ) -> Option<Received> {
        let message = self.inner().receive(at(now), AssocId(association), limit.unwrap_or(usize::MAX))?;
        Some(Received {
            data: PyBytes::new(py, &message.payload.to_bytes()).unbind(),
            stream: message.stream.0,
            ssn: message.ssn.0,
            tsn: message.tsn.0,
            ppid: message.ppid.0,
            unordered: message.unordered,
            end_of_record: message.end_of_record,
        })
    }

    fn next_message_length(&mut self, association: u32) -> Option<usize> {
        self.inner().next_message_len(AssocId(association))
    }

    fn options(&mut self, association: u32) -> Option<BTreeMap<&'static str, live::Value>> {
        self.inner().options(AssocId(association)).as_ref().map(live::to_map)
    }

    fn _set_options(&mut self, now: u64, association: u32, options: &str) -> PyResult<bool> {
        let options = AssocOptions::of(&options::config(options)?);
        let set = self.inner().set_options(at(now), AssocId(association), &options);
        set.map_err(|error| ConfigError::new_err(error.to_string()))
    }

    fn stats(&mut self, association: u32) -> Option<Stats> {
        let stats = self.inner().stats(AssocId(association))?;
        Some(Stats {
            packets_sent: stats.packets_sent,
            packets_received: stats.packets_received,
            data_packets_received: stats.received.data_packets,
            chunks_received: stats.received.chunks,
            user_bytes_received: stats.received.user_bytes.get(),
            sacks_sent: stats.received.sacks,
            duplicates: stats.received.duplicates,
            dropped: stats.received.dropped,
            reneged: stats.received.reneged,
            buffered: stats.buffered.get(),
            unsent_messages: stats.unsent_messages,
            outstanding_chunks: stats.outstanding_chunks,
            peer_rwnd: stats.peer_rwnd.get(),
            errors: stats.errors,
        })
    }

    fn peer_port(&mut self, association: u32) -> Option<u16> {
        self.inner().peer_port(AssocId(association))
    }

    fn shutdown(&mut self, now: u64, association: u32) {
        self.inner().shutdown(at(now), AssocId(association));
    }

    #[pyo3(signature = (now, association, reason = &b""[..]))]
    fn abort(&mut self, now: u64, association: u32, reason: &[u8]) {
        self.inner().abort(at(now), AssocId(association), reason);
    }

    fn state(&mut self, association: u32) -> Option<&'static str> {
        self.inner().state(AssocId(association)).map(state_name)
    }

    fn associations(&mut self) -> Vec<u32> {
        self.inner().associations().map(|id| id.0).collect()
    }

    fn paths(&mut self, association: u32) -> Vec<Path> {
        let Some(paths) = self.inner().paths(AssocId(association)) else { return Vec::new() };
        paths
            .map(|path| Path {
                remote: path.remote,
                local: path.local,
                state: path_state_name(path.state),
                primary: path.is_primary,
                cwnd: path.cwnd.get(),
                ssthresh: path.ssthresh.map(|bytes| bytes.get()),
                in_flight: path.flight.get(),
                srtt: path.srtt.map(nanos),
                rto: nanos(path.rto),
                errors: path.errors,
                mtu: path.mtu.get(),
                data_packets: path.stats.data_packets,
                user_bytes: path.stats.user_bytes.get(),
                packet_bytes: path.stats.packet_bytes.get(),
                fast_retransmissions: path.stats.fast_retransmissions,
                timer_retransmissions: path.stats.timer_retransmissions,
                rescheduled: path.stats.rescheduled,
                copies: path.stats.copies,
                fast_recoveries: path.stats.fast_recoveries,
                timeouts: path.stats.timeouts,
            })
            .collect()
    }

    fn set_primary(&mut self, association: u32, address: IpAddr) -> bool {
        self.inner().set_primary(AssocId(association), address)
    }

    fn heartbeat(&mut self, now: u64, association: u32, address: IpAddr) -> bool {
        self.inner().heartbeat(at(now), AssocId(association), address)
    }
}

fn state_name(state: State) -> &'static str {
    match state {
        State::CookieWait => "cookie-wait",
        State::CookieEchoed => "cookie-echoed",
        State::Established => "established",
        State::ShutdownPending => "shutdown-pending",
        State::ShutdownSent => "shutdown-sent",
        State::ShutdownReceived => "shutdown-received",
        State::ShutdownAckSent => "shutdown-ack-sent",
    }
}
