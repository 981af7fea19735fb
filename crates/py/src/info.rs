//! State and counters of endpoints, associations and paths, as Python sees them.

use io::{AssocStats, Limit, LimitTimes, PathInfo, State};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt;
use std::net::IpAddr;

/// Time for which each reason (such as cwnd) kept a sender from sending more; in Python a dict of seconds.
#[derive(Clone, Copy)]
pub struct LimitedBy(LimitTimes);

impl<'py> IntoPyObject<'py> for LimitedBy {
    type Target = PyDict;
    type Output = Bound<'py, PyDict>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let times = PyDict::new(py);
        for &limit in Limit::ALL {
            times.set_item(limit.name(), self.0.of(limit).as_secs_f64())?;
        }
        Ok(times)
    }
}

impl fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(Limit::ALL.iter().map(|&limit| (limit.name(), self.0.of(limit).as_secs_f64())))
            .finish()
    }
}

/// The state of a path and its counters: windows in bytes, times in seconds.
#[pyclass(frozen, get_all, module = "anabranch.endpoint")]
pub struct Path {
    /// Number of the path, which ``send`` takes as ``path``; it stays the same as long as the association
    /// exists.
    id: u8,
    /// Address of the peer.
    remote: IpAddr,
    /// Address of the endpoint.
    local: IpAddr,
    /// UDP port of the peer at ``remote``; 0: packets are not encapsulated.
    udp_port: u16,
    /// State of the path.
    state: &'static str,
    /// True if the path did not answer in time: new data avoids it while another path is usable.
    silent: bool,
    /// Whether it is the primary path.
    primary: bool,
    /// Congestion window.
    cwnd: u64,
    /// Slow start threshold; None before it is set.
    ssthresh: Option<u64>,
    /// Flight size: bytes in flight.
    in_flight: u64,
    /// Smoothed round-trip time; None before the first measurement.
    srtt: Option<f64>,
    /// Retransmission timeout.
    rto: f64,
    /// Consecutive errors.
    errors: u32,
    /// Path MTU, with the IP header.
    mtu: u64,
    /// Packets sent with user data.
    data_packets: u64,
    /// User bytes sent, with retransmissions.
    user_bytes: u64,
    /// Bytes of all packets sent, without IP and UDP headers.
    packet_bytes: u64,
    /// Bytes of packets received on this path, without IP and UDP headers.
    received_bytes: u64,
    /// Bytes of packets sent with a SACK and without user data, with the IP header.
    ack_bytes: u64,
    /// Chunks retransmitted before an expiry of T3-rtx.
    fast_retransmissions: u64,
    /// Chunks that fast retransmission took for lost although they had arrived; counted only with
    /// `loss_detection="rack"`.
    needless_retransmissions: u64,
    /// Chunks retransmitted after an expiry of T3-rtx.
    timer_retransmissions: u64,
    /// Chunks sent again on this path, before they counted as lost, to free a buffer.
    rescheduled: u64,
    /// Chunks in flight on another path of which this path sent a copy.
    copies: u64,
    /// Fast recoveries.
    fast_recoveries: u64,
    /// Fast recoveries undone because all their retransmissions were needless.
    undone_recoveries: u64,
    /// Reductions of the congestion window because the peer reported marks of congestion (ECN).
    ecn_reductions: u64,
    /// Chunks that the peer reported as dropped for a wrong checksum.
    reported_drops: u64,
    /// Expiries of T3-rtx.
    timeouts: u64,
    /// Times for which each reason (such as cwnd) kept the sender from sending more on this path.
    limited_by: LimitedBy,
    /// Time for which the sender was limited by head-of-line blocking because of a chunk last sent on this
    /// path.
    blocks: f64,
}

impl From<PathInfo> for Path {
    fn from(path: PathInfo) -> Self {
        Path {
            id: path.id.0,
            remote: path.remote,
            local: path.local,
            udp_port: path.udp_port,
            state: path.state.name(),
            silent: path.silent,
            primary: path.is_primary,
            cwnd: path.cwnd.get(),
            ssthresh: path.ssthresh.map(|bytes| bytes.get()),
            in_flight: path.flight.get(),
            srtt: path.srtt.map(|srtt| srtt.as_secs_f64()),
            rto: path.rto.as_secs_f64(),
            errors: path.errors,
            mtu: path.mtu.get(),
            data_packets: path.stats.data_packets,
            user_bytes: path.stats.user_bytes.get(),
            packet_bytes: path.stats.packet_bytes.get(),
            received_bytes: path.stats.received_bytes.get(),
            ack_bytes: path.stats.ack_bytes.get(),
            needless_retransmissions: path.stats.needless_retransmissions,
            undone_recoveries: path.stats.undone_recoveries,
            fast_retransmissions: path.stats.fast_retransmissions,
            timer_retransmissions: path.stats.timer_retransmissions,
            rescheduled: path.stats.rescheduled,
            copies: path.stats.copies,
            fast_recoveries: path.stats.fast_recoveries,
            ecn_reductions: path.stats.ecn_reductions,
            reported_drops: path.stats.reported_drops,
            timeouts: path.stats.timeouts,
            limited_by: LimitedBy(path.limits),
            blocks: path.blocks.as_secs_f64(),
        }
    }
}

#[pymethods]
impl Path {
    fn __repr__(&self) -> String {
        let Path { id, local, remote, udp_port, state, .. } = self;
        let udp = if *udp_port == 0 { String::new() } else { format!(" UDP port {udp_port}") };
        let primary = if self.primary { ", primary" } else { "" };
        format!("<Path {id} from {local} to {remote}{udp}: {state}{primary}>")
    }
}

/// Declares a class of counters whose `repr` shows all of them.
macro_rules! counters {
    ($(#[doc = $doc:literal])* $class:ident { $($(#[doc = $text:literal])* $name:ident: $of:ty,)+ }) => {
        $(#[doc = $doc])*
        #[pyclass(frozen, get_all, module = "anabranch.endpoint")]
        pub struct $class { $($(#[doc = $text])* $name: $of,)+ }

        #[pymethods]
        impl $class {
            fn __repr__(&self) -> String {
                let values = [$(format!("{}={}", stringify!($name), self.$name)),+];
                format!("{}({})", stringify!($class), values.join(", "))
            }
        }
    };
}

counters! {
    /// Counters of an association, and its state now.
    Stats {
        /// Packets sent.
        packets_sent: u64,
        /// Packets received.
        packets_received: u64,
        /// Packets received with user data.
        data_packets_received: u64,
        /// DATA chunks received, duplicates included.
        chunks_received: u64,
        /// User bytes received and kept.
        user_bytes_received: u64,
        /// SACK chunks sent.
        sacks_sent: u64,
        /// DATA chunks received more than once.
        duplicates: u64,
        /// DATA chunks dropped because the receive buffer was full.
        dropped: u64,
        /// DATA chunks acknowledged by a gap ack block and dropped later (reneged on).
        reneged: u64,
        /// Packets received with user data and the mark "congestion experienced" (ECN).
        marked_packets: u64,
        /// Bytes that wait for their first transmission, and sent ones that the peer may still renege on.
        buffered: u64,
        /// Messages that wait for their first transmission.
        unsent_messages: usize,
        /// Chunks sent and not cumulatively acknowledged.
        outstanding_chunks: usize,
        /// The peer's receive window as the sender knows it, in bytes.
        peer_rwnd: u64,
        /// Consecutive errors.
        errors: u32,
        /// Chunks discarded because no valid AUTH chunk authenticated them.
        unauthenticated: u64,
        /// Requests sent to reset or add streams, retransmissions included.
        reset_requests: u64,
        /// Resets performed, of streams of either direction or of the association.
        resets: u64,
        /// Times for which each reason (such as cwnd) kept the sender from sending
        /// more, since its first message.
        limited_by: LimitedBy,
    }
}

impl From<AssocStats> for Stats {
    fn from(stats: AssocStats) -> Self {
        Stats {
            packets_sent: stats.packets_sent,
            packets_received: stats.packets_received,
            data_packets_received: stats.received.data_packets,
            chunks_received: stats.received.chunks,
            user_bytes_received: stats.received.user_bytes.get(),
            sacks_sent: stats.received.sacks,
            duplicates: stats.received.duplicates,
            dropped: stats.received.dropped,
            reneged: stats.received.reneged,
            marked_packets: stats.received.marked_packets,
            buffered: stats.buffered.get(),
            unsent_messages: stats.unsent_messages,
            outstanding_chunks: stats.outstanding_chunks,
            peer_rwnd: stats.peer_rwnd.get(),
            errors: stats.errors,
            unauthenticated: stats.unauthenticated,
            reset_requests: stats.reset_requests,
            resets: stats.resets,
            limited_by: LimitedBy(stats.limits),
        }
    }
}

counters! {
    /// Counters of an endpoint, over all its associations, and the number of associations now.
    EndpointStats {
        /// Associations that have not ended.
        associations: usize,
        /// Packets given to ``handle``, including those that were discarded.
        packets_received: u64,
        /// Bytes of the packets received, without IP and UDP headers.
        bytes_received: u64,
        /// Packets that ``poll_transmit`` returned.
        packets_sent: u64,
        /// Bytes of the packets sent, without IP and UDP headers.
        bytes_sent: u64,
    }
}

/// Packets and bytes that passed through an endpoint.
#[derive(Clone, Copy, Default)]
pub struct Traffic {
    packets_received: u64,
    bytes_received: u64,
    packets_sent: u64,
    bytes_sent: u64,
}

impl Traffic {
    pub fn on_received(&mut self, bytes: usize) {
        self.packets_received += 1;
        self.bytes_received += bytes as u64;
    }

    pub fn on_sent(&mut self, bytes: usize) {
        self.packets_sent += 1;
        self.bytes_sent += bytes as u64;
    }

    pub fn stats(self, associations: usize) -> EndpointStats {
        let Traffic { packets_received, bytes_received, packets_sent, bytes_sent } = self;
        EndpointStats { associations, packets_received, bytes_received, packets_sent, bytes_sent }
    }
}

counters! {
    /// Packets that an endpoint discarded, whole or in part, by cause.
    Discarded {
        /// Packets shorter than the common header.
        too_short: u64,
        /// Packets with a wrong CRC32c.
        bad_checksum: u64,
        /// Packets for another SCTP port, or from port 0.
        wrong_port: u64,
        /// Packets from or to an address that is not unicast, or of a family in which the endpoint has no
        /// address.
        wrong_address: u64,
        /// Packets in UDP although the endpoint has no ``encapsulation``.
        encapsulated: u64,
        /// Packets from a peer's address and ports with another verification tag than the peer's packets
        /// have.
        wrong_tag: u64,
        /// Packets with the tag of an association, but from another peer, as the keys of the encryption show.
        wrong_channel: u64,
        /// Packets out of the blue: they belong to no association.
        out_of_the_blue: u64,
        /// Packets with a malformed chunk; the endpoint ignored it and the chunks after it.
        malformed: u64,
        /// INIT and COOKIE ECHO chunks that were answered with ABORT, or not answered.
        refused: u64,
        /// COOKIE ECHO chunks with a cookie that the endpoint did not sign, or from an address that the
        /// cookie does not name.
        bad_cookie: u64,
        /// COOKIE ECHO chunks with a cookie past its lifetime.
        stale_cookie: u64,
        /// Packets left unanswered because too many answers were waiting to be sent.
        unanswered: u64,
    }
}

impl From<sctp::Discarded> for Discarded {
    fn from(discarded: sctp::Discarded) -> Self {
        Discarded {
            too_short: discarded.too_short,
            bad_checksum: discarded.bad_checksum,
            wrong_port: discarded.wrong_port,
            wrong_address: discarded.wrong_address,
            encapsulated: discarded.encapsulated,
            wrong_tag: discarded.wrong_tag,
            wrong_channel: discarded.wrong_channel,
            out_of_the_blue: discarded.out_of_the_blue,
            malformed: discarded.malformed,
            refused: discarded.refused,
            bad_cookie: discarded.bad_cookie,
            stale_cookie: discarded.stale_cookie,
            unanswered: discarded.unanswered,
        }
    }
}

pub fn state_name(state: State) -> &'static str {
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
